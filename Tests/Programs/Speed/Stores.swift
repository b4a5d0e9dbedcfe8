import Foundation
import HandCore
import HandStore
import HandSync
import HandTestSupport
import HandWire

/// Stores that are made without a server, and served afterwards.
enum Stores {
    /// Makes a list of tasks with texts of 20 bytes.
    static func fill(_ folder: String, list: String, items: Int) throws {
        var writer = try ListWriter(folder, list)
        try writer.fill(items)
        try writer.close()
    }

    /// Makes a list of 1,000 items with a long history, and with snapshots where a server makes them.
    static func remember(_ folder: String, list: String, commits: Int) throws {
        var writer = try ListWriter(folder, list)
        try writer.fill(1_000)
        while writer.revision < commits { try writer.edit(min(2_000, commits - writer.revision)) }
        try writer.close()
    }

    /// Returns tasks with texts of 20 bytes.
    static func items(_ numbers: Range<Int>, _ random: inout SplitMix64) -> [Item] {
        numbers.map { number in
            let text = "item number " + String(100_000_000 + number).dropFirst()
            return Item(id: .random(using: &random), content: .task(text, done: false))
        }
    }
}

/// Commits to one list of a store as a server does, but without clients.
private struct ListWriter {
    private let store: SQLiteStore
    private let author: Author
    private var authority: Authority
    private var random = SplitMix64(seed: 5)
    private var sequence: SequenceNumber = 0
    private var snapshot = 0

    init(_ folder: String, _ name: String) throws {
        store = try SQLiteStore(folder: folder, durability: .os)
        author = try store.knownAuthor(for: .random(using: &random), person: "bench")
        let list = try store.create(
            name, rules: Rules(maximumCount: 2_000_000), logID: random.next(), deckSeed: nil)
        authority = Authority(try store.load(list.number), limits: Limits())
    }

    var revision: Int { authority.revision }

    mutating func fill(_ count: Int) throws {
        for start in stride(from: 0, to: count, by: 2_000) {
            let items = Stores.items(start..<min(count, start + 2_000), &random)
            submit(Delta.inserting(items, at: authority.count, .after))
            try write()
        }
    }

    /// Makes one commit for each edit, all in one transaction.
    mutating func edit(_ count: Int) throws {
        for step in 0..<count {
            submit(Delta.editing(at: random.next(below: authority.count), Change(done: step % 2 == 0)))
        }
        try write()
    }

    mutating func close() throws {
        try store.saveSnapshot(of: authority.list, authority.hand, revision: revision, deck: nil)
        try store.close()
        // Writes that the disk still has to do would slow down the next measurement.
        sync()
    }

    private mutating func submit(_ delta: Delta) {
        sequence = sequence.next
        let submission = Submission(list: authority.list, base: revision, sequence: sequence, delta: delta)
        guard case .numbered = authority.submit(submission, author: author, now: 1_767_225_600_000) else {
            preconditionFailure("an edit was not accepted")
        }
    }

    private mutating func write() throws {
        try store.append([authority.takeBatch()])
        authority.wrote()
        guard revision - snapshot >= max(Limits().snapshotCommits, authority.count / 4) else { return }
        snapshot = revision
        try store.saveSnapshot(of: authority.list, authority.hand, revision: revision, deck: nil)
    }
}
