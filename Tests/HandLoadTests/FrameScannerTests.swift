import HandCore
import HandLoad
import HandSimulation
import HandTestSupport
import HandWire
import Testing

@Suite struct FrameScannerTests {
    /// However the stream is cut, the scanner finds the same as decoding every message.
    @Test func theScannerEqualsDecoding() throws {
        var chaos = Chaos(seed: testSeed(821))
        for _ in 0..<200 {
            let first = [0, 126, 16_382, (1 << 35) - 3, (1 << 53) - 60][chaos.random.next(below: 5)]
            let authors: [AuthorID] = [1, 127, 128, AuthorID(1 << 40), AuthorID(1 << 53 - 1)]
            let me = authors[chaos.random.next(below: 5)]
            let stride = 1 + chaos.random.next(below: 20)
            var stream: [UInt8] = []
            var expected: [Seen] = []
            var revision = first
            for _ in 0..<chaos.random.next(below: 50) {
                if chaos.random.next(below: 5) == 0 {
                    stream += DownMessage.pong(7).frame
                    expected.append(.other)
                    continue
                }
                revision += 1
                let commit = Commit(
                    revision: revision, author: authors[chaos.random.next(below: 5)], sequence: 1, base: revision - 1,
                    time: 5, count: 3, digest: 9, delta: Delta.deleting(0..<1))
                stream +=
                    DownMessage.commit(list: ListNumber(chaos.random.next(below: 2) == 0 ? 1 : 1 << 53 - 1), commit)
                    .frame
                if commit.author == me || revision & (powerOfTwo(stride) - 1) == 0 {
                    expected.append(.commit(revision))
                }
            }
            var scanner = FrameScanner()
            let wanted = FrameScanner.Wanted(author: me, oneOf: stride, offset: 0)
            var found: [Seen] = []
            var (reached, isInOrder) = (first, true)
            while !stream.isEmpty {
                let piece = Array(stream.prefix(1 + chaos.random.next(below: 120)))
                stream.removeFirst(piece.count)
                let commits = try piece.withUnsafeBytes { bytes in
                    try scanner.scan(bytes, after: reached, wanted) { (body, _) throws(WireError) in
                        found.append(
                            body[0] == DownMessage.Kind.commit.rawValue
                                ? .commit(try CommitHeader(body).revision) : .other)
                    }
                }
                reached = commits.revision
                isInOrder = isInOrder && commits.isInOrder
            }
            #expect(reached == revision)
            #expect(isInOrder)
            // It may examine some more, but not fewer: eight bytes do not hold the largest authors.
            #expect(found == expected)
        }
    }

    @Test func aMissingRevisionIsNoticed() throws {
        var scanner = FrameScanner()
        var stream: [UInt8] = []
        for revision in [1, 2, 4, 5] {
            let commit = Commit(
                revision: revision, author: 1, sequence: 1, base: 0, time: 5, count: 3, digest: 9, delta: .identity)
            stream += DownMessage.commit(list: 1, commit).frame
        }
        let commits = try stream.withUnsafeBytes { bytes in
            try scanner.scan(bytes, after: 0, .init(author: 9, oneOf: 64, offset: 1)) { (_, _) throws(WireError) in }
        }
        #expect(!commits.isInOrder)
        #expect(commits.revision == 5)
    }

    private enum Seen: Equatable {
        case commit(Int)
        case other
    }

    private func powerOfTwo(_ stride: Int) -> Int { 1 << (Int.bitWidth - 1 - stride.leadingZeroBitCount) }
}
