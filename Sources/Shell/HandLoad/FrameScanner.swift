import HandWire

/// Goes through the frames of a stream and looks at no more of a commit than who made it: a test may bring each client
/// thousands of commits for each of its own.
struct FrameScanner {
    /// What there is to know of some commits that came together.
    struct Commits {
        var count = 0
        /// The revision of the last of them.
        var revision: Int
        /// Whether each was the next of the one before it.
        var isInOrder = true
        /// The last of them.
        fileprivate(set) var newest: CommitHeader?
        fileprivate var last: UnsafeRawBufferPointer?

        init(after revision: Int) {
            self.revision = revision
        }
    }

    private var unfinished: [UInt8] = []

    /// - Parameters:
    ///   - revision: of the last commit before these bytes.
    ///   - isWanted: whether a commit of this revision and author is looked at.
    ///   - body: gets each message that is no commit, and each commit that is wanted; it may set the revision anew.
    /// - Returns: the commits that were in these bytes.
    mutating func scan(
        _ bytes: UnsafeRawBufferPointer, after revision: Int, isWanted: (Int, UInt64) -> Bool,
        _ body: (UnsafeRawBufferPointer, inout Commits) throws(WireError) -> Void
    ) throws(WireError) -> Commits {
        var commits = Commits(after: revision)
        if unfinished.isEmpty {
            let used = try walk(bytes, &commits, isWanted, body)
            unfinished.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[used...]))
            return commits
        }
        unfinished.append(contentsOf: bytes)
        var joined: [UInt8] = []
        swap(&joined, &unfinished)
        // The standard library's closure is not typed in what it throws, so the outcome is carried out as a value.
        let outcome = joined.withUnsafeBytes { all in
            Result { () throws(WireError) in try walk(all, &commits, isWanted, body) }
        }
        joined.removeFirst(try outcome.get())
        swap(&joined, &unfinished)
        return commits
    }

    mutating func forget() {
        unfinished = []
    }

    /// Number of bytes of the whole frames at the front.
    private func walk(
        _ bytes: UnsafeRawBufferPointer, _ commits: inout Commits, _ isWanted: (Int, UInt64) -> Bool,
        _ body: (UnsafeRawBufferPointer, inout Commits) throws(WireError) -> Void
    ) throws(WireError) -> Int {
        var used = 0
        while true {
            var cursor = used
            guard let length = Self.varint(bytes, &cursor, bytes.count), bytes.count - cursor >= Int(length) else {
                if let last = commits.last { commits.newest = try CommitHeader(last) }
                return used
            }
            let end = cursor + Int(length)
            let frame = UnsafeRawBufferPointer(rebasing: bytes[cursor..<end])
            used = end
            guard bytes[cursor] == CommitHeader.type else {
                try body(frame, &commits)
                continue
            }
            cursor += 1
            guard Self.varint(bytes, &cursor, end) != nil, let revision = Self.varint(bytes, &cursor, end),
                let author = Self.varint(bytes, &cursor, end)
            else { throw .truncated(field: "commit") }
            commits.count += 1
            if Int(truncatingIfNeeded: revision) != commits.revision + 1 { commits.isInOrder = false }
            commits.revision = Int(truncatingIfNeeded: revision)
            commits.last = frame
            if isWanted(commits.revision, author) { try body(frame, &commits) }
        }
    }

    @inline(__always)
    private static func varint(_ bytes: UnsafeRawBufferPointer, _ cursor: inout Int, _ end: Int) -> UInt64? {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while cursor < end, shift < 64 {
            let next = bytes[cursor]
            cursor += 1
            value |= UInt64(next & 0x7F) << shift
            if next < 0x80 { return value }
            shift += 7
        }
        return nil
    }
}
