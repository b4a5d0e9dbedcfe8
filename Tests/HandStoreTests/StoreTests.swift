import Disk
import Foundation
import HandCore
import HandSimulation
import HandStore
import HandSync
import HandTestSupport
import HandWire
import PostgresServer
import Testing

/// Returns a history of commits, made by an authority as a server makes it.
func history(on start: Authority.Start, _ count: Int, author: Author, chaos: inout Chaos) -> [Commit] {
    var authority = Authority(start, limits: Limits())
    var commits: [Commit] = []
    while commits.count < count {
        let delta = chaos.delta(on: authority.hand, size: 2)
        let submission = Submission(
            list: start.list, base: authority.revision, sequence: authority.lastSequence(of: author) + 1, delta: delta)
        guard case .numbered = authority.submit(submission, author: author, now: 1), let commit = authority.newest
        else { continue }
        _ = authority.takeBatch()
        authority.wrote()
        commits.append(commit)
    }
    return commits
}

extension CommitStore {
    /// Appends commits, each in a transaction of its own.
    func append(oneByOne commits: some Sequence<Commit>, to list: ListNumber) throws {
        for commit in commits {
            try append([CommitBatch(list: list, expected: commit.revision - 1, commits: [commit])])
        }
    }
}

/// Every implementation of a store, with every durability.
enum StoreKind: CaseIterable {
    case fsync, os, memory, simulated, postgres

    /// The kinds that this machine can run.
    static let allCases: [StoreKind] = ownedByOne + (PostgresServer.isThere ? [.postgres] : [])
    /// The kinds that a single server owns.
    static let ownedByOne: [StoreKind] = inAFolder + [.memory, .simulated]
    /// The kinds whose lists are in a folder, and are there again when it is opened anew.
    static let inAFolder: [StoreKind] = [.fsync, .os]

    func store(in folder: TemporaryFolder) throws -> any CommitStore {
        switch self {
        case .fsync: try SQLiteStore(folder: folder.path, durability: .fsync)
        case .os: try SQLiteStore(folder: folder.path, durability: .os)
        case .memory: MemoryStore()
        case .simulated: SimulatedStore()
        case .postgres: try PostgresStore(PostgresServer.shared.get().address(), schema: folder.schema)
        }
    }
}

extension TemporaryFolder {
    /// A database schema for the owner of this folder.
    var schema: String { "t" + path.suffix(8).lowercased() }
}

@Suite struct StoreTests {
    // MARK: Requirements for all stores

    /// The number of lists of one owner does not include others'.
    @Test(arguments: StoreKind.allCases)
    func listsAreCountedByTheirOwners(kind: StoreKind) throws {
        let folder = try TemporaryFolder()
        let store = try kind.store(in: folder)
        for (name, owner) in [("a", "token ada"), ("b", nil), ("c", "token ada"), ("d", "token ben")] {
            _ = try store.create(name, rules: Rules(), logID: 7, deckSeed: nil, owner: owner)
        }
        #expect(try store.listCount(of: "token ada") == 2 && store.listCount(of: "token ben") == 1)
        #expect(try store.listCount(of: nil) == 4 && store.listCount(of: "token eve") == 0)
        try store.close()
    }

