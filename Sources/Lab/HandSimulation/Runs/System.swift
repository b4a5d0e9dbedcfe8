import HandCore
import HandSync
import HandWire

/// One simulated world: a server on its disk or several servers on a shared store, the clients, the network between
/// them, and the checkers.
final class System {
    let schedule: FaultSchedule
    let scheduler = Scheduler()
    let disk: VirtualDisk
    let bench: (any StoreBench)?
    private(set) lazy var store = makeStore()
    private(set) lazy var ledger = Ledger(self)
    let promises = Promises()
    let mergers = Mergers()
    var reach = Reach()
    /// The log id of each list number, according to the last client that submitted to it.
    private var logIDs: [ListNumber: UInt64] = [:]
    /// Whether several servers share the store.
    let isShared: Bool
    private(set) lazy var servers = (0..<(isShared ? schedule.servers : 1)).map { SimulatedServer(self, number: $0) }
    /// With copies. The command has the next number.
    static let maxClients = 5
    lazy var clients = (0..<schedule.clients).map { SimulatedClient(self, number: $0) }
    private lazy var command = SimulatedCommand(self)
    private(set) var finding: Finding?
    private(set) var lines: [String] = []
    private let isTracing: Bool
    private var links = 0
    /// Whether any delta was altered on its way to a client.
    var hasGarbled = false
    /// Whether the store has lost commits that were acknowledged.
    private(set) var hasLostCommits = false
    private(set) var isCalm = false

    init(_ schedule: FaultSchedule, on bench: (any StoreBench)?, isTracing: Bool) {
        self.schedule = schedule
        self.isTracing = isTracing
        self.bench = bench
        // Whatever a real store has answered is on the store's disk. Worlds with a real store have only one server.
        isShared = schedule.servers > 1 && bench == nil
        disk = VirtualDisk(flushesAtOnce: bench != nil || isShared)
        disk.lag = isShared ? schedule.lag : 0
        disk.onDurable = { [unowned self] in ledger.record($0) }
        reach.note([.oneServer, .oneServer, .twoServers, .threeServers, .fourServers][servers.count] as Reach.World)
        if disk.lag > 0 { reach.note(Reach.World.standby) }
    }

    /// Breaks the world's reference cycles.
    func dismantle() {
        scheduler.clear()
        disk.onDurable = { _ in }
    }

    private func makeStore() -> any CommitStore {
        guard let bench else {
            let store = SimulatedStore(disk, isShared: isShared)
            store.now = { [unowned self] in scheduler.now }
            return store
        }
        return MirroredStore(bench, disk) { [unowned self] in report(.store, $0) }
    }

    /// A standby of the store, which lacks the last commits, takes over. Returns false if no standby lacks any commits.
    func failOver(_ random: inout SplitMix64) -> Bool {
        hasLostCommits = true
        let isBehind = disk.failOver(&random)
        (store as? SimulatedStore)?.presence = [:]
        ledger.wentBack(to: disk.durable)
        return isBehind
    }

    var isDiskFull: Bool {
        get { bench?.isFull ?? disk.isFull }
        set { if let bench { bench.isFull = newValue } else { disk.isFull = newValue } }
    }

    /// Ends the server's process abruptly.
    func crashStore(_ random: inout SplitMix64) {
        let (kept, lost) = disk.crash(&random)
        if kept > 0 { reach.note(Reach.Store.keepsWrites) }
        if lost > 0 { reach.note(Reach.Store.losesWrites) }
        guard let bench else { return }
        let torn = (0..<random.next(below: 3) * random.next(below: 3_000)).map { _ in
            UInt8(truncatingIfNeeded: random.next())
        }
        do { try bench.crash(torn: torn) } catch { report(.store, "the store does not open again: \(error)") }
    }

    // MARK: Watching

    func report(_ checker: Finding.Checker, _ text: String) {
        guard finding == nil, !hasLostCommits || checker.outlivesLoss else { return }
        finding = Finding(checker: checker, text: text, time: scheduler.now)
        trace("\(checker.rawValue): \(text)")
    }

    func trace(_ text: @autoclosure () -> String) {
        if isTracing { lines.append("\(scheduler.now) ms  \(text())") }
    }

    /// A message other than a submission costs at most as much as rebuilding the longest list from its first commit.
    func checkWork(_ heaviest: Int) {
        let longest = ledger.histories.values.reduce(0) { max($0, $1.commits.count) }
        if heaviest > 5_000 + 150 * longest {
            report(.work, "a message cost \(heaviest), although no list has more than \(longest) commits")
        }
    }

