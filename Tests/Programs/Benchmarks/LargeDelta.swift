import HandCore
import HandSync
import HandWire

/// The server's cost, step by step, of one delta that touches many items of a list.
struct LargeDelta {
    private static let items = 1_000_000
    private static let list = Edits.list(items)

    /// The kinds of deltas, each for a number of items that are next to each other or far apart.
    static let sorts: [(name: String, make: @Sendable (Int) -> Delta)] = [
        (
            "edited, one by one",
            {
                spread($0) { _ in
                    .edit(Change(text: TextChange(replacing: "", at: 0, with: "another text "), done: true))
                }
            }
        ),
        ("deleted, one by one", { spread($0) { _ in .delete(1) } }),
        ("deleted as a block", { Delta.deleting(0..<$0) }),
        ("inserted as a block", { count in Delta.inserting(new(0..<count), at: 7, .after) }),
        ("inserted, one by one", { spread($0) { .insert(new($0..<$0 + 1), .after) } }),
        ("moved as a block", { Delta.moving(0..<$0, to: $0 + (items - $0) / 2, .after) }),
        ("moved, one by one", reversed),
    ]

    private static func new(_ range: Range<Int>) -> [Item] {
        range.map { Item(id: ItemID(rawValue: 1 << 60 + UInt64($0)), content: .task("inserted \($0)", done: false)) }
    }

    private static func spread(_ count: Int, _ component: (Int) -> Delta.Component) -> Delta {
        let gap = items / count - 1
        return delta((0..<count).flatMap { [.keep(gap), component($0)] })
    }

    /// Returns a delta that gathers items from all over the list in its middle, in reverse order.
    @Sendable private static func reversed(_ count: Int) -> Delta {
        let gap = items / count - 1
        let picks: [Delta.Component] = (0..<count).flatMap { _ in [.keep(gap), .pick(1)] }
        return delta(picks + (0..<count).reversed().map { .drop($0..<$0 + 1, .after, nil) })
    }

    private static func delta(_ components: [Delta.Component]) -> Delta {
        guard let delta = try? Delta(components) else { preconditionFailure("the benchmark's edits are well formed") }
        return delta
    }

    /// Returns the milliseconds to read a submission from its frame, to apply it and to free it, and the work that is
    /// counted for it.
    static func cost(_ delta: Delta) -> (read: Double, make: Double, free: Double, work: Int) {
        let frame = UpMessage.submit(Submission(list: 1, base: 0, sequence: 1, delta: delta)).frame
        var authority = Authority(
            Authority.Start(list: 1, logID: 1, hand: Edits.list(items), revision: 0, deck: nil, sequences: [:]),
            limits: Limits())
        var submission: Submission?
        let read = Stopwatch.nanoseconds {
            var reader = FrameReader(limit: frame.count)
            frame.withUnsafeBytes { bytes in
                try? reader.read(bytes) { (body) throws(WireError) -> Bool in
                    if case .submit(let found) = try UpMessage(body) { submission = found }
                    return true
                }
            }
        }
        guard let found = submission else { preconditionFailure("the benchmark's frames can be read") }
        submission = nil
        var isMade = false
        let make = Stopwatch.nanoseconds {
            if case .numbered = authority.submit(found, author: Author(number: 1, client: 1), now: 0) {
                isMade = true
            }
        }
        precondition(isMade, "the benchmark's edits fit")
        _ = consume found
        let free = Stopwatch.nanoseconds {
            _ = authority.takeBatch()
            authority.wrote()
        }
        return (read / 1e6, make / 1e6, free / 1e6, authority.work)
    }
}
