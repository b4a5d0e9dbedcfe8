import HandCore
import HandSync
import HandWire

/// A client process: a machine, its journal, and a connection from time to time. It can be killed at any moment. Its
/// files may be copied, as when a home folder is restored from a backup; another process then continues from the copy.
final class SimulatedClient {
    unowned let system: System
    let number: Int
    /// The number of the client's person. A client and its copies have the same person.
    let person: Int
    var machine: ClientMachine?
    var journal: VirtualJournal
    /// Whether the client has a copy or is a copy.
    private(set) var isCopied = false
    var process = 0
    var link: Link?
    /// The number of the server that the client connects to.
    var home = 0
    var watch = SubmissionWatch()
    var outgoing: [UInt8] = []
    var keptWaiters: [(mark: Int, body: () -> Void)] = []
    var random: SplitMix64
    var armed: UInt64?
    /// The other people on each list, as reported on this connection.
    var others: [String: [AuthorID: DownMessage.Presence]] = [:]
    /// Each list's view as it follows from the reported deltas.
    var followed: [String: Hand] = [:]
    /// How many edits this client has made in each list (by its log id), undo and redo included.
    var edits: [UInt64: Int] = [:]
    /// Receives the answers to the client's requests.
    var onAnswer: (RequestNumber, ClientMachine.Answer) -> Void = { _, _ in }
    /// Words that commits of this process have put into existing texts, by list, with the revisions of those commits.
    var ownWords: [String: [Substring: Int]] = [:]
    var diesAtNextWrite = false
    var diskIsBusyUntil: UInt64 = 0

    /// - Parameter other: a client whose files on disk the new one has, too.
    init(_ system: System, number: Int, copying other: SimulatedClient? = nil) {
        self.system = system
        self.number = number
        person = other?.person ?? number
        random = SplitMix64(seed: system.schedule.seed &+ UInt64(number) &* 0x1_0001)
        journal = if let other { other.journal } else { VirtualJournal(.random(using: &random)) }
        guard let other else { return }
        // With this number, the copy starts under the same name.
        process = max(0, other.process - 1)
        isCopied = true
        other.isCopied = true
    }

    var isUp: Bool { machine != nil }
    /// The name of the client's person.
    var name = ""

    // MARK: The process

    func start() {
        guard machine == nil else { return }
        process += 1
        armed = nil
        followed = [:]
        ownWords = [:]
        // The person changes names, and returns to former names.
        name = "person \(person).\(process % 3)"
        if journal.isShared { _ = journal.take(.random(using: &random)) }
        machine = ClientMachine(
            client: journal.client, person: name, program: "simulated", seed: random.next(),
            journal: JournalBuffer(waiting: 4, compaction: system.schedule.journalCompaction),
            used: journal.used)
        for name in journal.names { open(name) }
        perform { $0.start() }
    }

    func die() {
        guard machine != nil else { return }
        system.trace("client \(number) dies")
        system.reach.note(Reach.Client.dies)
        machine = nil
        outgoing = []
        others = [:]
        keptWaiters = []
        diesAtNextWrite = false
        let silently = random.next(below: 4) == 0
        link?.clientDied(silently: silently)
        link = nil
        system.promises.died(client: number, kept: kept())
        system.scheduler.after(1 + UInt64(random.next(below: 3_000))) { [self] in start() }
    }

    /// Returns everything that the unconfirmed edits on disk insert.
    ///
    /// - Parameter isClosed: leave out lists that are open.
    func kept(ofClosedOnes isClosed: Bool = false) -> UniqueWords.Put {
        var put = UniqueWords.Put()
        for delta in journal.setAside.flatMap(\.pending) { put.formUnion(delta.put) }
        for name in journal.names where !isClosed || machine?.subscriptions[name] == nil {
            guard let replica = try? journal.load(name) else { continue }
            for delta in replica.pending { put.formUnion(delta.put) }
        }
        return put
    }

    /// Whether the client's disk says that the submission is or was in flight, under any name. The commit may arrive
    /// before the edit is submitted again.
    func hasKept(_ submission: Submission, of logID: UInt64) -> Bool {
        journal.names.contains { name in
            guard let kept = try? journal.load(name) else { return false }
            return kept.logID == logID && kept.sequence >= submission.sequence
        }
    }

    // MARK: Lists

    /// Follows a list, starting from the kept replica or from nothing.
    func open(_ name: String) {
        // Check before the wait, too: a list that is closed during the wait will have more on disk than this call would
        // load.
        guard machine?.subscriptions[name] == nil else { return }
        whenKept { [unowned self] in
            guard machine?.subscriptions[name] == nil else { return }
            do {
                let replica = try journal.load(name)
                followed[name] = replica?.view ?? Hand()
                perform { $0.open(name, from: replica, isJournaled: true) }
            } catch {
                system.report(.journal, "client \(number) cannot read what it kept of \(name): \(error)")
            }
        }
    }

    /// Opens every list with a kept replica: pending edits belong to some list, whatever its name is.
    func openKept() {
        for name in journal.names { open(name) }
    }

    func close(_ name: String) {
        guard let replica = machine?.subscriptions[name]?.replica else { return }
        system.promises.gaveUp(client: number, list: replica.logID, committed: system.ledger.inserted)
        perform { $0.close(name) }
        followed[name] = nil
        ownWords[name] = nil
        others[name] = nil
        // The list may be open again at that point.
        whenKept { [unowned self] in if machine?.subscriptions[name] == nil { journal.forget(name) } }
    }
}
