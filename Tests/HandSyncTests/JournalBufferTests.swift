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
}