    func sent(_ frame: [UInt8], by client: SimulatedClient) {
        var reader = FrameReader(limit: frame.count)
        for body in frame.withUnsafeBytes({ reader.bodies(in: $0) }) {
            switch try? body.withUnsafeBytes({ try UpMessage($0) }) {
            case .submit(let submission): sent(submission, by: client)
            case .unsubscribe(let list):
                client.watch.unsubscribed(from: list)
                trace("client \(client.number) leaves list \(list)")
            case .subscribe(let ask):
                trace("client \(client.number) asks for '\(ask.name)' from \(ask.revision), request \(ask.request)")
            default: break
            }
        }
    }

    /// A kept submission may leave when its list is already closed. Such a submission is only recorded.
    private func sent(_ submission: Submission, by client: SimulatedClient) {
        guard let machine = client.machine, let author = machine.author else { return }
        let open = machine.subscriptions.first { $0.value.list == submission.list }
        if let replica = open?.value.replica { logIDs[submission.list] = replica.logID }
        guard let logID = logIDs[submission.list] else { return }
        if !client.isCopied, !mergers.isUsedOnce(submission, list: logID, author: author, client: client.number) {
            report(.protocol, "client \(client.number) sends something else as submission \(submission.sequence)")
        }
        let base = open?.value.replica.revision == submission.base ? open?.value.replica.confirmed : nil
        mergers.sent(
            submission, on: base, list: logID, author: author, client: client.number,
            seen: ledger.histories[logID]?.seen ?? 0)
        mayBeDecidedTwice(submission, of: logID, by: client)
        guard let name = open?.key else { return }
        let what = "client \(client.number) sends submission \(submission.sequence) of \(name)"
        if !client.hasKept(submission, of: logID) { report(.journal, "\(what) before it is kept") }
        if !client.watch.allows(submission) { report(.protocol, "\(what) twice") }
    }

    func received(_ commit: Commit, of name: String, by client: SimulatedClient) {
        if client.link?.serverEnd.hasGarbled == true { return }
        ledger.check(commit, of: name, client: client.number)
    }

    func noticed(_ notice: Replica.Notice, of name: String, by client: SimulatedClient) {
        reach.note(notice)
        switch notice {
        case .acknowledged(let sequence, let revision):
            // If a copy of the client has made submissions in the meantime, a snapshot reports only the last of them.
            guard let author = client.machine?.author, !client.isCopied else { return }
            ledger.check(
                acknowledged: sequence, through: revision, of: name, author: author, client: client.number)
        case .rejected(let reason, let delta, _):
            trace("client \(client.number) is rejected on \(name), \(delta.summary): \(reason)")
            promises.rejected(delta.put)
            let waiting = client.machine?.subscriptions[name]?.replica.pendingItems ?? []
            if !hasGarbled, !client.isCopied, let author = client.machine?.author {
                promises.refused(delta.insertedItems.filter { !waiting.contains($0.id) }, of: author)
            }
            if case .doesNotFit = reason { report(.protocol, "client \(client.number): \(reason)") }
        case .diverged(let revision):
            trace("client \(client.number) has noticed that \(name) at \(revision) has diverged")
            strike(client)
            if client.link?.serverEnd.hasGarbled != true {
                report(.digest, "client \(client.number) diverged from \(name) at \(revision)")
            }
        case .usedTwice(let revision):
            // A client does not recognize its own commit if its delta was altered on the way.
            if !hasGarbled, !client.isCopied {
                report(.exactlyOnce, "client \(client.number) does not recognize its own commit \(revision) of \(name)")
            }
        case .superseded(_, .words(let loss, _), let override) where override.author == 0:
            promises.rejected(UniqueWords.Put(wordsOf: loss.lost))
        case .superseded(let item, _, let override) where override.author == 0:
            // A snapshot does not say who overwrote an item. The reader only learns that the item is gone.
            if client.followed[name]?.contains(where: { $0.id == item.id }) != true {
                promises.rejected(UniqueWords.Put(item))
            }
        case .superseded, .keptWords, .restored: break
        }
    }

