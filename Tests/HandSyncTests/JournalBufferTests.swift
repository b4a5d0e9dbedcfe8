import HandSync
import Testing

@Suite struct JournalBufferTests {
    /// A program that is started often and ended soon: each run adds a little, and none writes the list anew by itself.
    @Test func whatEarlierRunsKeptCounts() {
        var events = 0
        var checkpoints = 0
        for _ in 0..<100 {
            var buffer = JournalBuffer(waiting: 4, compaction: 20)
            buffer.found(events, of: "list")
            for _ in 0..<3 { buffer.add(.submitted, to: "list") }
            buffer.write { write in
                switch write {
                case .append(let new, _): events += new.count
                case .checkpoint:
                    events = 0
                    checkpoints += 1
                }
            }
            #expect(events <= 20)
        }
        #expect(checkpoints == 14)
    }

    private struct Full: Error {}

    /// A list that gets another name, and another one, is kept anew under the last, in the place of the first.
    @Test func aListIsMoved() {
        var buffer = JournalBuffer()
        var written: [String] = []
        func write() {
            buffer.write { write in
                switch write {
                case .append(_, let list): written.append(list)
                case .checkpoint(let list, let formerName): written.append("\(formerName ?? "-") > \(list)")
                }
            }
        }
        buffer.add(.submitted, to: "a")
        buffer.move("a", to: "b")
        buffer.add(.submitted, to: "b")
        buffer.move("b", to: "c")
        #expect(buffer.isUrgent)
        write()
        buffer.add(.submitted, to: "c")
        write()
        #expect(written == ["a > c", "c"])
    }

    /// A disk that is full for a while: what was to be written is there when there is room again, in order and once.
    @Test func whatCouldNotBeWrittenStays() throws {
        var buffer = JournalBuffer()
        var written: [String] = []
        func write(fullAt full: String?) throws {
            try buffer.write { write in
                let line =
                    switch write {
                    case .append(let events, let list): "\(list): \(events)"
                    case .checkpoint(let list, _): "\(list) as a whole"
                    }
                if let full, line.hasPrefix(full) { throw Full() }
                written.append(line)
            }
        }
        buffer.replace("a")
        for list in ["b", "c"] { buffer.add(.submitted, to: list) }
        for list in ["a", "b", "c"] {
            #expect(throws: Full.self) { try write(fullAt: list) }
            #expect(buffer.isUrgent)
            buffer.add(.caughtUp(lastSequence: 7), to: "c")
        }
        try write(fullAt: nil)
        let caughtUp = JournalEvent.caughtUp(lastSequence: 7)
        #expect(
            written == [
                "a as a whole", "b: \([JournalEvent.submitted])", "c: \([.submitted, caughtUp, caughtUp, caughtUp])",
            ])
        try write(fullAt: nil)
        #expect(written.count == 3 && !buffer.isUrgent)
    }
}
