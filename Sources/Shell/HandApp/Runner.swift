import Disk
import EventLoop
import HandClient
import HandCore
import HandFormats
import HandScreens
import HandSync
import HandWire

/// The screen that the client draws on: a terminal, or a substitute in tests and measurements.
package protocol Screenful: AnyObject {
    func draw(_ canvas: Canvas)
    func redraw()
    func suspend()
    /// Leaves the terminal to another program, until `takeBack`.
    func handOver()
    func takeBack()
    func bell()
    func close()
}

/// Runs the terminal client on a loop: passes events to the model, carries out the model's commands, draws the model.
///
/// Everything happens on the loop's thread. Events from the server are collected during a turn of the loop, and handled
/// at the end of the turn or before the next key, whichever is first. Then the screen is drawn once, the journal is
/// written, and the output is sent.
package final class Runner {
    /// Makes the engine of a server, ready to be started on the runner's loop.
    package typealias MakeEngine = @Sendable (Loop) -> ClientEngine
    /// Prepares an engine for a location's server: opens its journal, for example. Runs on another thread, because the
    /// preparation waits for the disk.
    package typealias Connect = @Sendable (Location) throws -> MakeEngine

    let loop: Loop
    let screen: any Screenful
    private let connect: Connect
    private(set) var engine: ClientEngine
    private var app: App
    private var events: [Event] = []
    private let clock: Timer
    private let worker: Timer
    private let seeker: Timer
    private let quitter: Timer
    private var isQuitting = false
    /// Milliseconds that the server has to take the last edits when the user quits.
    private static let quittingTime: UInt64 = 1_000
    /// Lists on the screen that the server does not have. These lists may come back.
    private var missing: Set<String> = []
    /// The time between two searches for the missing lists, in milliseconds.
    private static let seekingInterval: UInt64 = 5_000
    private var hook: TurnHook?
    private var isClosed = false
    /// The reason why edits are lost after closing, or nil if no edits are lost.
    package private(set) var loss: String?
    /// What the user should know after closing: where typed text is kept, and how many edits wait; nil if there is
    /// neither.
    package private(set) var note: String?
    /// The way to another server, while the user goes there.
    private var journey: Journey?
    /// Whether the journal of the server that the user has left is being closed.
    private var isClosingJournal = false
    private var needsDrawing = true
    /// The user's editor, while it has the terminal.
    private var outside: OutsideEditor?

    private enum Journey {
        case preparing(Location)
        case ready(Location, MakeEngine)
    }

    /// - Parameter connect: called for each server that the user goes to later.
    package init(
        _ settings: AppState.Settings, opening route: Route, on loop: Loop, screen: any Screenful,
        engine makeEngine: MakeEngine, connect: @escaping Connect
    ) {
        self.loop = loop
        self.screen = screen
        self.connect = connect
        app = App(settings, opening: route)
        clock = Timer(loop)
        worker = Timer(loop)
        seeker = Timer(loop)
        quitter = Timer(loop)
        // This hook is added before the engine's, so that the edits of a turn are kept and sent in the same turn.
        let box = LaterHook()
        hook = loop.onTurnEnd { box.body?() }
        engine = makeEngine(loop)
        box.body = { [unowned self] in endTurn() }
    }

    private final class LaterHook {
        var body: (() -> Void)?
    }

    /// Starts connecting and draws the first screen.
    package func start() {
        listen()
        let commands = app.start(now: loop.now)
        for command in commands { carryOut(command) }
        endTurn()
    }

    /// Ends everything once the last edits are sent, after `quittingTime` at the latest, or at once if the user quits
    /// again.
    private func quit() {
        guard engine.waitingEdits > 0, app.state.isOnline, !isQuitting else { return close() }
        isQuitting = true
        quitter.start(after: Self.quittingTime) { [unowned self] in close() }
    }

    /// Ends everything: the connection, the journal, the screen.
    package func close() {
        guard !isClosed else { return }
        // The text that the user's own editor has saved belongs to the draft.
        if let text = outside?.saved { _ = app.update(.editedOutside(text), now: loop.now) }
        isClosed = true
        keepDrafts()
        noteWaiting()
        let losses = [loss, engine.close(), outside?.leave()].compactMap(\.self)
        loss = losses.isEmpty ? nil : losses.joined(separator: "\n")
        screen.close()
        hook?.cancel()
        clock.close()
        worker.close()
        seeker.close()
        quitter.close()
        loop.stop()
    }

    /// Says that edits were not sent, so that nobody leaves in the belief that others have them.
    private func noteWaiting() {
        let waiting = engine.waitingEdits
        guard waiting > 0, loss == nil else { return }
        let (wait, them) = waiting == 1 ? ("waits", "it") : ("wait", "them")
        let edits = "\(Amount.count(waiting, "edit")) of yours \(wait) to be sent; 'hand sync' sends \(them)"
        note = [note, edits].compactMap(\.self).joined(separator: "\n")
    }

    /// Handles ctrl-c. Its signal goes to all programs of the terminal: if an editor has the terminal, the signal is
    /// meant for the editor.
    package func interrupt() {
        if outside == nil { close() }
    }

    /// Takes the user's input. The input is handled at once, on the list as the user saw it: nothing else may change
    /// the list in between.
    package func take(_ input: Input) {
        take(.input(input))
        handleEvents()
    }

    func take(_ event: Event) {
        guard !isClosed else { return }
        events.append(event)
        needsDrawing = true
    }

    private func listen() {
        engine.onStatus = { [unowned self] status in take(.connection(status, refused: engine.machine.refusal)) }
        engine.onWarning = { [unowned self] text in take(.warning(Printable.clean(text))) }
        engine.onLatency = { [unowned self] milliseconds in take(.latency(milliseconds)) }
        engine.keptLists { [unowned self] in take(.kept($0)) }
        engine.start()
        guard let folder = drafts else { return }
        Work.submit(loop) {
            folder.read()
        } then: { [weak self, engine] drafts in
            if let self, self.engine === engine, !drafts.isEmpty { take(.drafts(drafts)) }
        }
    }

    // MARK: Drafts

    /// The folder for texts that are being typed when the client ends; nil if this client keeps nothing on disk.
    private var drafts: DraftFolder? {
        engine.journalPath.map { DraftFolder(path: PrivateFile.folder(of: $0) + "/drafts") }
    }

    /// Writes the texts that are being typed to disk.
    private func keepDrafts() {
        for draft in app.unkeptDrafts {
            let place = "'\(Printable.clean(draft.list))'"
            do {
                guard let drafts else { throw Unkept() }
                try drafts.keep(draft)
                note = "what you were typing is kept; it is offered again when you open \(place)"
            } catch {
                loss = "what you were typing in \(place) is lost (\(error)): \(Printable.clean(draft.text))"
            }
        }
    }

    private struct Unkept: Error, CustomStringConvertible {
        let description = "this client keeps nothing on disk"
    }

    // MARK: Turns

    /// Handles the events in order. Events that an event causes come before the waiting events.
    private func handleEvents() {
        while !events.isEmpty, !isClosed {
            let event = events.removeFirst()
            let waiting = events
            events = []
            for command in app.update(event, now: loop.now) where !isClosed { carryOut(command) }
            events += waiting
        }
    }

    private func endTurn() {
        handleEvents()
        tellState()
        if isQuitting, engine.waitingEdits == 0 { close() }
        guard !isClosed else { return }
        leave()
        if needsDrawing {
            needsDrawing = false
            screen.draw(app.view())
        }
        guard let deadline = app.deadline else { return clock.stop() }
        clock.start(after: deadline > loop.now ? deadline - loop.now : 1) { [unowned self] in take(.tick) }
    }

    /// Passes on the facts that the engine knows but does not report: the wait for an answer, and the user's rights.
    private func tellState() {
        let (since, granted) = (engine.awaitingSince, engine.machine.granted)
        if since != app.state.awaitingSince { take(.awaiting(since: since)) }
        if granted != nil, granted != app.state.granted { take(.granted(granted)) }
        handleEvents()
    }

    // MARK: Commands

    private func carryOut(_ command: Command) {
        switch command {
        case .open, .back, .replace, .say: break
        case .quit: quit()
        case .suspend: screen.suspend()
        case .redraw: screen.redraw()
        case .bell: screen.bell()
        case .reconnect: engine.start()
        case .workOn: worker.start(after: 0) { [unowned self] in take(.continueWork) }
        case .follow(let list): follow(list)
        case .presence(let list, let focus):
            engine.perform { $0.setPresence(list, focus) }
        case .edit(let list, let delta):
            change(list, command) { machine in
                try machine.edit(list, delta)
                return true
            }
        case .undo(let list): take(.undo, list, command)
        case .redo(let list): take(.redo, list, command)
        case .forget(let list, let loss): engine.perform { $0.forget(loss, of: list) }
        case .openAddress(let address):
            if let problem = Opener.open(address, loop) { take(.failed(command, problem)) }
        case .visit(let location): visit(location)
        case .forgetDraft(let name): drafts?.forget(name)
        case .editOutside(let text, let name): editOutside(text, named: name, command)
        case .fetchLists: askForLists()
        case .create(let name, let rules):
            ask(command, { .create(request: $0, name: name, rules: rules) }, { _ in .done(command) })
        case .deleteList(let name): ask(command, { .delete(request: $0, name: name) }, { _ in .done(command) })
        case .fetchHistory(let name, let from, let limit):
            ask(command) {
                .history(request: $0, name: name, from: from, limit: limit)
            } _: { answer in
                guard case .history(let commits, let people) = answer else { return nil }
                let names = Dictionary(people.map { ($0.author, $0.name) }, uniquingKeysWith: { $1 })
                return .history(list: name, commits, people: names)
            }
        case .fetchState(let name, let revision):
            ask(command) {
                .fetch(request: $0, name: name, revision: revision)
            } _: { answer in
                guard case .state(let hand, let revision) = answer else { return nil }
                return .state(list: name, revision: revision, hand)
            }
        }
    }

    /// Makes an edit of this user. If `body` returns false, calls `otherwise`, which may use the machine again.
    private func change(
        _ list: String, _ command: Command, _ body: (inout ClientMachine) throws -> Bool,
        otherwise: () -> Void = {}
    ) {
        // A deleted list stays on the screen. It cannot be edited.
        guard engine.state(of: list) != nil else { return take(.failed(command, "\(engine.end(of: list))")) }
        do {
            if try engine.perform(body) { take(.done(command)) } else { otherwise() }
        } catch let error as Replica.EditError {
            take(.failed(command, "\(ClientError.notMade(error))"))
        } catch {
            take(.failed(command, "\(error)"))
        }
    }

    /// Undoes or redoes an edit that the replica remembers, or else an older edit, for which the server is asked.
    private func take(_ step: UndoStep, _ list: String, _ command: Command) {
        change(list, command) {
            try $0.take(step, list)
        } otherwise: {
            takeOlder(step, list, command)
        }
    }

    private func takeOlder(_ step: UndoStep, _ list: String, _ command: Command) {
        let nothing = "nothing of yours is left to \(step)"
        guard engine.state(of: list)?.isLive == true else {
            return take(.failed(command, nothing + " on this machine; older edits need the server"))
        }
        do {
            try engine.takeOlder(step, on: list) { [weak self] outcome in
                switch outcome {
                case .success(true): self?.take(.done(command))
                case .success(false): self?.take(.failed(command, nothing))
                case .failure(let error): self?.take(.failed(command, "\(error)"))
                }
            }
        } catch {
            take(.failed(command, "\(error)"))
        }
    }

    private func follow(_ list: String) {
        if engine.isFollowed(list) { return }
        engine.follow(list) { [weak self] outcome in
            guard let self, !isClosed else { return }
            if case .failure(let error) = outcome {
                return take(.list(list, .refused(.internalError, "its copy on disk cannot be read: \(error)")))
            }
            listen(to: list)
            engine.keptLosses(of: list) { [unowned self] losses in
                let (told, untold) = (losses.filter(\.isTold), losses.filter { !$0.isTold })
                if losses.isEmpty { return }
                take(.losses(list: list, told: told.map(\.loss), untold: untold.map(\.loss)))
            }
        }
    }

    private func listen(to list: String) {
        var name = list
        engine.listen(to: list) { [unowned self] event in
            switch event {
            // `onStatus` already reports the connection.
            case nil, .status: return
            case .refused(.listDeleted, _), .refused(.noSuchList, _), .editsWait: seek(name)
            default: break
            }
            if let event { take(.list(name, event)) }
            if case .renamed(let new)? = event { name = new }
        }
    }

    /// Looks for a list that the server does not have any more, until the list is there again.
    private func seek(_ list: String) {
        guard app.state.list(list).state.isLoaded else { return }
        missing.insert(list)
        seeker.start(after: Self.seekingInterval) { [unowned self] in
            let wanted = missing
            missing = []
            for list in wanted where !engine.isFollowed(list) {
                engine.follow(list) { [weak self] outcome in
                    if let self, !isClosed, case .success = outcome { listen(to: list) }
                }
            }
        }
    }

    /// Gives the terminal to the user's editor. The lists are still followed.
    private func editOutside(_ text: String, named name: String, _ command: Command) {
        do {
            let editor = try OutsideEditor(text, named: name)
            screen.handOver()
            outside = editor
            try editor.start(loop) { [unowned self] outcome in
                outside = nil
                screen.takeBack()
                switch outcome {
                case .success(let text): take(.editedOutside(text))
                case .failure(let problem): take(.failed(command, "\(problem)"))
                }
            }
        } catch {
            outside = nil
            screen.takeBack()
            take(.failed(command, "\(error)"))
        }
    }

    // MARK: Other servers

    /// Goes to another server. Edits for this server stay in its journal.
    private func visit(_ location: Location) {
        switch journey {
        case .preparing(location), .ready(location, _): return
        case .preparing, .ready, nil: journey = .preparing(location)
        }
        // The other server's journal may be the journal that is being closed.
        if !isClosingJournal { prepare(location) }
    }

    private func prepare(_ location: Location) {
        Work.submit(loop) { [connect] in
            Result { try connect(location) }
        } then: { [weak self] outcome in
            guard let self, !isClosed, case .preparing(location) = journey else { return }
            switch outcome {
            case .success(let makeEngine):
                journey = .ready(location, makeEngine)
                engine.perform { $0.flush() }
            case .failure(let error):
                journey = nil
                take(.failed(.visit(location), "\(error)"))
            }
        }
    }

    /// Leaves this server for the server that the user goes to, once everything is on disk and nothing is half typed.
    private func leave() {
        guard case .ready(let location, let makeEngine) = journey, engine.isKept, outside == nil, !app.isTyping
        else { return }
        journey = nil
        keepDrafts()
        isClosingJournal = true
        loss =
            engine.close { [weak self] in
                guard let self, !isClosed else { return }
                isClosingJournal = false
                if case .preparing(let next) = journey { prepare(next) }
            } ?? loss
        engine = makeEngine(loop)
        (events, missing) = ([], [])
        // With the same seed, new items would have the ids of items that the user has made before.
        app = app.visiting(location, seed: .random(in: 0...UInt64.max))
        listen()
        for command in app.start(now: loop.now) { carryOut(command) }
        handleEvents()
        needsDrawing = true
    }
}
