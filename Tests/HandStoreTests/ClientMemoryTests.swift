import Disk
import HandClient
import HandCore
import HandSync
import HandTestSupport
import HandWire
import Testing

/// What a journal remembers of a person's edits: those without an answer, those that were lost, and what can be undone.
@Suite struct ClientMemoryTests {
    private let folder: TemporaryFolder
    private var path: String { folder.path + "/0.sqlite" }

    init() throws {
        folder = try TemporaryFolder(isInMemory: true)
    }

    private func inJournal<Result>(_ body: (ClientJournal) throws -> Result) throws -> Result {
        let journal = try ClientJournal(path: path, fresh: ClientID(high: 5, low: 1), person: "ann")
        defer { try? journal.close() }
        return try body(journal)
    }

    private func keep(_ writes: JournalWrite...) throws {
        try inJournal { #expect($0.keep(writes).problem == nil) }
    }

    private static let list = Hand([Item(id: ItemID(rawValue: 1), content: .note("tea"))])

    private static func submission(_ sequence: SequenceNumber, step: UndoStep? = nil) -> JournalSubmission {
        let excerpt = list.excerpt([.positions(start: 0, count: 1)], logID: 9, revision: 3)
        return JournalSubmission(
            log: 9, sequence: sequence, list: "l", step: step,
            edit: ExcerptEdit(excerpt: excerpt, delta: list.rewording(0, "green tea"), isExact: true))
    }

    /// An edit without an answer is found until it has one; then only a step is remembered.
    @Test func editsWithoutAnAnswerAreFound() throws {
        let all = [Self.submission(4), Self.submission(5, step: .undo), Self.submission(6, step: .redo)]
        for submission in all { try keep(.submission(submission, person: "ann")) }
        #expect(try inJournal { try $0.unanswered(by: "ann") } == all)
        #expect(try inJournal { try $0.unanswered(by: "bob") }.isEmpty)
        // Nobody else may take the client until the answers are there.
        #expect(ClientJournal.waitingPerson(inJournalAt: path) == "ann")
        #expect(try inJournal { try $0.waitingPerson() } == "ann")
        #expect(try inJournal { $0.used } == [9: 6])
        try keep(
            .answered(log: 9, sequence: 4, revision: 7), .answered(log: 9, sequence: 5, revision: 8),
            .answered(log: 9, sequence: 6, revision: nil))
        #expect(try inJournal { try $0.unanswered(by: "ann") }.isEmpty)
        #expect(ClientJournal.waitingPerson(inJournalAt: path) == nil)
        #expect(try inJournal { try $0.waitingPerson() } == nil)
        let steps = ClientJournal.steps(of: 1, in: 9, inJournalAt: path)
        #expect(steps.made == [5: .undo] && steps.counts.isEmpty)
        try keep(.submission(JournalSubmission(log: 9, sequence: 7, list: "l", count: 3), person: "ann"))
        #expect(ClientJournal.steps(of: 1, in: 9, inJournalAt: path).counts == [7: 3])
        #expect(try inJournal { $0.used } == [9: 7])
    }

    private static func refused(_ text: String) -> Loss {
        .refused(.notAllowed, [.insert(Item(id: ItemID(rawValue: 0), content: .note(text)), behind: nil)])
    }

    private static func overridden(_ revision: Int) -> Loss {
        .overridden(list[0], .move, by: Loss.Override(author: 2, revision: revision))
    }

    private func losses(_ list: String = "l", of person: String = "ann") throws -> [KeptLoss] {
        try inJournal { try $0.losses(of: list, by: person) }
    }

    @Test func lossesAreKeptUntilTheirPersonDecides() throws {
        let loss = Self.refused("words")
        try keep(
            .lost(loss, list: "l", log: 9, person: "ann"), .lost(loss, list: "l", log: 9, person: "ann"),
            .lost(Self.refused("his"), list: "l", log: 9, person: "bob"),
            .lost(Self.refused("there"), list: "m", log: 8, person: "ann"))
        #expect(try losses().map(\.loss) == [loss, loss] && losses().allSatisfy { !$0.isTold && $0.time > 0 })
        #expect(try losses("m").count == 1 && losses(of: "bob").count == 1)
        try keep(.told(list: "l", person: "ann"))
        #expect(try losses().allSatisfy(\.isTold) && losses("m").allSatisfy { !$0.isTold })
        #expect(try losses(of: "bob").allSatisfy { !$0.isTold })
        // One of two equal ones is got back.
        try keep(.found(loss, list: "l"))
        let left = try losses()
        #expect(left.count == 1 && left[0].isTold)
        #expect(try ClientJournal.losses(inJournalAt: path).count == 3)
        try ClientJournal.forget([left[0].number], inJournalAt: path)
        #expect(try losses().isEmpty && ClientJournal.losses(inJournalAt: path).count == 2)
    }

    /// Of overridden edits only the newest are kept, once they are told; refused ones all.
    @Test func toldOverridesAreBounded() throws {
        let writes = (1...150).flatMap { number -> [JournalWrite] in
            [Self.overridden(number), Self.refused("\(number)")].map { .lost($0, list: "l", log: 9, person: "ann") }
        }
        try inJournal { #expect($0.keep(writes).problem == nil) }
        #expect(try losses().count == 300)
        try keep(.told(list: "l", person: "ann"), .lost(Self.overridden(151), list: "l", log: 9, person: "ann"))
        let left = try losses().map(\.loss)
        #expect(left.filter(\.isRefused).count == 150 && left.filter { !$0.isRefused }.count == 100)
        #expect(left.last == Self.overridden(151))
    }

    /// If one of several writes fails, none is made: a rejection is never kept without the words that it is about.
    @Test func writesAreKeptTogether() throws {
        let replica = Replica(confirmed: Self.list, revision: 3, logID: 9, sequence: 0)
        try keep(.checkpoint(replica, list: "l", formerName: nil))
        let database = try SQLiteDatabase(path)
        try database.write {
            try $0.runAll("CREATE TRIGGER t BEFORE INSERT ON losses BEGIN SELECT RAISE(ABORT, 'no'); END")
        }
        try database.close()
        try inJournal { journal in
            let writes: [JournalWrite] = [
                .append([.edit(Self.list.rewording(0, "green tea"), isExact: false)], list: "l"),
                .lost(Self.refused("words"), list: "l", log: 9, person: "ann"),
            ]
            let progress = journal.keep(writes)
            #expect(progress.done == 0 && progress.problem != nil)
            let hasPending = try journal.load("l")?.hasPending
            #expect(hasPending == false)
        }
    }

    /// What can be undone, and what others may override, is found by the history's id.
    @Test func historiesAndWorkAreKept() throws {
        var replica = Replica(confirmed: Self.list, revision: 3, logID: 9, sequence: 0)
        try replica.edit(Self.list.rewording(0, "green tea"))
        replica.identify(as: 1, persons: [1, 2])
        try keep(.undo(UndoBase(replica), log: 9, person: "ann"))
        let kept = try #require(ClientJournal.history(of: "ann", in: 9, inJournalAt: path))
        #expect(kept.bytes == UndoBase(replica).bytes && kept.revision == 3)
        #expect(ClientJournal.history(of: "ann", in: 8, inJournalAt: path) == nil)
        var work = KeptWork(on: Self.list.excerpt([], logID: 9, revision: 3))
        #expect(try inJournal { try $0.work(of: "ann").isEmpty })
        work.add(Self.list.excerpt([.positions(start: 0, count: 1)], logID: 9, revision: 3))
        var list = Self.list
        let delta = list.rewording(0, "green tea")
        try list.apply(delta)
        let commit = Commit(
            revision: 4, author: 1, sequence: 1, base: 3, time: 0, count: 1, digest: list.digest, delta: delta)
        _ = try work.pass([commit]) { $0 == 1 }
        try keep(.work(work, list: "l", person: "ann"))
        try inJournal { journal in
            let (anns, bobs) = (try journal.work(of: "ann"), try journal.work(of: "bob"))
            #expect(anns.map(\.work) == [work] && anns.map(\.list) == ["l"] && bobs.isEmpty)
            try journal.note(KeptWork(on: Self.list.excerpt([], logID: 9, revision: 5)), of: "ann", on: "l")
            let left = try journal.work(of: "ann")
            #expect(left.isEmpty)
        }
    }

    // MARK: Again and again

    private func count(_ table: String, after statement: String? = nil) throws -> Int? {
        let database = try SQLiteDatabase(path)
        defer { try? database.close() }
        if let statement { try database.write { try $0.runAll(statement) } }
        return try database.read { try $0.integer("SELECT count(*) FROM \(table)") }
    }

    /// What is kept again takes the place of what was kept before.
    @Test func theNewestIsKept() throws {
        for revision in 3...5 {
            var replica = Replica(confirmed: Self.list, revision: revision, logID: 9, sequence: 0)
            try replica.edit(replica.view.rewording(0, "tea \(revision)"))
            let work = KeptWork(on: Self.list.excerpt([], logID: 9, revision: revision))
            try keep(
                .undo(UndoBase(replica), log: 9, person: "ann"),
                .work(work, list: "l", person: "ann"),
                .committed(author: AuthorID(revision), person: "ann"))
            let kept = try #require(ClientJournal.history(of: "ann", in: 9, inJournalAt: path))
            #expect(kept.bytes == UndoBase(replica).bytes && kept.revision == revision)
            #expect(try inJournal { try $0.work(of: "ann").map(\.work.revision) } == [revision])
            #expect(ClientJournal.author(of: "ann", inJournalAt: path) == AuthorID(revision))
        }
        for table in ["undo", "work", "authors"] { #expect(try count(table) == 1) }
    }

    /// Edits that are answered leave nothing behind. Of steps, the newest are kept; what is not answered stays.
    @Test func submissionsAreBounded() throws {
        try keep(.submission(Self.submission(1), person: "ann"))
        for sequence in (2...4).map(SequenceNumber.init) {
            try keep(.submission(Self.submission(sequence), person: "ann"))
            try keep(.answered(log: 9, sequence: sequence, revision: 8))
        }
        #expect(try count("submissions") == 1)
        let numbers = "WITH RECURSIVE n(i) AS (SELECT 5 UNION ALL SELECT i + 1 FROM n WHERE i < 10500)"
        let steps = "\(numbers) INSERT INTO submissions (log_id, sequence, person, list, step, count)"
        #expect(try count("submissions", after: "\(steps) SELECT 9, i, 'ann', 'l', 0, 1 FROM n") == 10_497)
        let last = JournalSubmission(log: 9, sequence: 20_000, list: "l", step: .undo)
        try keep(.submission(last, person: "ann"))
        #expect(try count("submissions") == 10_001)
        #expect(try inJournal { try $0.unanswered(by: "ann") } == [Self.submission(1)])
        let empty = "\(numbers) INSERT INTO empty_steps (log_id, step, revision, author)"
        #expect(try count("empty_steps", after: "\(empty) SELECT 9, 0, i, 1 FROM n") == 10_496)
        try inJournal { try $0.noteEmpty(.undo, count: 2, in: 9, at: 3, by: 1) }
        #expect(try count("empty_steps") == 10_000)
    }

    /// Whose edits wait is known as long as they do, each time.
    @Test func waitingEndsEachTime() throws {
        let settled = Replica(confirmed: Self.list, revision: 3, logID: 9, sequence: 0)
        var pending = settled
        try pending.edit(Self.list.rewording(0, "green tea"))
        for _ in 1...2 {
            try keep(.checkpoint(settled, list: "l", formerName: nil))
            #expect(ClientJournal.waitingPerson(inJournalAt: path) == nil)
            try keep(.checkpoint(pending, list: "l", formerName: nil))
            #expect(ClientJournal.waitingPerson(inJournalAt: path) == "ann")
        }
    }

    /// An id that another program has, too, is replaced once each time; the new one has used no sequence.
    @Test func aSharedIDIsReplacedEachTime() throws {
        func open<Result>(_ fresh: UInt64, _ body: (ClientJournal) throws -> Result) throws -> Result {
            let journal = try ClientJournal(path: path, fresh: ClientID(high: 5, low: fresh), person: "ann")
            defer { try? journal.close() }
            return try body(journal)
        }
        for fresh in 1...3 as ClosedRange<UInt64> {
            let (client, used) = try open(fresh) { ($0.client.low, $0.used) }
            #expect(client == fresh && used == [:])
            try open(99) { journal in
                #expect(journal.client.low == fresh)
                #expect(journal.keep([.used(log: 9, sequence: 7), .shared]).problem == nil)
            }
        }
    }
}
