import HandCore
import HandWire

/// Scans the frames of a stream. Of most commits, the scanner reads only the author: in a test a client may receive
/// thousands of commits for each commit of its own.
package struct FrameScanner {
    package struct Wanted {
        /// All commits of this author, as it is encoded.
        private let author: UInt64
        /// Commits with these bits zero in `revision + offset`.
        private let mask: Int
        private let offset: Int

        package init(author: AuthorID, oneOf stride: Int, offset: Int) {
            self.author = author.rawValue.wireForm
            // A division would take longer than the rest of the scan.
            mask = (1 << (Int.bitWidth - 1 - max(1, stride).leadingZeroBitCount)) - 1
            self.offset = offset
        }

        @inline(__always)
        fileprivate func takes(revision: Int, author: UInt64) -> Bool {
            author == self.author || (revision &+ offset) & mask == 0
        }
    }

    /// A summary of commits that arrived together.
    package struct Commits {
        package var count = 0
        package var revision: Int
        /// Whether the revisions are consecutive.
        package private(set) var isInOrder = true
        package private(set) var newest: CommitHeader?
        fileprivate var last: UnsafeRawBufferPointer?

        init(after revision: Int) {
            self.revision = revision
        }

        /// Compares the revision of the last commit with the count.
        fileprivate mutating func checkLast() throws(WireError) {
            guard let last else { return }
            let header = try CommitHeader(last)
            if header.revision != revision { isInOrder = false }
            revision = header.revision
            newest = header
            self.last = nil
        }
    }

    private var reader = FrameReader(limit: Int(Int32.max))

    package init() {}

    /// - Parameters:
    ///   - revision: the revision before these bytes.
    ///   - body: called for each wanted commit and for each other message; it may reset the revision.
    package mutating func scan(
        _ bytes: UnsafeRawBufferPointer, after revision: Int, _ wanted: Wanted,
        _ body: (UnsafeRawBufferPointer, inout Commits) throws(WireError) -> Void
    ) throws(WireError) -> Commits {
        var commits = Commits(after: revision)
        var frames = reader.frames(of: bytes)
        while let frame = try frames.next(limit: reader.limit) {
            guard frame[0] == DownMessage.Kind.commit.rawValue else {
                try commits.checkLast()
                try body(frame, &commits)
                continue
            }
            commits.count += 1
            commits.revision += 1
            commits.last = frame
            guard wanted.takes(revision: commits.revision, author: try Self.author(of: frame)) else { continue }
            try commits.checkLast()
            try body(frame, &commits)
        }
        try commits.checkLast()
        reader.keep(frames)
        return commits
    }

    /// Returns the author of a commit as it is encoded. A byte below 0x80 ends a number. After the type, the first such
    /// byte ends the list's number, the second the revision, the third the author.
    @inline(__always)
    private static func author(of frame: UnsafeRawBufferPointer) throws(WireError) -> UInt64 {
        if frame.count >= 9 {
            let word = UInt64(littleEndian: frame.loadUnaligned(fromByteOffset: 1, as: UInt64.self))
            var ends = ~word & 0x8080_8080_8080_8080
            ends &= ends &- 1
            let start = ends.trailingZeroBitCount &+ 1
            ends &= ends &- 1
            if ends != 0 {
                let end = ends.trailingZeroBitCount &+ 1
                return (word &<< (64 &- UInt64(end))) &>> (64 &- UInt64(end &- start))
            }
        }
        return try CommitHeader(frame).author.rawValue.wireForm
    }
}

extension UInt64 {
    /// The encoding on the wire, with the first byte lowest; only the first eight bytes of the largest numbers.
    fileprivate var wireForm: UInt64 {
        var (form, rest) = (UInt64(0), self)
        for shift in stride(from: UInt64(0), to: 64, by: 8) {
            form |= (rest & 0x7F | (rest > 0x7F ? 0x80 : 0)) << shift
            rest >>= 7
            if rest == 0 { break }
        }
        return form
    }
}
