import EventLoop
import HandClient
import HandCore
import HandFormats
import HandScreens
import HandSync
import HandWire

/// The screens on one server: carries out their commands there, and tells them what happens.
final class ScreenSession: MachineShell {
    let client: JournaledClient
    private let older: OlderSteps
    private let others: OtherLists
    private let tell: (Event) -> Void

    init(_ server: Runner.Server, on loop: Loop, tell: @escaping (Event) -> Void) {
        client = JournaledClient(server.configuration, loop: loop, journal: server.journal)
        older = OlderSteps(client)
        others = OtherLists(client)
        self.tell = tell
        client.shell = self
    }

    func start() {
        client.askJournal(otherwise: []) {
            try $0.lists()
        } then: { [weak self] lists in
            self?.report(.kept((try? lists.get()) ?? []))
        }
        client.askJournal(otherwise: [:]) { [configuration = client.configuration] _ in
            configuration.seen()
        } then: { [weak self] seen in
            self?.report(.seen((try? seen.get()) ?? [:]))
        }
        client.start()
    }

    /// Closes the connection and the journal; nothing is told any more. Returns the reason why edits are lost, or nil
    /// if all are kept.
    func close(then closed: (() -> Void)? = nil) -> String? {
        client.shell = nil
        return client.close(then: closed)
    }

    /// The number of edits that the server has not confirmed.
    var waitingEdits: Int { client.machine.subscriptions.values.reduce(0) { $0 + $1.replica.unconfirmedCount } }

    // MARK: What happens

    private func report(_ event: Event) {
        if !client.isClosed { tell(event) }
    }

    func carryOut(_ effect: ClientMachine.Effect) {
        switch effect {
        // The screens hear of the connection once, not once for each list.
        case .list(_, .status): break
        case .list(let list, _) where others.contains(list): break
        case .list(let list, let event): report(.list(list, event))
        case .status(let status):
            report(.connection(status, refused: client.machine.refusal))
            if case .online = status { others.connected() }
        case .latency(let milliseconds): report(.latency(milliseconds))
        case .warning(_, let text): report(.warning(Printable.clean(text)))
        case .connect, .send, .disconnect, .keep, .takeID, .answer: break
        }
    }

    func carriedOut() {
        older.listsChanged()
        others.listsChanged()
    }

    // MARK: Commands

    func carryOut(_ command: Command) {
        switch command {
        case .reconnect: client.start()
        case .follow(let list): follow(list)
        case .presence(let list, let focus): client.perform { $0.setPresence(list, focus) }
        case .keepFolds(let list, let items):
            // A fold that cannot be kept is no loss.
            guard let log = log(of: list) else { break }
            client.askJournal(otherwise: (), { try $0.keep(folds: items, of: log) }, then: { _ in })
        case .keepSeen(let list, let seen):
            // What cannot be remembered is shown as new once more.
            client.askJournal(otherwise: (), { try $0.note(seen, of: list) }, then: { _ in })
        case .fetchNews(let list, let since): fetchNews(list, since: since)
        case .fetchItemHistory(let list, let item, let limit): fetchHistory(of: item, in: list, limit)
        case .retrieve(let list, let delta, let loss):
            change(list, command) { machine in
                // The list may have what was lost.
                if !delta.isIdentity { try machine.edit(list, delta) }
                machine.forget(loss, of: list)
                return true
            }
        case .forget(let list, let loss): client.perform { $0.forget(loss, of: list) }
        case .edit(let list, let delta):
            change(list, command) { machine in
                try machine.edit(list, delta)
                return true
            }
        case .undo(let list): take(.undo, list, command)
        case .redo(let list): take(.redo, list, command)
        case .fetchLists: fetchLists()
        case .create(let name, let rules): ask(command) { .create(request: $0, name: name, rules: rules) }
        case .deleteList(let name): ask(command) { .delete(request: $0, name: name) }
        case .renameList(let name, let new): ask(command) { .rename(request: $0, name: name, newName: new) }
        case .undeleteList(let name):
            ask(command) { .undelete(request: $0, name: name, deletion: nil, newName: name) }
        case .fetchHistory(let name, let from, let limit):
            client.askAll(CommitPages(of: name, from: from, through: from + limit - 1)) { [weak self] pages, failure in
                let answer = Event.history(list: name, pages.commits, people: pages.people)
                self?.report(failure.map { .failed(command, $0) } ?? answer)
            }
        case .fetchState(let name, let revision): ask(command) { .fetch(request: $0, name: name, revision: revision) }
        case .fetchArrivals(let list): fetchArrivals(list, command)
        case .fetchEarlierTexts(let list):
            guard let replica = client.machine.subscriptions[list]?.replica else { break }
            client.askAll(EarlierTexts(of: list, at: replica.revision)) { [weak self] texts, _ in
                self?.report(.earlierTexts(list: list, texts.ranked))
            }
        // The runner carries these out.
        case .open, .back, .replace, .say, .transfer, .quit, .suspend, .redraw, .bell, .notify, .workOn, .openAddress,
            .visit, .forgetDraft, .editOutside:
            break
        }
    }

