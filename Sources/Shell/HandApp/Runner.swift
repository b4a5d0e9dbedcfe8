import Disk
import EventLoop
internal import Glibc
import HandClient
import HandFormats
import HandScreens

/// Runs the terminal client on a loop: passes events to the model, carries out the model's commands, draws the model.
///
/// Everything happens on the loop's thread. The screens follow what came from the server at the end of a turn of the
/// loop, or before the next key, whichever is first. Then the screen is drawn once, and the output is sent.
package final class Runner {
    /// How to connect to a server, and with which journal.
    package typealias Server = (configuration: ClientConfiguration, journal: ClientJournal?)
    /// Prepares the connection to a location's server: opens its journal, for example. Runs on another thread, because
    /// the preparation waits for the disk.
    package typealias Connect = @Sendable (Location) throws -> Server

    private let loop: Loop
    private let screen: any Screenful
    private let connect: Connect
    private var app: App
    private let first: Server
    private lazy var session = makeSession(first)
    private lazy var journey = Journey(loop, connect: connect) { [unowned self] in arrived($0, $1) }
    private var hook: TurnHook?
    private let clock: Timer
    private let worker: Timer
    /// The time that the server has to take the last edits; nil if the user does not quit.
    private var quitter: Timer?
    /// Milliseconds that the server has to take the last edits when the user quits.
    private static let quittingTime: UInt64 = 1_000
    private var isClosed = false
    /// Whether the user has been told that quitting loses edits.
    private var knowsOfLoss = false
    private var needsDrawing = true
    /// When the time of day is looked at again.
    private var timeDue: UInt64 = 0
    /// The user's editor, while it has the terminal.
    private var outside: OutsideEditor?
    private var leftovers = Leftovers()
    /// Why edits or typed texts are lost after closing; nil if nothing is lost.
    package var loss: String? { leftovers.losses.isEmpty ? nil : leftovers.losses.joined(separator: "\n") }
    /// What else the user should know after closing; nil if there is nothing.
    package var note: String? { leftovers.notes.isEmpty ? nil : leftovers.notes.joined(separator: "\n") }

    /// - Parameter connect: called for each server that the user goes to later.
    package init(
        _ settings: AppState.Settings, opening route: Route, on loop: Loop, screen: any Screenful, at server: Server,
        connect: @escaping Connect
    ) {
        (self.loop, self.screen, self.connect, first) = (loop, screen, connect, server)
        app = App(settings, opening: route)
        clock = Timer(loop)
        worker = Timer(loop)
    }

    /// Starts connecting and draws the first screen.
    package func start() {
        hook = loop.onTurnEnd { [unowned self] in endTurn() }
        begin()
        endTurn()
    }

    private func makeSession(_ server: Server) -> ScreenSession {
        ScreenSession(server, on: loop) { [unowned self] in take($0) }
    }

    /// Begins with the app's server.
    private func begin() {
        session.start()
        for command in app.start(now: loop.now) { carryOut(command) }
        guard let drafts else { return }
        Work.submit(loop) {
            drafts.read()
        } then: { [weak self, session] drafts in
            if let self, self.session === session, !drafts.isEmpty { take(.drafts(drafts)) }
        }
    }

    // MARK: Turns

    /// Takes the user's input. The input is handled at once, on the list as the user saw it: nothing else may change
    /// the list in between.
    package func take(_ input: Input) { take(.input(input)) }

    private func take(_ event: Event) {
        if isClosed { return }
        needsDrawing = true
        carryOut(app.update(event, now: loop.now))
    }

    private func endTurn() {
        carryOut(app.followChanges())
        tellState()
        tellTime()
        if quitter != nil, session.waitingEdits == 0 { close() }
        guard !isClosed else { return }
        leave()
        if needsDrawing {
            needsDrawing = false
            screen.draw(app.view())
        }
        session.client.flush()
        guard let deadline = app.deadline else { return clock.stop() }
        clock.start(after: deadline > loop.now ? deadline - loop.now : 1) { [unowned self] in take(.tick) }
    }

    /// Passes on the time of day, if it is not what the app takes it to be. The loop's clock stands still while the
    /// machine sleeps, the system's clock can be set, and summer time ends.
    private func tellTime() {
        guard loop.now >= timeDue else { return }
        timeDue = loop.now + 1_000
        let (time, settings) = (time(nil), app.state.settings)
        let (epoch, offset) = (UInt64(max(0, time)) * 1_000 &- loop.now, LocalTime.offset(at: time))
        if max(epoch, settings.epoch) - min(epoch, settings.epoch) > 1_000 || offset != settings.utcOffset {
            take(.time(epoch: epoch, utcOffset: offset))
        }
    }

    /// Passes on the facts that the client knows but does not report: the wait for an answer, and the user's rights.
    private func tellState() {
        let (since, granted) = (session.client.awaitingSince, session.client.machine.granted)
        if since != app.state.awaitingSince { take(.awaiting(since: since)) }
        if granted != nil, granted != app.state.granted { take(.granted(granted)) }
    }

    private func carryOut(_ commands: [Command]) {
        for command in commands where !isClosed { carryOut(command) }
    }

    private func carryOut(_ command: Command) {
        switch command {
        case .open, .back, .replace, .say, .transfer: break
        case .quit: quit()
        case .suspend: screen.suspend()
        case .redraw: screen.redraw()
        case .bell: screen.bell()
        case .notify(let text): screen.notify(text)
        case .workOn: worker.start(after: 0) { [unowned self] in take(.continueWork) }
        case .openAddress(let address):
            if let problem = Opener.open(address, loop) { take(.failed(command, problem)) }
        case .visit(let location): journey.begin(to: location)
        case .forgetDraft(let name): drafts?.forget(name)
        case .editOutside(let text, let name): editOutside(text, named: name, command)
        case .reconnect, .follow, .presence, .edit, .undo, .redo, .keepFolds, .keepSeen, .fetchNews,
            .fetchItemHistory, .fetchEarlierTexts, .retrieve, .forget, .fetchLists, .create, .deleteList, .renameList,
            .undeleteList, .fetchHistory, .fetchState, .fetchArrivals:
            session.carryOut(command)
        }
    }

    // MARK: Other programs

    /// Gives the terminal to the user's editor. The lists are still followed.
    private func editOutside(_ text: String, named name: String, _ command: Command) {
        screen.handOver()
        let ended = { [unowned self] (outcome: Result<String, any Error>) in
            outside = nil
            screen.takeBack()
            switch outcome {
            case .success(let text): take(.editedOutside(text))
            case .failure(let problem): take(.failed(command, "\(problem)"))
            }
        }
        do { outside = try OutsideEditor(text, named: name, loop, then: ended) } catch { ended(.failure(error)) }
    }

    /// Handles ctrl-c. Its signal goes to all programs of the terminal: if an editor has the terminal, the signal is
    /// meant for the editor.
    package func interrupt() {
        if outside == nil { close() }
    }

    // MARK: Other servers

    private func arrived(_ location: Location, _ problem: (any Error)?) {
        guard let problem else { return session.client.perform { $0.flush() } }
        take(.failed(.visit(location), "\(problem)"))
    }

    /// Leaves this server for the server that the user goes to, once everything is on disk and nothing is half typed.
    private func leave() {
        guard let (location, server) = journey.destination, session.client.isKept, outside == nil, !app.isTyping else {
            return
        }
        journey.end()
        carryOut(app.leave())
        leftovers.keep(app.unkeptDrafts, in: drafts)
        leftovers.add(loss: session.close { [weak self] in self?.journey.closedJournal() })
        session = makeSession(server)
        // With the same seed, new items would have the ids of items that the user has made before.
        app = app.visiting(location, seed: .random(in: 0...UInt64.max))
        begin()
        needsDrawing = true
    }

    // MARK: The end

    /// Ends everything once the last edits are sent, after `quittingTime` at the latest, or at once if the user quits
    /// again. What the disk refuses would be lost: then the user quits twice.
    private func quit() {
        if session.client.hasUnkept, !knowsOfLoss {
            knowsOfLoss = true
            let edits = Amount.count(session.waitingEdits, "edit")
            return take(.warning("\(edits) of yours cannot be kept: the disk refuses. Quit again to lose them"))
        }
        guard session.waitingEdits > 0, app.state.isOnline, quitter == nil else { return close() }
        quitter = Timer(loop)
        quitter?.start(after: Self.quittingTime) { [unowned self] in close() }
    }

    /// Ends everything: the connection, the journal, the screen.
    package func close() {
        guard !isClosed else { return }
        // What the user did before the journal had answered is kept with the answer.
        session.client.finishJournal()
        // The text that the user's own editor has saved belongs to the draft.
        if let text = outside?.saved { _ = app.update(.editedOutside(text), now: loop.now) }
        carryOut(app.leave())
        isClosed = true
        leftovers.keep(app.unkeptDrafts, in: drafts)
        let waiting = session.waitingEdits
        leftovers.add(loss: session.close())
        leftovers.add(waitingEdits: waiting)
        leftovers.add(loss: outside?.leave())
        screen.close()
        hook?.cancel()
        for timer in [clock, worker, quitter] { timer?.close() }
        loop.stop()
    }

    /// The folder for texts that are being typed when the client ends; nil if this client keeps nothing on disk.
    private var drafts: DraftFolder? {
        session.client.configuration.journalPath.map { DraftFolder(path: PrivateFile.folder(of: $0) + "/drafts") }
    }
}
