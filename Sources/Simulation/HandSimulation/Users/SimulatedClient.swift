import HandCore
import HandSync
import HandWire

/// A client process: a machine, its journal, and a connection from time to time. It can be killed at any moment. Its
/// files may be copied, as when a home folder is restored from a backup; another process then continues from the copy.
final class SimulatedClient {
    unowned let system: System
    let number: Int
    /// The number of its person. A client and its copies have the same person.
    let person: Int
    private(set) var machine: ClientMachine?
    private var journal: VirtualJournal
    /// Whether it has a copy or is one.
    private(set) var isCopied = false
    private var process = 0
    private(set) var link: Link?
    /// The number of the server that it connects to.
    private(set) var home = 0
    var watch = SubmissionWatch()
    private var outgoing: [UInt8] = []
    private var keptWaiters: [(mark: Int, body: () -> Void)] = []
    private var random: SplitMix64
    private var armed: UInt64?
    /// The other people on each list, as reported on this connection.
    private(set) var others: [String: [UInt64: DownMessage.Presence]] = [:]
    /// Each list's view as it follows from the reported deltas.
    var followed: [String: Hand] = [:]
    /// How many edits this client has made in each list (by its log id), undo and redo included.
    private var edits: [UInt64: Int] = [:]
    /// Receives the answers to its requests.
    var onAnswer: (UInt64, ClientMachine.Answer) -> Void = { _, _ in }
    /// Words that commits of this process have put into existing texts, by list, with the revisions of those commits.
    private var ownWords: [String: [Substring: Int]] = [:]
    /// Whether the process dies before the next write to the journal.
    var diesAtNextWrite = false

    init(_ system: System, number: Int) {
        self.system = system
        self.number = number
        person = number
        random = SplitMix64(seed: system.schedule.seed &+ UInt64(number) &* 0x1_0001)
        journal = VirtualJournal(.random(using: &random))
    }

    /// Creates a client that has the same files on disk as another.
    init(copying other: SimulatedClient, number: Int) {
        system = other.system
        self.number = number
        person = other.person
        random = SplitMix64(seed: system.schedule.seed &+ UInt64(number) &* 0x1_0001)
        journal = other.journal
        // This makes it start under the same name.
        process = max(0, other.process - 1)
        isCopied = true
        other.isCopied = true
    }

    var isUp: Bool { machine != nil }
    /// Its person's name.
    private var name = ""

    // MARK: The process

