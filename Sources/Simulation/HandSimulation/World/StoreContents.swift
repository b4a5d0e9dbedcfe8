import HandCore
import HandSync
import HandWire

/// What a simulated store holds, as a value.
struct StoreContents {
    struct List {
        var stored: StoredList
        let deckSeed: UInt64?
        /// The frames of all commits that are kept; the first is of revision `stored.floor` + 1.
        var frames: [[UInt8]] = []
        var sequences: [UInt64: SequenceMark] = [:]
        var snapshots: [Snapshot] = []
    }

    struct Snapshot {
        let revision: Int
        let hand: Hand
        let deck: Deck?
    }

    struct Author {
        let number: UInt64
        var person: String
    }

    var lists: [UInt64: List] = [:]
    var authors: [ClientID: Author] = [:]
    private var nextList: UInt64 = 1

    func list(named name: String) -> List? { lists.values.first { $0.stored.name == name } }

    mutating func create(_ name: String, rules: Rules, logID: UInt64, deckSeed: UInt64?) throws -> StoredList {
        guard list(named: name) == nil else { throw StoreError.listExists(name) }
        let stored = StoredList(number: nextList, name: name, logID: logID, rules: rules, revision: 0, count: 0)
        lists[nextList] = List(stored: stored, deckSeed: deckSeed)
        nextList += 1
        return stored
    }

    mutating func append(_ batch: CommitBatch) throws {
        guard let last = batch.commits.last else { return }
        guard var list = lists[batch.list] else { throw StoreError.noSuchList("number \(batch.list)") }
        guard list.stored.revision == batch.expected else {
            throw StoreError.conflict(list: batch.list, expected: batch.expected, found: list.stored.revision)
        }
        for commit in batch.commits {
            list.frames.append(DownMessage.commit(list: batch.list, commit).frame)
            list.sequences[commit.author] = SequenceMark(sequence: commit.sequence, revision: commit.revision)
        }
        list.stored = StoredList(
            number: batch.list, name: list.stored.name, logID: list.stored.logID, rules: list.stored.rules,
            revision: last.revision, count: last.count, floor: list.stored.floor)
        lists[batch.list] = list
    }

    mutating func author(for client: ClientID, person: String) -> UInt64 {
        let author = Author(number: authors[client]?.number ?? UInt64(authors.count + 1), person: person)
        authors[client] = author
        return author.number
    }
}

extension StoreContents.List {
    func frames(after revision: Int, about bytes: Int) -> [StoredFrame] {
        var found: [StoredFrame] = []
        var total = 0
        let floor = stored.floor
        var next = max(revision, floor) + 1
        while next <= stored.revision, total < bytes {
            found.append(StoredFrame(revision: next, bytes: frames[next - floor - 1]))
            total += found[found.count - 1].bytes.count
            next += 1
        }
        return found
    }

    /// The list at `last`, from the newest snapshot before it.
    func replay(through last: Int) throws -> Replay {
        let snapshot = snapshots.last { $0.revision <= last }
        var replay = Replay(
            list: stored.number, from: snapshot?.hand ?? Hand(rules: stored.rules), revision: snapshot?.revision ?? 0,
            deck: snapshot.map(\.deck) ?? deckSeed.map(Deck.init(seed:)))
        while replay.revision < last {
            let frames = frames(after: replay.revision, about: .max).prefix(last - replay.revision)
            for frame in frames { try replay.apply(try frame.commit()) }
        }
        return replay
    }

    /// Forgets the commits through `floor`, and keeps the list as it was then instead.
    mutating func forget(through floor: Int) throws {
        let replay = try replay(through: floor)
        snapshots.removeAll { $0.revision <= floor }
        snapshots.insert(
            StoreContents.Snapshot(revision: floor, hand: replay.hand, deck: replay.deck), at: 0)
        frames.removeFirst(floor - stored.floor)
        stored = StoredList(
            number: stored.number, name: stored.name, logID: stored.logID, rules: stored.rules,
            revision: stored.revision, count: stored.count, floor: floor)
    }
}
