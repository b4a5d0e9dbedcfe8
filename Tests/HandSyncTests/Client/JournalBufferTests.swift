import HandCore
import HandSync
import Testing

@Suite struct JournalBufferTests {
    private func lines(_ writes: [JournalWrite]) -> [String] {
        writes.map { write in
            switch write {
            case .append(let events, let list): "\(list): \(events)"
            case .checkpoint(_, let list, let formerName): "\(formerName ?? "-") > \(list)"
            default: "\(write)"
            }
        }
    }

    /// A program that runs often and briefly: each run adds a little, and none rewrites the list by itself.
    @Test(arguments: [false, true]) func recordsOfEarlierRunsCount(isClosed: Bool) {
        var events = 0
        var checkpoints = 0
        for _ in 0..<100 {
            var buffer = JournalBuffer(waiting: 4, compaction: 20)
            buffer.found(events, of: "list")
            for _ in 0..<3 { buffer.add(.submitted, to: "list") }
            if isClosed { buffer.close("list", Replica()) }
            for write in buffer.take({ _ in Replica() }) ?? [] {
                if case .append(let new, _) = write { events += new.count }
                if case .checkpoint = write {
                    events = 0
                    checkpoints += 1
                }
            }
            #expect(events <= 20)
        }
        #expect(checkpoints == 14)
    }

    /// A program that runs for long rewrites its list from time to time.
    @Test func recordsOfOneRunCount() {
        var buffer = JournalBuffer(waiting: 4, compaction: 20)
        var events = 0
        var checkpoints: [Int] = []
        for round in 0..<30 {
            for _ in 0..<3 { buffer.add(.submitted, to: "list") }
            buffer.flush()
            let writes = buffer.take { _ in Replica() } ?? []
            for write in writes {
                if case .append(let new, _) = write { events += new.count }
                if case .checkpoint = write {
                    events = 0
                    checkpoints.append(round)
                }
            }
            buffer.wrote(writes.count)
            #expect(events <= 20)
        }
        #expect(checkpoints == [6, 13, 20, 27])
    }

    /// A list that is renamed twice is written under its last name, in place of the first.
    @Test func aRenamedListIsWrittenUnderItsLastName() {
        var buffer = JournalBuffer()
        func write() -> [String] {
            let writes = buffer.take { _ in Replica() } ?? []
            buffer.wrote(writes.count)
            return lines(writes)
        }
        buffer.add(.submitted, to: "a")
        buffer.move("a", to: "b")
        buffer.add(.submitted, to: "b")
        buffer.move("b", to: "c")
        #expect(!buffer.isKept)
        #expect(write() == ["a > c"])
        buffer.add(.submitted, to: "c")
        #expect(write() == ["c: \([JournalEvent.submitted])"])
    }

    /// Edits during a write wait for the next write, including those from a list that is closed.
    @Test func editsDuringAWriteWaitForTheNext() {
        var buffer = JournalBuffer()
        buffer.add(.submitted, to: "a")
        let first = buffer.mark
        #expect(buffer.take { _ in Replica() }?.count == 1)
        buffer.add(.caughtUp(lastSequence: 7), to: "a")
        buffer.close("a", Replica())
        #expect(buffer.take { _ in nil } == nil && buffer.keptMark < first)
        buffer.wrote(1)
        #expect(buffer.keptMark == first && !buffer.isKept)
        #expect(buffer.take { _ in nil }.map(lines) == ["a: \([JournalEvent.caughtUp(lastSequence: 7)])"])
        buffer.wrote(1)
        #expect(buffer.isKept && buffer.take { _ in nil } == nil)
    }

    /// A disk that is full for a while: pending writes are written when there is room again, in order and once.
    @Test func failedWritesStayPending() throws {
        var buffer = JournalBuffer()
        var written: [String] = []
        /// Writes as much as there is room for.
        func write(_ room: Int) {
            let writes = buffer.take { _ in Replica() } ?? []
            written += lines(Array(writes.prefix(room)))
            buffer.wrote(min(room, writes.count))
        }
        buffer.replace("a")
        for list in ["b", "c"] { buffer.add(.submitted, to: list) }
        for room in [0, 1, 1] {
            write(room)
            #expect(!buffer.isKept && buffer.hasFailed && buffer.take { _ in Replica() } == nil)
            buffer.add(.caughtUp(lastSequence: 7), to: "c")
        }
        let caughtUp = JournalEvent.caughtUp(lastSequence: 7)
        write(.max)
        #expect(
            written == [
                "- > a", "b: \([JournalEvent.submitted])", "c: \([JournalEvent.submitted])", "c: \([caughtUp])",
                "c: \([caughtUp])", "c: \([caughtUp])",
            ])
        #expect(buffer.isKept && buffer.take { _ in Replica() } == nil)
    }
}
