import HandCore
import HandWire

/// The contents of a store that keeps everything in memory, as a value.
package struct StoreContents {
    package struct List {
        package internal(set) var stored: StoredList
        let deckSeed: UInt64?
        let owner: String?
        /// The frames of all stored commits; the first is of revision `stored.floor` + 1.
        private(set) var frames: [FrameRun] = []
        /// The total size of the frames in bytes.
        private(set) var frameBytes = 0
        /// The memory that contains the newest frames.
        private var segment: Segment?
        /// The last sequences, by author.
        package internal(set) var sequences: [AuthorID: SequenceMark] = [:]
        /// The snapshots, the oldest first.
        private(set) var snapshots: [Snapshot] = []

        init(_ stored: StoredList, deckSeed: UInt64?, owner: String?) {
            self.stored = stored
            self.deckSeed = deckSeed
            self.owner = owner
        }
    }

    struct Snapshot {
        let revision: Int
        let hand: Hand
        let deck: Deck?
    }

    private struct Name: Hashable {
        let client: ClientID
        let person: String
    }

    /// All lists, including deleted ones that were not given up.
    package internal(set) var lists: [ListNumber: List] = [:]
    var names: [String: ListNumber] = [:]
    /// The deletions that can be undone, the oldest first.
    package internal(set) var deletions: [Deletion] = []
    var nextDeletion: UInt64 = 1
    /// The milliseconds that servers have seen pass, while there were deletions.
    var passed: UInt64 = 0
    /// The remaining contents of lists that were given up.
    var leaving: [List] = []
    private var authors: [Name: Author] = [:]
    /// The number of each client's first author.
    private var clients: [ClientID: AuthorID] = [:]
    /// The client and the name of each author.
    private var people: [AuthorID: (client: AuthorID, name: String)] = [:]
    private var nextList: ListNumber = 1

    package init() {}

    /// The lists that are not deleted, by their numbers.
    package var present: [List] { names.values.sorted().compactMap { lists[$0] } }

    package func list(named name: String) -> List? { names[name].flatMap { lists[$0] } }

    package func list(_ number: ListNumber) throws(StoreError) -> List {
        guard let list = lists[number] else { throw .noSuchList("number \(number)") }
        return list
    }

    // MARK: Reading

    package func frames(of list: ListNumber, after revision: Int, about bytes: Int) -> [StoredFrame] {
        lists[list]?.frames(after: revision, about: bytes) ?? []
    }

    package func load(_ number: ListNumber) throws -> Authority.Start {
        let list = try list(number)
        let replay = try list.replay(through: list.stored.revision)
        return Authority.Start(
            list: number, logID: list.stored.logID, hand: replay.hand, revision: replay.revision, deck: replay.deck,
            sequences: try SequenceMark.ofClients(list.sequences.values) { person($0)?.client },
            snapshotRevision: replay.start)
    }

    /// Returns the newest state of a list, or nil if it is deleted.
    package func head(of number: ListNumber) throws(StoreError) -> StoredHead? {
        guard let list = lists[number], names[list.stored.name] == number else { return nil }
        let digest = try list.frames(after: list.stored.revision - 1, about: 1).first?.commit().digest
        return StoredHead(
            list: number, name: list.stored.name, logID: list.stored.logID, revision: list.stored.revision,
            digest: digest ?? list.snapshots.last?.hand.digest ?? Hand().digest)
    }

    package func state(of number: ListNumber, at revision: Int) throws -> Hand {
        let list = try list(number)
        guard (list.stored.floor...list.stored.revision).contains(revision) else {
            throw StoreError.noSuchRevision(revision, oldest: list.stored.floor, newest: list.stored.revision)
        }
        return try list.replay(through: revision).hand
    }

    package func lists(after name: String, limit: Int) -> [StoredList] {
        names.keys.filter { $0 > name }.sorted().prefix(limit).compactMap { list(named: $0)?.stored }
    }

    package func listCount(of owner: String?) -> Int {
        owner.map { owner in lists.values.count { $0.owner == owner } } ?? lists.count
    }

    /// The size of all stored commits in bytes. O(lists).
    package var size: Int { (lists.values + leaving).reduce(0) { $0 + $1.frameBytes } }

    // MARK: Changing

    package mutating func create(
        _ name: String, rules: Rules, logID: UInt64, deckSeed: UInt64?, owner: String?
    ) throws(StoreError) -> StoredList {
        guard names[name] == nil else { throw .listExists(name) }
        let stored = StoredList(number: nextList, name: name, logID: logID, rules: rules, revision: 0, count: 0)
        lists[nextList] = List(stored, deckSeed: deckSeed, owner: owner)
        names[name] = nextList
        nextList = nextList.next
        return stored
    }

    /// Appends all batches or none. Like a database, it does not take an author twice.
    @discardableResult
    package mutating func append(_ batches: [CommitBatch], by newcomers: [Newcomer]) throws(StoreError) -> [Appended] {
        for newcomer in newcomers where people[newcomer.author.number] != nil {
            throw .failed("author \(newcomer.author.number) is in the store already")
        }
        for batch in batches where !batch.entries.isEmpty {
            guard let index = lists.index(forKey: batch.list) else {
                throw .noSuchList("number \(batch.list)")
            }
            let found = lists.values[index].stored.revision
            guard found == batch.expected else {
                throw .conflict(list: batch.list, expected: batch.expected, found: found)
            }
        }
        for batch in batches {
            // The list is changed in place, because it has many fields.
            if let index = lists.index(forKey: batch.list) { lists.values[index].append(batch) }
        }
        for newcomer in newcomers { keep(newcomer) }
        return Appended.allTaken(batches.count)
    }

    /// Sets the commits of the existing lists back to a former state, like a standby that has not received the last
    /// commits.
    package mutating func goBack(to former: StoreContents) {
        for (number, list) in lists {
            guard var before = former.lists[number] else { continue }
            before.stored.name = list.stored.name
            lists[number] = before
        }
    }

    private mutating func keep(_ newcomer: Newcomer) {
        let (author, client) = (newcomer.author, newcomer.client)
        people[author.number] = (author.client, newcomer.person)
        clients[client] = author.client
        authors[Name(client: client, person: newcomer.person)] = author
    }

    /// - Parameter fresh: returns a number that no author has had before.
    package func author(for client: ClientID, person: String, fresh: () -> AuthorID) -> (author: Author, isNew: Bool) {
        if let known = authors[Name(client: client, person: person)] { return (known, false) }
        let number = fresh()
        return (Author(number: number, client: clients[client] ?? number), true)
    }

    /// Returns the number of a client, which is the number of its first author.
    package func number(of client: ClientID) -> AuthorID? { clients[client] }

    package func person(_ author: AuthorID) -> (client: AuthorID, name: String)? { people[author] }

    package func people(_ authors: [AuthorID]) -> [DownMessage.Person] {
        authors.compactMap { author in person(author).map { DownMessage.Person(author: author, name: $0.name) } }
    }

    package func clients(of authors: [AuthorID]) -> [AuthorID: AuthorID] {
        authors.reduce(into: [:]) { $0[$1] = person($1)?.client }
    }

    package mutating func saveSnapshot(of list: ListNumber, _ hand: Hand, revision: Int, deck: Deck?) {
        lists[list]?.keep(StoreContents.Snapshot(revision: revision, hand: hand, deck: deck))
    }

    /// - Parameter step: the maximum number of commits forgotten at once.
    package mutating func trim(
        _ number: ListNumber, keeping retention: Retention, now: UInt64, step: Int
    ) throws -> Trimmed {
        let list = try list(number)
        let cut = try retention.cut(floor: list.stored.floor, revision: list.stored.revision, now: now) {
            try list.frames(after: $0 - 1, about: 1)[0].commit().time
        }
        let floor = cut - list.stored.floor > step ? list.stored.floor + step : cut
        if floor > list.stored.floor {
            let start = try list.replay(through: floor)
            lists[number]?.forget(start)
        }
        return Trimmed(floor: floor, hasMore: floor < cut)
    }
}

