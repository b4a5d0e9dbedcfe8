import HandCore
import HandSimulation
import HandStore
import HandSync
import HandTestSupport
import HandWire

/// Makes a store to damage: lists with everything that a store has for them: history, a partial history, snapshots, a
/// deck, people; and an empty one.
struct StoreMaker {
    let store: SQLiteStore
    private let authors: [Author]
    private var chaos: Chaos

    init(in folder: String, seed: UInt64, durability: Durability = .fsync) throws {
        let store = try SQLiteStore(folder: folder, durability: durability)
        self.store = store
        authors = try StoreContents.clients.map { try store.knownAuthor(for: $0, person: StoreContents.name($0)) }
        chaos = Chaos(seed: seed)
        let plain = Rules(maximumCount: 500)
        for (name, rules, edits) in [
            ("groceries", plain, 25), ("travel", plain, 25), ("poker", .fiveCards, 4), ("empty", plain, 0),
        ] {
            let hasDeck = name == "poker"
            let list = try store.create(name, rules: rules, logID: chaos.random.next(), deckSeed: hasDeck ? seed : nil)
            for edit in 0..<edits {
                let authority = try self.edit(list.number, by: edit, drawsCard: hasDeck)
                guard name == "travel" else { continue }
                try keep(edit, list.number, authority)
            }
        }
    }

    /// Saves snapshots, and forgets the start of the history.
    private func keep(_ edit: Int, _ list: ListNumber, _ authority: Authority) throws {
        switch edit {
        case 2, 15:
            try store.saveSnapshot(of: list, authority.hand, revision: authority.revision, deck: authority.deck)
        case 9: _ = try store.trim(list, keeping: Retention(commits: 5), now: 0)
        default: break
        }
    }

    /// Makes one edit, committed as a server does it.
    private mutating func edit(_ list: ListNumber, by turn: Int, drawsCard: Bool) throws -> Authority {
        var authority = Authority(try store.load(list), limits: Limits())
        let author = authors[turn % authors.count]
        let card = Item(id: .random(using: &chaos.random), content: .card(.faceDown))
        let delta =
            drawsCard
            ? Delta.inserting([card], at: 0, .after) : chaos.delta(on: authority.hand, size: 2)
        let submission = Submission(
            list: list, base: authority.revision, sequence: authority.lastSequence(of: author) + 1, delta: delta)
        _ = authority.submit(submission, author: author, now: 1_700_000_000_000 + UInt64(turn))
        let batch = authority.takeBatch()
        try store.append([batch])
        authority.wrote()
        return authority
    }
}