    func start() {
        guard machine == nil else { return }
        process += 1
        armed = nil
        followed = [:]
        ownWords = [:]
        // Its person changes names, and returns to former ones.
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

    /// Returns everything that the edits on disk insert and that is not confirmed.
    ///
    /// - Parameter isClosed: leave out lists that are open.
    func kept(ofClosedOnes isClosed: Bool = false) -> Words.Put {
        var put = Words.Put()
        for delta in journal.setAside.flatMap(\.pending) { put.formUnion(delta.put) }
        for name in journal.names where !isClosed || machine?.subscriptions[name] == nil {
            guard let replica = try? journal.load(name) else { continue }
            for delta in replica.pending { put.formUnion(delta.put) }
        }
        return put
    }

    /// Whether its disk says that the submission is or was in flight, under any name. Its commit may arrive before it
    /// is submitted again.
    func hasKept(_ submission: Submission, of logID: UInt64) -> Bool {
        journal.names.contains { name in
            guard let kept = try? journal.load(name) else { return false }
            return kept.logID == logID && kept.sequence >= submission.sequence
        }
    }

    // MARK: Lists

    /// Follows a list, starting from the kept replica or from nothing.
    func open(_ name: String) {
        // Check now: a list that is closed while this waits will have more on disk than this would load.
        guard machine?.subscriptions[name] == nil else { return }
        whenKept { [unowned self] in
            guard machine?.subscriptions[name] == nil else { return }
            do { open(name, from: try journal.load(name)) } catch {
                system.report(.journal, "client \(number) cannot read what it kept of \(name): \(error)")
            }
        }
    }

    private func open(_ name: String, from replica: Replica?) {
        followed[name] = replica?.view ?? Hand()
        perform { $0.open(name, from: replica, isJournaled: true) }
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
        // It may be open again at that point.
        whenKept { [unowned self] in if machine?.subscriptions[name] == nil { journal.forget(name) } }
    }

    // MARK: Effects

    /// Gives the machine an event, then carries out its effects: first the journal, then the network.
    func perform(_ body: (inout ClientMachine) -> Void) {
        guard machine != nil else { return }
        body(&machine!)
        while let effect = machine?.nextEffect() { carryOut(effect) }
        endTurn()
        check()
        rearm()
    }

    private func carryOut(_ effect: ClientMachine.Effect) {
        switch effect {
        case .connect: connect()
        case .send(let bytes):
            system.sent(bytes, by: self)
            outgoing += bytes
        case .disconnect: disconnect()
        case .keep(let writes): keep(writes)
        case .takeID: takeID()
        case .list(let list, .renamed(let name)):
            system.trace("client \(number) hears that \(list) is called \(name)")
            followed[name] = followed.removeValue(forKey: list)
            ownWords[name] = ownWords.removeValue(forKey: list)
            others[name] = others.removeValue(forKey: list)
        case .update(let list, let update): note(update, of: list)
        case .status(let status): changed(status)
        case .list(let list, .presence(let entries)): note(entries, in: list)
        case .list(let list, .refused(let code, _)): refused(list, code)
        case .answer(let request, let answer): onAnswer(request, answer)
        case .list, .latency, .told: break
        }
    }

    private func endTurn() {
        guard !outgoing.isEmpty, let link else { return }
        outgoing.withUnsafeBytes { link.up.write($0) }
        outgoing = []
    }

    /// The disk takes time. The process continues in the meantime, or dies with only some of the writes on disk.
    private func keep(_ writes: [JournalWrite]) {
        let (mine, items) = (process, system.promises.unkept(by: number))
        afterDisk { [unowned self] in
            guard process == mine, machine != nil else { return }
            let count = diesAtNextWrite ? random.next(below: writes.count) : writes.count
            for write in writes.prefix(count) { journal.keep(write) }
            if diesAtNextWrite { return die() }
            system.promises.kept(items)
            perform { $0.kept(count, now: system.scheduler.now) }
            while let machine, let first = keptWaiters.first, first.mark <= machine.keptMark {
                keptWaiters.removeFirst().body()
            }
        }
    }

    /// Calls `body` when all earlier writes are on disk.
    private func whenKept(_ body: @escaping () -> Void) {
        perform { $0.flush() }
        guard let machine else { return }
        if machine.keptMark == machine.journalMark { body() } else { keptWaiters.append((machine.journalMark, body)) }
    }

    private func takeID() {
        let mine = process
        afterDisk { [unowned self] in
            guard process == mine, machine != nil else { return }
            let fresh = ClientID.random(using: &random)
            let isTaken = journal.take(fresh)
            if isTaken { system.trace("client \(number) takes a new id") }
            perform { $0.took(isTaken ? fresh : nil, now: system.scheduler.now) }
        }
    }

    private func afterDisk(_ body: @escaping () -> Void) {
        let delay = UInt64(random.next(below: 3) * random.next(below: 20))
        system.scheduler.after(delay, body)
    }

    private func note(_ update: Replica.Update, of list: String) {
        switch update.cause {
        case .edit: if let replica = machine?.subscriptions[list]?.replica { edits[replica.logID, default: 0] += 1 }
        case .commit(let commit):
            system.received(commit, of: list, by: self)
            checkNotified(commit, update.notices, list)
        case .answer: ownWords[list] = nil
        }
        do { followed[list] = try followed[list]?.applying(update.delta) } catch {
            system.report(.view, "client \(number): a delta of the view of \(list) does not fit: \(error)")
        }
        for notice in update.notices { system.noticed(notice, of: list, by: self) }
    }

    private func note(_ entries: [DownMessage.Presence], in list: String) {
        for entry in entries { others[list, default: [:]][entry.author] = entry.place == .gone ? nil : entry }
    }

    private func refused(_ list: String, _ code: ErrorCode) {
        system.trace("client \(number) is refused \(list): \(code)")
        followed[list] = nil
        ownWords[list] = nil
        others[list] = nil
        whenKept { [unowned self] in
            guard machine?.subscriptions[list] == nil, let kept = try? journal.load(list) else { return }
            // Some clients keep pending edits in case the list comes back, and some discard them. At the end, all
            // discard them.
            if kept.hasPending, !system.isCalm, random.next() & 1 == 0 { return }
            system.promises.gaveUp(client: number, list: kept.logID, committed: system.ledger.inserted)
            journal.forget(list)
        }
    }

    private func changed(_ status: ClientMachine.Status) {
        if status == .online, let author = machine?.author {
            system.ledger.check(author: author, isOf: journal.client, named: name)
        }
        guard case .offline(let reason, let wait) = status else { return }
        others = [:]
        system.trace("client \(number) is offline: \(reason)")
        if reason.contains("Protocol.md") || reason.contains("damaged") {
            system.report(.protocol, "client \(number): \(reason)")
        }
        guard wait == nil else { return }
        // Its person starts it again some time later.
        let mine = process
        system.scheduler.after(1 + UInt64(random.next(below: 60_000))) { [self] in if process == mine { die() } }
    }

    // MARK: The network

    private func connect() {
        let mine = process
        system.scheduler.after(1 + UInt64(random.next(below: 20))) { [self] in
            guard process == mine, machine != nil else { return }
            chooseServer()
            guard let link = system.connect("client \(number)", to: system.servers[home]) else {
                return perform { machine in
                    machine.disconnected(reason: "connection refused", now: system.scheduler.now)
                }
            }
            self.link = link
            watch = SubmissionWatch()
            link.down.onBytes = { [unowned self, unowned link] bytes in
                guard self.link === link else { return }
                watch.heard(bytes)
                perform { $0.received(bytes, now: system.scheduler.now) }
            }
            link.onLoss = { [unowned self, unowned link] reason in
                guard self.link === link else { return }
                lost(reason)
            }
            perform { $0.connected(now: system.scheduler.now) }
        }
    }

    /// With several servers, it switches to another one from time to time.
    private func chooseServer() {
        guard system.isShared, random.next() & 1 == 0 else { return }
        home = random.next(below: system.servers.count)
    }

    private func lost(_ reason: String) {
        disconnect()
        perform { machine in
            machine.disconnected(reason: reason, now: system.scheduler.now)
        }
    }

    private func disconnect() {
        link?.closeByClient()
        link = nil
        outgoing = []
    }

    private func rearm() {
        guard let deadline = machine?.deadline, deadline != armed else { return }
        armed = deadline
        let (mine, now) = (process, system.scheduler.now)
        system.scheduler.after(deadline > now ? deadline - now : 0) { [self] in
            guard process == mine, machine?.deadline == deadline else { return }
            armed = nil
            perform { $0.timer(now: system.scheduler.now) }
        }
    }

    // MARK: Checking

    /// Checks that a client is notified when it loses words to an author who had not seen them.
    private func checkNotified(_ commit: Commit, _ notices: [Replica.Notice], _ list: String) {
        let isOwn = commit.author == machine?.author
        // A copy of the client makes commits as the same author.
        let isMade = notices.contains {
            if case .acknowledged(commit.sequence, commit.revision) = $0 { isOwn } else { false }
        }
        let told = notices.reduce(into: Set<Substring>()) { told, notice in
            if case .superseded(_, .words(let loss, _), _, _) = notice { told.formUnion(Words.all(in: loss.lost)) }
        }
        for change in commit.delta.itemChanges {
            for word in change.removedWords {
                guard let revision = ownWords[list]?.removeValue(forKey: word) else { continue }
                guard !isOwn, commit.base < revision, !told.contains(word), link?.serverEnd.hasGarbled != true else {
                    continue
                }
                system.report(
                    .words, "client \(number) is not told that \(word) is gone from \(list) since \(commit.revision)")
            }
            for word in change.insertedWords where isMade { ownWords[list, default: [:]][word] = commit.revision }
        }
    }

    /// Checks that an undo removes only its author's own insertions. Words disappear with their items.
    func checkUndo(of name: String, _ before: Hand, _ after: Hand) {
        guard !isCopied else { return }
        // If a client was sent an altered delta, an item may occur twice.
        let left = Dictionary(after.map { ($0.id, $0.things) }) { $0.union($1) }
        for item in before {
            for thing in item.things.subtracting(left[item.id] ?? item.things) {
                guard let origin = system.promises.origin(of: thing), !system.promises.hasPut(thing, client: number)
                else { continue }
                let now = after.first { $0.id == item.id }.map { "'\($0.content.text)'" } ?? "nothing"
                system.report(
                    .words,
                    "an undo of client \(number) takes \(thing) of client \(origin.client) out of \(name): '\(item.content.text)' becomes \(now)"
                )
            }
        }
    }

    /// Checks the invariants that hold for every replica at every moment.
    private func check() {
        for (name, subscription) in (machine?.subscriptions ?? [:]).sorted(by: { $0.key < $1.key }) {
            let replica = subscription.replica
            if !replica.hasDiverged, let problem = replica.brokenInvariant() {
                system.report(.invariant, "client \(number), \(name): \(problem)")
            }
            if let view = followed[name], view != replica.view {
                system.report(.view, "client \(number): the deltas of \(name) do not lead to its view")
            }
            system.ledger.check(replica, of: name, client: number)
            if !isCopied { system.ledger.check(edits: edits[replica.logID] ?? 0, of: replica, name, client: number) }
            // Check only when all journal writes have reached the disk.
            guard machine?.keptMark == machine?.journalMark else { continue }
            // The list may also be open under a former name.
            let pending = machine?.subscriptions.values.filter { $0.replica.logID == replica.logID } ?? []
            let lost = system.promises.lost(
                client: number, list: replica.logID, pending: pending.flatMap(\.replica.pending),
                committed: system.ledger.inserted)
            guard let lost, !kept(ofClosedOnes: true).contains(lost) else { continue }
            system.report(.intention, "client \(number) has lost \(lost) of \(name)")
        }
    }
}