    @Test(arguments: StoreKind.allCases)
    func appendedCommitsReadBack(kind: StoreKind) throws {
        let folder = try TemporaryFolder()
        let store = try kind.store(in: folder)
        var chaos = Chaos(seed: 1)
        let list = try store.create("groceries", rules: Rules(maximumCount: 500), logID: .max, deckSeed: nil)
        let author = try store.knownAuthor(for: ClientID(high: 1, low: 1), person: "ada")
        let commits = history(on: try store.load(list.number), 30, author: author, chaos: &chaos)
        try store.append([CommitBatch(list: list.number, expected: 0, commits: Array(commits[..<20]))])
        try store.append([CommitBatch(list: list.number, expected: 20, commits: Array(commits[20...]))])
        let frames = try store.frames(of: list.number, after: 10, about: .max)
        #expect(try frames.map { try $0.commit() } == Array(commits[10...]))
        #expect(try store.frames(of: list.number, after: 10, about: 1).count == 1)
        let loaded = try store.load(list.number)
        #expect(loaded.revision == 30 && loaded.hand.digest == commits[29].digest && loaded.logID == .max)
        #expect(loaded.sequences == [author.client: SequenceMark(author: author.number, sequence: 30, revision: 30)])
        #expect(loaded.hand.rules == Rules(maximumCount: 500))
        for revision in [0, 1, 15, 30] {
            let digest = revision == 0 ? 0 : commits[revision - 1].digest
            #expect(try store.state(of: list.number, at: revision).digest == digest)
        }
        #expect(throws: StoreError.noSuchRevision(31, oldest: 0, newest: 30)) {
            try store.state(of: list.number, at: 31)
        }
        try store.saveSnapshot(of: list.number, loaded.hand, revision: 30, deck: nil)
        #expect(try store.load(list.number).hand == loaded.hand)
        #expect(try store.state(of: list.number, at: 15).digest == commits[14].digest)
    }

    @Test(arguments: StoreKind.ownedByOne)
    func appendingIsCompareAndSetOverManyLists(kind: StoreKind) throws {
        let folder = try TemporaryFolder()
        let store = try kind.store(in: folder)
        var chaos = Chaos(seed: 2)
        let first = try store.create("a", rules: Rules(), logID: 1, deckSeed: nil)
        let second = try store.create("b", rules: Rules(), logID: 2, deckSeed: nil)
        let author = try store.knownAuthor(for: ClientID(high: 1, low: 1), person: "ada")
        let one = history(on: try store.load(first.number), 2, author: author, chaos: &chaos)
        let two = history(on: try store.load(second.number), 2, author: author, chaos: &chaos)
        #expect(throws: StoreError.conflict(list: second.number, expected: 1, found: 0)) {
            try store.append([
                CommitBatch(list: first.number, expected: 0, commits: one),
                CommitBatch(list: second.number, expected: 1, commits: two),
            ])
        }
        #expect(try store.load(first.number).revision == 0, "all or nothing")
        try store.append([
            CommitBatch(list: first.number, expected: 0, commits: one),
            CommitBatch(list: second.number, expected: 0, commits: two),
        ])
        #expect(try store.lists(after: "", limit: 9).map(\.revision) == [2, 2])
        #expect(throws: StoreError.noSuchList("number 99")) {
            try store.append([CommitBatch(list: 99, expected: 0, commits: one)])
        }
    }

    /// A store may know from the write before where a list is. It must not know that after any other write, or after a
    /// refusal.
    @Test(arguments: StoreKind.ownedByOne)
    func appendingAloneIsCompareAndSet(kind: StoreKind) throws {
        let folder = try TemporaryFolder()
        let store = try kind.store(in: folder)
        var chaos = Chaos(seed: 3)
        let lists = try ["a", "b"].map { try store.create($0, rules: Rules(), logID: 1, deckSeed: nil).number }
        let author = try store.knownAuthor(for: ClientID(high: 1, low: 1), person: "ada")
        let commits = history(on: try store.load(lists[0]), 9, author: author, chaos: &chaos)
        func append(_ revision: Int, to list: ListNumber, after expected: Int? = nil) throws {
            let commit = commits[revision - 1]
            try store.append([CommitBatch(list: list, expected: expected ?? revision - 1, commits: [commit])])
        }
        for revision in 1...3 { try append(revision, to: lists[0]) }
        for wrong in [1, 2, 4] {
            #expect(throws: StoreError.conflict(list: lists[0], expected: wrong, found: 3)) {
                try append(4, to: lists[0], after: wrong)
            }
        }
        try append(4, to: lists[0])
        #expect(throws: StoreError.conflict(list: lists[1], expected: 4, found: 0)) { try append(5, to: lists[1]) }
        try append(1, to: lists[1])
        try append(5, to: lists[0])
        try store.delete("a", by: "ada", at: 1)
        try append(6, to: lists[0])
        #expect(try store.purgeOldest(of: nil) == "a")
        #expect(throws: StoreError.noSuchList("number \(lists[0])")) { try append(7, to: lists[0]) }
        #expect(try store.load(lists[1]).revision == 1)
        try store.close()
    }

    @Test(arguments: StoreKind.allCases)
    func listsAndPeople(kind: StoreKind) throws {
        let folder = try TemporaryFolder()
        let store = try kind.store(in: folder)
        _ = try store.create("b", rules: .fiveCards, logID: 1, deckSeed: 4)
        _ = try store.create("a", rules: Rules(), logID: 2, deckSeed: nil)
        #expect(throws: StoreError.listExists("a")) { try store.create("a", rules: Rules(), logID: 3, deckSeed: nil) }
        #expect(try store.lists(after: "", limit: 1).map(\.name) == ["a"])
        #expect(try store.lists(after: "a", limit: 9).map(\.rules) == [.fiveCards])
        #expect(try store.load(try #require(try store.list(named: "b")).number).deck == Deck(seed: 4))
        try store.delete("a", by: "ada", at: 5)
        #expect(try store.list(named: "a") == nil && store.lists(after: "", limit: 9).map(\.name) == ["b"])
        #expect(throws: StoreError.noSuchList("a")) { try store.delete("a", by: "ada", at: 5) }
    }

    /// The name of a commit never changes: a client under another name is another author.
    @Test(arguments: StoreKind.allCases)
    func anAuthorIsAClientAndAName(kind: StoreKind) throws {
        let folder = try TemporaryFolder()
        let store = try kind.store(in: folder)
        let (one, other) = (ClientID(high: .max, low: 1), ClientID(high: .max, low: 2))
        let ada = try store.knownAuthor(for: one, person: "ada")
        let bob = try store.knownAuthor(for: one, person: "bob")
        let otherAda = try store.knownAuthor(for: other, person: "ada")
        #expect(Set([ada.number, bob.number, otherAda.number]).count == 3)
        #expect(ada.client == ada.number && bob.client == ada.number && otherAda.client == otherAda.number)
        #expect(try store.author(for: one, person: "ada") == (ada, false))
        #expect(try store.author(for: one, person: "bob") == (bob, false))
        #expect(try store.knownAuthor(for: one, person: "Ada") != ada)
        let people = try store.people([otherAda.number, bob.number, 999, 0, ada.number])
        #expect(people.map(\.name) == ["ada", "bob", "ada"])
        #expect(people.map(\.author) == [otherAda.number, bob.number, ada.number])
    }

    /// Returns the numbers of clients that have made no commit.
    private func newcomers(_ count: Int, to store: any CommitStore, idHigh: UInt64 = 1) throws -> Set<AuthorID> {
        var numbers: Set<AuthorID> = []
        for client in 1...UInt64(count) {
            let (author, isNew) = try store.author(for: ClientID(high: idHigh, low: client), person: "eve")
            #expect(isNew && author.client == author.number)
            numbers.insert(author.number)
        }
        #expect(numbers.count == count && !numbers.contains(0))
        return numbers
    }

    /// A client without commits is not stored.
    @Test(arguments: StoreKind.ownedByOne)
    func aClientWithoutCommitsIsNotStored(kind: StoreKind) throws {
        let folder = try TemporaryFolder()
        let store = try kind.store(in: folder)
        let size = try store.size()
        var numbers = try newcomers(2 * Int(SQLiteStore.numbersAtOnce) + 500, to: store)
        #expect(try store.people(numbers.sorted()).isEmpty && store.size() <= size + 8_192)
        // One of them makes a commit, and reconnects under another name.
        let client = ClientID(high: 1, low: 5)
        let ada = try store.knownAuthor(for: client, person: "ada")
        #expect(try store.author(for: client, person: "ada") == (ada, false))
        let eve = try store.author(for: client, person: "eve")
        #expect(eve.isNew && eve.author.client == ada.client && numbers.insert(eve.author.number).inserted)
        try store.close()
    }

    /// No number is given out twice, also after a process has ended.
    @Test(arguments: StoreKind.inAFolder)
    func numbersAreGivenOutOnce(kind: StoreKind) throws {
        let folder = try TemporaryFolder()
        let store = try kind.store(in: folder)
        let numbers = try newcomers(Int(SQLiteStore.numbersAtOnce) + 5, to: store)
        let (least, most) = (try #require(numbers.min()), try #require(numbers.max()))
        #expect(Int(most.rawValue - least.rawValue) == numbers.count - 1, "none is wasted")
        let client = ClientID(high: 3, low: 5)
        let ada = try store.knownAuthor(for: client, person: "ada")
        try store.close()
        let next = try kind.store(in: folder)
        #expect(try newcomers(10, to: next, idHigh: 2).isDisjoint(with: numbers.union([ada.number])))
        #expect(try next.author(for: client, person: "ada") == (ada, false))
        try next.close()
    }

    /// Whatever its name, a client's submissions to a list have one sequence.
    @Test(arguments: StoreKind.allCases)
    func sequencesAreKeptByClient(kind: StoreKind) throws {
        let folder = try TemporaryFolder()
        let store = try kind.store(in: folder)
        let list = try store.create("a", rules: Rules(), logID: 1, deckSeed: nil)
        let (one, other) = (ClientID(high: .max, low: 1), ClientID(high: .max, low: 2))
        let ada = try store.knownAuthor(for: one, person: "ada")
        let eve = try store.knownAuthor(for: other, person: "eve")
        let bob = try store.knownAuthor(for: one, person: "bob")
        var chaos = Chaos(seed: 4)
        var expected: [AuthorID: SequenceMark] = [:]
        for (author, sequence) in [(ada, SequenceNumber(1)), (bob, 2), (eve, 1), (ada, 3), (bob, 4), (ada, 5)] {
            let start = try store.load(list.number)
            let made = history(on: start, 1, author: author, chaos: &chaos)
            #expect(made[0].sequence == sequence && made[0].author == author.number)
            try store.append([CommitBatch(list: list.number, expected: start.revision, commits: made)])
            expected[author.client] = SequenceMark(of: made[0])
            #expect(try store.load(list.number).sequences == expected)
        }
    }

    /// Whether a client's last submission was refused is stored with it.
    @Test(arguments: StoreKind.allCases) func refusalsAreKept(kind: StoreKind) throws {
        let folder = try TemporaryFolder()
        let store = try kind.store(in: folder)
        let list = try store.create("a", rules: Rules(maximumCount: 0), logID: 1, deckSeed: nil)
        let author = try store.knownAuthor(for: ClientID(high: 1, low: 1), person: "ada")
        var authority = Authority(try store.load(list.number), limits: Limits())
        for (sequence, isRefused) in [(SequenceNumber(1), false), (4, true), (9, false)] {
            let delta = isRefused ? Delta.inserting(tasks(1), at: 0, .after) : .identity
            let submission = Submission(list: list.number, base: authority.revision, sequence: sequence, delta: delta)
            _ = authority.submit(submission, author: author, isFirst: true, now: 1)
            let batch = authority.takeBatch()
            #expect(try store.append([batch]) == [.taken])
            authority.wrote()
            let loaded = try store.load(list.number)
            let mark = SequenceMark(
                author: author.number, sequence: sequence, revision: batch.expected + 1, isRefused: isRefused)
            #expect(loaded.sequences == [author.client: mark])
            try store.saveSnapshot(of: list.number, authority.hand, revision: authority.revision, deck: nil)
            #expect(try store.load(list.number).sequences == [author.client: mark])
            let frames = try store.frames(of: list.number, after: batch.expected, about: .max)
            #expect(try frames.map { try $0.commit() } == batch.commits)
        }
        if let store = store as? SQLiteStore {
            try store.close()
            #expect(try StoreVerifier(path: folder.path).verify().isSound)
        }
    }

    /// The newest revisions, of the lists that exist.
    @Test(arguments: StoreKind.allCases)
    func headsGiveTheNewestRevisions(kind: StoreKind) throws {
        let folder = try TemporaryFolder()
        let store = try kind.store(in: folder)
        #expect(store.isShared == (kind == .postgres))
        var chaos = Chaos(seed: 5)
        let lists = try (UInt64(1)...3).map { number in
            try store.create("l\(number)", rules: Rules(), logID: number << 32 | number, deckSeed: nil).number
        }
        let author = try store.knownAuthor(for: ClientID(high: 1, low: 1), person: "ada")
        let commits = history(on: try store.load(lists[1]), 4, author: author, chaos: &chaos)
        try store.append([CommitBatch(list: lists[1], expected: 0, commits: commits)])
        try store.delete("l3", by: "ada", at: 5)
        let heads = try store.heads(of: lists + [99]).sorted { $0.list < $1.list }
        #expect(
            heads == [
                StoredHead(list: lists[0], name: "l1", logID: 1 << 32 | 1, revision: 0, digest: 0),
                StoredHead(list: lists[1], name: "l2", logID: 2 << 32 | 2, revision: 4, digest: commits[3].digest),
            ])
        try store.close()
    }

    /// The stores that keep lists when the process ends.
    @Test(arguments: StoreKind.allCases.filter { $0 == .os || $0 == .postgres })
    func aDeckContinuesWhereItWas(kind: StoreKind) throws {
        let folder = try TemporaryFolder()
        var store = try kind.store(in: folder)
        let list = try store.create("hand", rules: .fiveCards, logID: 1, deckSeed: 11)
        let author = try store.knownAuthor(for: ClientID(high: 1, low: 1), person: "ada")
        var authority = Authority(try store.load(list.number), limits: Limits())
        for sequence in UInt64(1)...4 {
            let card = Item(id: ItemID(rawValue: sequence), content: .card(.faceDown))
            let delta: Delta = sequence == 4 ? .deleting(0..<1) : .inserting([card])
            _ = authority.submit(
                Submission(
                    list: list.number, base: Int(sequence) - 1, sequence: SequenceNumber(sequence), delta: delta),
                author: author,
                now: 0)
            let batch = authority.takeBatch()
            try store.append([batch])
            authority.wrote()
            if sequence == 2 {
                try store.saveSnapshot(of: list.number, authority.hand, revision: 2, deck: authority.deck)
            }
        }
        try store.close()
        store = try kind.store(in: folder)
        let loaded = try store.load(list.number)
        #expect(loaded.deck == authority.deck && loaded.deck?.count == 50)
    }

    // MARK: Opening

    @Test func fsyncIsReallyRequested() throws {
        let folder = try TemporaryFolder()
        #expect(try SQLiteStore(folder: folder.path, durability: .fsync).synchronousLevel() == 2)
        let other = try TemporaryFolder()
        #expect(try SQLiteStore(folder: other.path, durability: .os).synchronousLevel() == 1)
    }

    /// Whoever has a client's id can connect as that client, so the id cannot be read from the store's files.
    @Test func clientIDsAreNotInTheFiles() throws {
        let folder = try TemporaryFolder()
        let client = ClientID(high: 0x1234_5678_9ABC_DEF0, low: 0x0FED_CBA9_8765_4321)
        let store = try SQLiteStore(folder: folder.path, durability: .os)
        let author = try store.knownAuthor(for: client, person: "ada")
        #expect(try store.knownAuthor(for: client, person: "ada") == author)
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: folder.path + "/" + name))
            for half in [client.high, client.low] {
                #expect(bytes.range(of: withUnsafeBytes(of: half.bigEndian) { Data($0) }) == nil, "\(name)")
            }
        }
        try store.close()
    }

    @Test func aStoreInUseIsRefused() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore(folder: folder.path, durability: .os)
        #expect(throws: StoreError.inUse(path: folder.path)) {
            try SQLiteStore(folder: folder.path, durability: .os)
        }
        try store.close()
    }

    /// Not even the log, which a killed server leaves, is copied into a store of another format.
    @Test(arguments: [11, 99]) func otherFormatsAreRefusedAndLeftAlone(version: Int) throws {
        let (origin, folder) = (try TemporaryFolder(), try TemporaryFolder())
        try SQLiteStore(folder: origin.path, durability: .os).close()
        let database = try SQLiteDatabase(origin.path + "/hand.sqlite")
        try database.write { try $0.runAll("PRAGMA user_version = \(version)") }
        let names = ["hand.sqlite", "hand.sqlite-wal"]
        for name in names {
            try FileManager.default.copyItem(atPath: "\(origin.path)/\(name)", toPath: "\(folder.path)/\(name)")
        }
        func contents() throws -> [Data] {
            try names.map { try Data(contentsOf: URL(fileURLWithPath: "\(folder.path)/\($0)")) }
        }
        let before = try contents()
        let file = folder.path + "/hand.sqlite"
        let expected = version == 11 ? StoreError.older(path: file) : .newer(path: file, found: 99, known: 12)
        #expect(throws: expected) { try SQLiteStore(folder: folder.path, durability: .fsync) }
        #expect(throws: expected) { try StoreVerifier(path: folder.path).verify() }
        #expect(throws: expected) { try SQLiteStore.accessRules(in: folder.path) }
        #expect(throws: expected) { try StoreBackup.write(folder.path, to: folder.path + "/copy") }
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/copy"))
        #expect(try contents() == before)
        try database.close()
    }

    @Test func otherFilesAreRefusedAndLeftAlone() throws {
        let folder = try TemporaryFolder()
        let file = folder.path + "/hand.sqlite"
        try Data("my shopping list".utf8).write(to: URL(fileURLWithPath: file))
        #expect(throws: StoreError.notAStore(path: file)) { try SQLiteStore(folder: folder.path, durability: .os) }
        #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == Data("my shopping list".utf8))
        try FileManager.default.removeItem(atPath: file)
        do { try SQLiteDatabase(file).write { try $0.runAll("CREATE TABLE other (x)") } }
        #expect(throws: StoreError.notAStore(path: file)) { try SQLiteStore(folder: folder.path, durability: .os) }
    }

    @Test func damageIsFoundByDigests() throws {
        let folder = try TemporaryFolder()
        var store = try SQLiteStore(folder: folder.path, durability: .os)
        var chaos = Chaos(seed: 3)
        let list = try store.create("a", rules: Rules(), logID: 1, deckSeed: nil)
        let author = try store.knownAuthor(for: ClientID(high: 1, low: 1), person: "ada")
        let commits = history(on: try store.load(list.number), 10, author: author, chaos: &chaos)
        try store.append(oneByOne: commits, to: list.number)
        try store.close()
        let file = folder.path + "/hand.sqlite"
        do { try SQLiteDatabase(file).write { try $0.runAll("DELETE FROM commits WHERE last = 5") } }
        store = try SQLiteStore(folder: folder.path, durability: .os)
        #expect(throws: StoreError.damaged("revision 5 of list \(list.number) is missing")) {
            try store.load(list.number)
        }
    }
}