    /// In an unlucky world, breaks a client's connection or ends its process. Call this at moments that are so rare
    /// that random faults hardly ever meet them. A copied client is spared: a snapshot tells only of the last
    /// submission under its id, which may be another copy's.
    func strike(_ client: SimulatedClient) {
        guard schedule.isUnlucky, !isCalm, !client.isCopied else { return }
        let isCut = (schedule.seed ^ scheduler.now) & 1 == 0
        scheduler.after(0) { isCut ? client.link?.cut() : client.die() }
    }

    /// In an unlucky world, moves the author of an edit that has no room in its list to another server. The edit
    /// arrives there first, and at the former server when the list may have room again.
    private func mayBeDecidedTwice(_ submission: Submission, of logID: UInt64, by client: SimulatedClient) {
        let coin = schedule.seed ^ scheduler.now
        guard schedule.isUnlucky, !isCalm, isShared, coin & 1 == 0, !submission.delta.insertedItems.isEmpty,
            let limit = disk.durable.lists[submission.list]?.stored.rules.maximumCount,
            let count = ledger.histories[logID]?.list.items.count, count >= limit
        else { return }
        scheduler.after(0) { [unowned self] in move(client, delay: coin % 10_000) }
    }

    // MARK: The network

    func connect(_ name: String, to server: SimulatedServer) -> Link? {
        guard server.isUp else { return nil }
        links += 1
        let seed = schedule.seed &+ UInt64(links) &* 0x9E37_79B9
        func channel(_ number: UInt64) -> SimulatedChannel {
            SimulatedChannel(
                scheduler, seed: seed ^ number, latency: UInt64(schedule.latency), jitter: UInt64(schedule.jitter),
                capacity: schedule.capacity)
        }
        let link = Link(up: channel(1), down: channel(2), name: name)
        if isTracing {
            link.serverEnd.tap = { [unowned self] message in
                if let text = message.traced { trace("\(server.name) to \(name): \(text)") }
            }
        }
        server.accept(link)
        return link
    }

    // MARK: The run

    /// Runs everything from start to end. Afterwards, `finding` holds what was wrong.
    func run(_ steps: [Step]) {
        for server in servers { server.start() }
        for client in clients { client.start() }
        command.start()
        prepareLists()
        // In some worlds, everybody is connected at the start.
        if schedule.seed & 1 == 0 { wait(3_000) }
        for step in steps {
            wait(step.pause)
            guard finding == nil else { return }
            trace("\(step)")
            take(step)
        }
        guard finding == nil else { return }
        finish()
    }

    /// Creates the lists that exist at the start.
    private func prepareLists() {
        let names = (0..<schedule.lists).map(schedule.list)
        for (index, list) in names.enumerated() {
            _ = try? store.create(
                list.name, rules: list.rules, logID: 1 << 32 | UInt64(index + 77),
                deckSeed: list.rules.hasDeck ? 5 : nil,
                owner: nil)
        }
        disk.flush(disk.writes)
        for client in clients { for list in names { client.open(list.name) } }
    }

    private func wait(_ milliseconds: UInt64) {
        scheduler.run(until: scheduler.now + milliseconds) { finding != nil }
    }

    /// Stops all faults. All clients must then reach the same list within ten minutes of simulated time.
    private func finish() {
        trace("all faults stop")
        isCalm = true
        isDiskFull = false
        disk.failsFlush = false
        for server in servers { (server.diskDelay, server.isCutOff) = (0, false) }
        if hasLostCommits { editOnceMore() }
        settle { self.unfinished() }
        // Only its silence reveals a broken connection. Until then, people who are gone may still be shown.
        if finding == nil { wait(3 * schedule.limits.idleDeadline) }
        if finding == nil { settle { self.unfinished() ?? self.wrongPresence() } }
        if finding == nil { checkEnd() }
    }

    /// A client that has seen as many commits as the server, but different ones, notices the difference only with the
    /// next commit. This method makes such a commit.
    private func editOnceMore() {
        for round in 0..<4 {
            wait(30_000)
            for client in clients { client.start() }
            for index in 0..<schedule.lists {
                var random = SplitMix64(seed: schedule.seed &+ UInt64(round))
                // A full list accepts no item, and an empty one has none to delete.
                let kind: FaultSchedule.Kind = round.isMultiple(of: 2) ? .insert : .delete
                edit(kind, clients[round % clients.count], schedule.list(index).name, &random)
            }
        }
    }

    private typealias Unrest = (checker: Finding.Checker, text: String)