extension StoreContents.List {
    /// Appends a batch. Copies the frames, so that they do not depend on the server's memory.
    fileprivate mutating func append(_ batch: CommitBatch) {
        guard let last = batch.entries.last else { return }
        // By index, so that no entry is copied.
        for index in batch.entries.indices {
            let frame = copied(batch.entries[index].frame.bytes)
            frames.append(frame)
            frameBytes += frame.range.count
            let mark = batch.entries[index].mark
            sequences[mark.author] = mark
        }
        (stored.revision, stored.count) = (last.mark.revision, last.count)
    }

    private mutating func copied(_ bytes: UnsafeRawBufferPointer) -> FrameRun {
        if let segment, segment.hasRoom(for: bytes.count) { return FrameRun(copying: bytes, to: segment) }
        let next = Segment(capacity: max(Segment.standardCapacity, bytes.count))
        segment = next
        return FrameRun(copying: bytes, to: next)
    }

    package func frames(after revision: Int, about bytes: Int) -> [StoredFrame] {
        var found: [StoredFrame] = []
        var total = 0
        let floor = stored.floor
        var next = max(revision, floor) + 1
        while next <= stored.revision, total < bytes {
            let frame = frames[next - floor - 1].bytes
            found.append(StoredFrame(revision: next, bytes: [UInt8](frame)))
            total += frame.count
            next += 1
        }
        return found
    }

    /// Returns the list at `last`, replayed from the newest snapshot before it.
    func replay(through last: Int) throws -> Replay {
        let snapshot = snapshots.last { $0.revision <= last }
        var replay = Replay(
            list: stored.number, from: snapshot?.hand ?? Hand(rules: stored.rules), revision: snapshot?.revision ?? 0,
            deck: snapshot.map(\.deck) ?? deckSeed.map(Deck.init(seed:)))
        try replay.run(through: last) { frames(after: $0, about: Replay.bytesAtOnce) }
        return replay
    }

    fileprivate mutating func keep(_ snapshot: StoreContents.Snapshot) {
        guard snapshot.revision >= stored.floor else { return }
        snapshots.append(snapshot)
        // Remove the snapshot in the middle, so that the kept snapshots become sparser towards the past.
        if snapshots.count > Self.maxSnapshots { snapshots.remove(at: Self.maxSnapshots / 2) }
    }

    /// A snapshot shares nodes with the list, so this many are cheap.
    private static let maxSnapshots = 64

    /// Forgets the commits up to the revision of `start`, and keeps the list of `start` as a snapshot instead.
    fileprivate mutating func forget(_ start: Replay) {
        let floor = start.revision
        snapshots.removeAll { $0.revision <= floor }
        snapshots.insert(StoreContents.Snapshot(revision: floor, hand: start.hand, deck: start.deck), at: 0)
        let forgotten = floor - stored.floor
        frameBytes -= frames.prefix(forgotten).reduce(0) { $0 + $1.bytes.count }
        frames.removeFirst(forgotten)
        stored.floor = floor
    }

    /// Removes commits of a list that was given up, the newest first. Returns whether any are left.
    mutating func remove(_ count: Int) -> Bool {
        let last = frames.suffix(count)
        frameBytes -= last.reduce(0) { $0 + $1.bytes.count }
        frames.removeLast(last.count)
        return !frames.isEmpty
    }
}