    /// Reads when the items came that the server has.
    private func fetchArrivals(_ list: String, _ command: Command) {
        guard let replica = client.machine.subscriptions[list]?.replica else { return }
        client.askAll(ArrivalPages(of: list, replica.confirmed.ids, at: replica.revision)) {
            [weak self] pages, failure in
            self?.report(failure.map { .failed(command, $0) } ?? .arrivals(list: list, pages.revisions))
        }
    }

    private func follow(_ list: String) {
        if client.isFollowed(list), !others.contains(list) { return }
        others.remove(list)
        client.follow(list) { [weak self] outcome in
            guard let self, !client.isClosed else { return }
            if case .failure(let error) = outcome {
                return report(.list(list, .refused(.internalError, "its copy on disk cannot be read: \(error)")))
            }
            if let state = client.state(of: list) { report(.list(list, .changed(state, Replica.Update()))) }
            client.askJournal(otherwise: []) { [log = log(of: list)] in
                try log.map($0.folds) ?? []
            } then: { [weak self] items in
                self?.report(.folds(list: list, (try? items.get()) ?? []))
            }
            client.askJournal(otherwise: []) { [person = client.configuration.person] in
                try $0.losses(of: list, by: person)
            } then: { [weak self] kept in
                guard let losses = try? kept.get(), !losses.isEmpty else { return }
                let (told, untold) = (losses.filter(\.isTold), losses.filter { !$0.isTold })
                self?.report(.losses(list: list, told: told.map(\.loss), untold: untold.map(\.loss)))
            }
        }
    }

    /// The history of a list; nil until it is known.
    private func log(of list: String) -> UInt64? {
        client.machine.subscriptions[list].map(\.replica.logID).flatMap { $0 == 0 ? nil : $0 }
    }

    /// Undoes or redoes an edit that the replica remembers, or else an older edit.
    private func take(_ step: UndoStep, _ list: String, _ command: Command) {
        change(list, command) {
            try $0.take(step, list)
        } otherwise: {
            older.take(step, on: list) { [weak self] problem in
                self?.report(problem.map { .failed(command, $0) } ?? .done(command))
            }
        }
    }

    private func change(
        _ list: String, _ command: Command, _ body: (inout ClientMachine) throws -> Bool,
        otherwise: () -> Void = {}
    ) {
        guard client.state(of: list) != nil else {
            return report(.failed(command, "the list '\(Printable.clean(list))' is not followed any more"))
        }
        do {
            if try client.edit(body) { report(.done(command)) } else { otherwise() }
        } catch {
            report(.failed(command, "\(error)"))
        }
    }

    // MARK: Requests

    /// Sends a request. The answer comes as an event.
    private func ask(_ command: Command, _ message: (RequestNumber) -> UpMessage) {
        client.ask {
            $0.ask(message)
        } then: { [weak self] answer in
            if let failure = answer.failure { return self?.report(.failed(command, failure)) ?? () }
            if let event = command.event(answer) { self?.report(event) }
        }
    }

    /// Requests the commits of a list since a revision, up to a number of them. What cannot be answered is no news.
    private func fetchNews(_ list: String, since: Int) {
        let person = client.machine.granted?.person ?? client.configuration.person
        let request = NewsOfCommits(of: list, since: since, for: person, limit: Self.maxCommitsOfNews)
        client.askAll(request) { [weak self] news, _ in self?.report(.news(list: list, since: since, news)) }
    }

    private static let maxCommitsOfNews = 1_000

    /// Requests what happened to an item. A connection that is lost ends the reading.
    private func fetchHistory(of item: ItemID, in list: String, _ limit: Int) {
        client.askAll(ItemHistory(of: item, in: list, limit: limit)) { [weak self] history in
            self?.report(.itemHistory(list: list, item, history))
        } then: { [weak self] history, _ in
            self?.report(.itemHistory(list: list, item, history))
        }
    }

    /// Requests the lists. Reports no error without a connection, because the screen already shows that
    /// the connection is missing.
    private func fetchLists() {
        client.askAll(ListPages()) { [weak self] pages, failure in
            if failure == nil { self?.report(.lists(pages.lists)) }
        }
    }
}

extension Command {
    /// What the server's answer to this command's request means for the screens.
    fileprivate func event(_ answer: ClientMachine.Answer) -> Event? {
        switch (self, answer) {
        case (.create, .done), (.deleteList, .done), (.renameList, .done), (.undeleteList, .done): .done(self)
        case (.fetchState(let list, _), .state(let hand, let revision)):
            .state(list: list, revision: revision, hand)
        default: nil
        }
    }
}