    /// Runs until `unrest` finds nothing.
    private func settle(_ unrest: () -> Unrest?) {
        let deadline = scheduler.now + 600_000
        var found: Unrest?
        repeat {
            wait(1_000)
            for client in clients {
                client.start()
                for list in disk.durable.present { client.open(list.stored.name) }
                client.openKept()
            }
            found = unrest()
        } while found != nil && finding == nil && scheduler.now < deadline
        if let found { report(found.checker, found.text) }
    }

    /// Returns how some client's or server's list differs from the true one, or nil if none differs.
    private func unfinished() -> Unrest? {
        func unrest(_ text: String) -> Unrest { (.convergence, text) }
        guard servers.allSatisfy(\.isUp) else { return unrest("a server is down") }
        for list in disk.durable.present {
            guard let history = ledger.histories[list.stored.logID] else { return unrest("a list has no history") }
            let truth = Hand(history.list.items, rules: list.stored.rules)
            for server in servers {
                guard let (hand, revision) = server.machine?.durable(list.stored.name) else { continue }
                if revision != history.commits.count || hand != truth {
                    return unrest("\(server.name) has a different \(history.name) at \(revision)")
                }
            }
            for client in clients {
                guard let subscription = client.machine?.subscriptions[list.stored.name], subscription.isLive else {
                    return unrest("client \(client.number) does not follow \(list.stored.name)")
                }
                let replica = subscription.replica
                if replica.hasPending {
                    return unrest("client \(client.number) has something pending in \(history.name)")
                }
                if replica.revision != history.commits.count || replica.view != truth {
                    return unrest("client \(client.number) has a different \(history.name) at \(replica.revision)")
                }
            }
        }
        return nil
    }

    /// Returns who sees other people than those present, or nil if everybody sees the right ones.
    private func wrongPresence() -> Unrest? {
        for name in disk.durable.present.map(\.stored.name).sorted() {
            for client in clients {
                var expected: [AuthorID: Focus?] = [:]
                for case let machine? in clients.map(\.machine) {
                    if let author = machine.author { expected[author] = .some(machine.subscriptions[name]?.focus) }
                }
                let seen = (client.others[name] ?? [:]).mapValues(\.place.focus)
                guard seen != expected else { continue }
                func text(_ people: [AuthorID: Focus?]) -> String {
                    people.sorted { $0.key < $1.key }.map { author, focus in
                        "\(author)" + (focus.map { " \($0)" } ?? "")
                    }.joined(separator: ", ")
                }
                return (.presence, "client \(client.number) sees \(text(seen)) on \(name), not \(text(expected))")
            }
        }
        return nil
    }

    private func checkEnd() {
        for list in disk.durable.present {
            let name = list.stored.name
            guard let history = ledger.histories[list.stored.logID] else { continue }
            if let problem = promises.problem(with: history.logID, called: name, history.list.items) {
                report(.intention, problem)
            }
            do {
                let start = try store.load(list.stored.number)
                if start.hand != Hand(history.list.items, rules: list.stored.rules) {
                    report(.durability, "\(name) loads as a different list")
                }
            } catch { report(.durability, "\(name) does not load: \(error)") }
        }
    }
}

extension DownMessage {
    /// The text for a trace, or nil for messages that would only clutter it.
    fileprivate var traced: String? {
        switch self {
        case .subscribed(let subscribed): Self.traced(subscribed)
        case .rejected(_, let sequence, let reason): "submission \(sequence) is rejected: \(reason)"
        case .stale(_, let sequence, let head): "submission \(sequence) is stale, the list is at \(head)"
        case .acknowledged(_, let sequence, let revision): "submission \(sequence) was made at \(revision)"
        case .error(let code, let request, _, _, _): "error \(code), of request \(request)"
        case .renamed(_, let name): "the list is called \(name)"
        case .welcome, .granted, .chunk, .commit, .presence, .pong, .done, .lists, .deletedLists, .history, .state,
            .excerpt:
            nil
        }
    }

    private static func traced(_ subscribed: Subscribed) -> String {
        let start =
            switch subscribed.start {
            case .resumed(let head, _): "resumed through \(head)"
            case .snapshot(let revision, let count, _): "snapshot of \(count) items at \(revision)"
            case .newest(let revision): "no items, from \(revision) on"
            }
        return "list \(subscribed.list), request \(subscribed.request): \(start), "
            + "last sequence \(subscribed.lastSequence)"
    }
}
