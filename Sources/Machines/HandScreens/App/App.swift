import HandCore
import HandFormats
import HandSync
import HandWire

/// The whole terminal client as a value: events go in, commands come out, and the app can be drawn at any time.
///
///     event ─▶ state (what is known) ─▶ screens (where the user is) ─▶ commands
///                         └──────── canvas ────────┘
///
/// A change of a list waits in the state until `followChanges`, which shows all changes to the screens before the next
/// key and before the next drawing.
///
/// Deterministic: time comes with the events, randomness from a seed.
package struct App: Sendable {
    package private(set) var state: AppState
    package private(set) var router: Router
    /// The last message, and the time until which it is shown.
    private var message: (text: String, until: UInt64)?
    /// What the user's newest edit did; shown after an undo or a redo.
    private var summary: String?
    private var keys = KeySequence()
    private var placeSender = PlaceSender()
    private var attention: Attention
    private var newsWatch = NewsWatch()
    /// When to refresh the topmost screen; nil if it needs no refreshing.
    private var refreshDue: UInt64?

    /// How long a message stays, in milliseconds.
    static let messageTime: UInt64 = 4_000

    package init(_ settings: AppState.Settings, opening route: Route) {
        state = AppState(settings)
        attention = Attention(settings.notices)
        router = Router(opening: route)
    }

    /// The app on another server's screens. What belongs to the person and the terminal goes along.
    package func visiting(_ location: Location, seed: UInt64) -> App {
        var settings = state.settings
        (settings.server, settings.size, settings.seed) = (location.server, state.size, seed)
        var next = App(settings, opening: location.route)
        (next.state.clusters, next.state.clipboard) = (state.clusters, state.clipboard)
        return next
    }

    package mutating func start(now: UInt64) -> [Command] {
        state.now = now
        attention.act(now: now)
        return Columns.$clusters.withValue(state.clusters) { run(appear()) + sendPlace() }
    }

    /// When the next `tick` is due; nil if none is.
    package var deadline: UInt64? {
        let flashes = state.lists.values.flatMap { $0.flashes.values }.min()
        let seeks = state.lists.values.compactMap(\.seekDue).min()
        let screens = router.stack.compactMap(\.deadline).min()
        let all = [
            message?.until, flashes, placeSender.due, refreshDue, seeks, screens, state.retryAt, state.silenceDue,
        ]
        return all.compactMap(\.self).filter { $0 > state.now }.min()
    }

    // MARK: Events

    package mutating func update(_ event: Event, now: UInt64) -> [Command] {
        state.now = max(state.now, now)
        switch event {
        case .list(let name, .changed(let new, let update)):
            state.withList(name) { $0.add(new, update) }
            return []
        // People move often; the changes are shown later, together with the next ones.
        case .list(_, .presence): return handle(event)
        default: return followChanges() + handle(event)
        }
    }

    /// Shows the changes of lists to the screens. Without changes nothing happens; in particular, no time passes.
    package mutating func followChanges() -> [Command] {
        var commands: [Command] = []
        for name in state.lists.keys.filter({ state.lists[$0]?.isUpToDate == false }).sorted() {
            // A copy of more than the hand would make the change copy what it changes.
            var before = state.list(name).hand
            let log = state.list(name).state.logID
            while let update = state.withList(name, { [now = state.now] in $0.showNext(now: now) }) {
                recallNews(of: name)
                // What was said of an edit that is refused is not true any more.
                if update.notices.contains(where: { Notice($0)?.isRejection == true }) { message = nil }
                if update.origin == .own { summarize(update, of: name, from: before) }
                commands += attention.follow(update, of: state.list(name), me: state.me, now: state.now)
                before = state.list(name).hand
                commands += handle(.list(name, .changed(state.list(name).state, update)))
            }
            if log != 0, !LogID.isSameList(log, state.list(name).state.logID) {
                say("'\(name)' is another list now: the one before was renamed or deleted")
            }
        }
        return commands
    }

    private mutating func recallNews(of list: String) {
        if let seen = state.seen { state.withList(list) { $0.recallNews(seen.values) } }
    }

    /// Notes what the user's edit did, and which parts of it had no effect, and why.
    private mutating func summarize(_ update: Replica.Update, of name: String, from before: Hand) {
        let list = state.list(name)
        let done = EditText.again(update.delta, from: before, to: list.hand)
        let left = update.notices.compactMap { Notice($0)?.text(in: list) }
        summary = left.isEmpty ? done : ([done ?? EditText.nothing] + left).joined(separator: "; ")
    }

    private mutating func handle(_ event: Event) -> [Command] {
        if let until = message?.until, until <= state.now { message = nil }
        if event.isFromPerson { attention.act(now: state.now) }
        note(event)
        return Columns.$clusters.withValue(state.clusters) {
            let before = storedDrafts
            let commands = carryOut(event)
            resumeDraft()
            return commands + before.subtracting(storedDrafts).sorted().map { .forgetDraft($0) }
        }
    }

    private mutating func carryOut(_ event: Event) -> [Command] {
        var commands: [Command] = []
        // While another editor has the text, that editor also has the terminal.
        if case .input(let input) = event, event.isFromPerson, !isEditingOutside {
            let isHinting = ScreenFrame.showsHints(on: router.top, message: message?.text, state)
            message = nil
            if case .mouse(let mouse) = input, isHinting, let hint = hint(under: mouse) {
                keys.forget()
                for key in hint.keys { commands += press(key) }
            } else {
                commands += take(input)
            }
        }
        if let refreshDue, refreshDue <= state.now { commands += appear() }
        commands += seek()
        // Hidden screens follow events, too, so that the user comes back to the same place.
        var followed: [Command] = []
        let top = router.top.route
        router.updateAll { screen in
            let commands = screen.take(.model(event), &state)
            // Only the visible screen may open another screen, and only while the user is not typing: otherwise the
            // next keys would go to a screen that they were not meant for.
            let mayLead = screen.route == top && screen.typing == nil
            followed += commands.filter { mayLead || !$0.leadsElsewhere }
        }
        commands += followed + attention.hear(event, state.list) + askMore(event)
        var rest = run(commands)
        if !state.transfers.isEmpty { rest += run(state.advanceTransfers(event)) }
        return rest + newsWatch.look(at: router.top, isActive: event.isFromPerson, &state) + sendPlace()
    }

    /// Asks who has overridden the user's edits, as whoever makes one edit by a command is never seen on the list; and
    /// what is new since the user looked at lists last.
    private mutating func askMore(_ event: Event) -> [Command] {
        switch event {
        case .list(let list, .changed) where state.isOnline, .losses(let list, _, _) where state.isOnline:
            state.withList(list) { $0.takeNameless() }.map { .fetchHistory(list: list, from: $0, limit: 1) }
                + news(before: list)
        case .seen: state.lists.keys.sorted().flatMap { news(before: $0) }
        default: []
        }
    }

    private mutating func news(before list: String) -> [Command] {
        state.withList(list) { $0.takeNewsBefore() }.map { [.fetchNews(list: list, since: $0)] } ?? []
    }

    /// Returns what is left to do before the user leaves the screens of this server.
    package mutating func leave() -> [Command] { newsWatch.leave(&state) }

    /// Looks for the lists that the server does not have any more.
    private mutating func seek() -> [Command] {
        let due = state.lists.values.filter { $0.seekDue.map { $0 <= state.now } == true }.map(\.name).sorted()
        for name in due { state.lists[name]?.seek(now: state.now) }
        return due.map { .follow($0) }
    }

    /// Whether the user is typing something that would be lost with this app.
    package var isTyping: Bool { router.top.typing != nil }

    // MARK: Drafts

    private var openDrafts: [(list: String, draft: Draft)] {
        router.stack.compactMap { screen in
            guard case .field(let draft)? = screen.typing, let list = screen.route.list else { return nil }
            return (list, draft)
        }
    }

    /// The typed texts that would be lost with this app.
    package var unkeptDrafts: [KeptDraft] {
        openDrafts.compactMap { $0.draft.kept(in: $0.list, state.list($0.list)) }
            + state.drafts.filter { $0.name == nil }
    }

    /// The names of the stored texts that still wait or are being edited.
    private var storedDrafts: Set<String> {
        Set(openDrafts.compactMap(\.draft.keptAs) + state.drafts.compactMap(\.name))
    }

    /// Offers a kept text again, on the screen of its list.
    private mutating func resumeDraft() {
        guard !state.drafts.isEmpty, var screen = router.top as? ListScreen else { return }
        screen.resume(&state)
        router.top = screen
    }

    private var isEditingOutside: Bool {
        if case .field(let draft)? = router.top.typing { draft.outside != nil } else { false }
    }

    private mutating func appear() -> [Command] {
        refreshDue = router.top.route.kind.refreshTime.map { state.now + $0 }
        return router.top.take(.appeared, &state)
    }

    private mutating func note(_ event: Event) {
        switch event {
        case .input(.resize(let size)): state.size = size
        case .input(.focus(let isHere)): attention.focus(isHere)
        case .input(.cursor(let point)): state.clusters.calibrate(point)
        case .connection(let status, let refusal):
            (state.connection, state.refusal, state.retryAt) = (status, refusal, nil)
            if case .offline(_, let wait?) = status { state.retryAt = state.now + wait }
            // The reason for giving up is shown on whatever screen is open.
            if case .offline(let reason, nil) = status { say(Printable.clean(reason)) }
            if case .connecting(let place) = status { state.place = place }
            if !state.isOnline { for name in state.lists.keys { state.lists[name]?.lostConnection() } }
        case .granted(let granted):
            let isFirst = state.granted == nil
            state.granted = granted ?? state.granted
            // Who comes for the first time, or under another name than expected, wants to know it.
            if isFirst, message == nil, state.me != state.person || state.seen?.isEmpty == true {
                say("others see you as \(state.me)")
            }
        case .awaiting(let since): state.awaitingSince = since
        case .latency(let milliseconds): state.latency = milliseconds
        case .list(_, .changed): break
        case .list(let name, let news):
            state.withList(name) { [now = state.now] in $0.take(news, now: now) }
            if case .renamed(let new) = news { renamed(name, to: new) }
        case .losses(let list, let told, let untold): state.withList(list) { $0.add(told: told, untold: untold) }
        case .folds(let list, let items): state.withList(list) { $0.folded = $0.folded ?? items }
        case .lists(let entries): state.catalog = entries
        case .seen(let seen):
            state.seen = seen
            for list in state.lists.keys { recallNews(of: list) }
        case .news(let list, let since, let news):
            state.headlines[list] = Headline(news, since: since)
            state.lists[list]?.add(news)
        case .earlierTexts(let list, let texts): state.withList(list) { $0.earlierTexts = texts }
        case .kept(let names): state.keptLists = names
        case .failed(_, let reason), .warning(let reason): say(reason)
        case .history(let list, _, let people): state.withList(list) { $0.know(people) }
        case .tick: for name in state.lists.keys { state.lists[name]?.expire(now: state.now) }
        case .time(let epoch, let offset): state.setTime(epoch: epoch, utcOffset: offset)
        case .done(.retrieve(let list, _, let loss)):
            if let text = Retrieval.finish(loss, of: list, &state) { say(text) }
        case .done(.undo): say("undone: " + (summary ?? EditText.nothing))
        case .done(.redo): say("redone: " + (summary ?? EditText.nothing))
        case .drafts(let drafts):
            state.drafts += drafts
            let others = Set(drafts.map(\.list)).subtracting([router.top.route.list ?? ""]).sorted()
            let names = others.map { "'\($0)'" }.joined(separator: ", ")
            if !others.isEmpty { say("unfinished text waits in \(names)") }
        case .input, .continueWork, .itemHistory, .state, .arrivals, .editedOutside, .done:
            break
        }
    }

    /// Screens of the list stay open under its new name.
    private mutating func renamed(_ list: String, to name: String) {
        state.lists[name] = state.lists.removeValue(forKey: list)
        let seen = state.seen?.removeValue(forKey: list)
        state.seen?[name] = seen
        newsWatch.renamed(list, to: name)
        for index in state.drafts.indices where state.drafts[index].list == list { state.drafts[index].list = name }
        for index in state.transfers.indices {
            if state.transfers[index].source == list { state.transfers[index].source = name }
            if state.transfers[index].target == list { state.transfers[index].target = name }
        }
        router.updateAll { screen in
            guard var mine = screen as? any ListScreens, mine.list == list else { return }
            mine.list = name
            screen = mine
        }
        say("'\(list)' is called '\(name)' now")
    }

    private mutating func say(_ text: String) { message = (text, state.now + Self.messageTime) }

    // MARK: Input

    private mutating func take(_ input: Input) -> [Command] {
        if case .key(let key) = input { return press(key) }
        // Any other input from the user ends a sequence of keys.
        if input.isFromPerson { keys.forget() }
        switch input {
        case .key: return []
        case .paste(let text):
            guard var prompt = router.top.prompt else { return router.top.take(.input(input), &state) }
            prompt.editor.insert(text)
            return router.top.take(.answer(prompt, .typed), &state)
        case .mouse: return router.top.prompt == nil ? router.top.take(.input(input), &state) : []
        case .resize, .focus, .cursor: return []
        }
    }

    private func hint(under mouse: Mouse) -> Hint? {
        guard mouse.act == .press, mouse.point.row == ScreenFrame.hintRow(state) else { return nil }
        return HintLine.placed(on: router.top, state).first { $0.columns.contains(mouse.point.column) }?.hint
    }

    private mutating func press(_ key: Key) -> [Command] {
        // What is being typed waits, too.
        if isTyping, state.keys.meaning(of: [key], among: [.suspend]) == .action(.suspend), !key.modifiers.isEmpty {
            return [.suspend]
        }
        switch router.top.typing {
        case .question(var prompt):
            guard let outcome = prompt.take(key) else { return [] }
            return router.top.take(.answer(prompt, outcome), &state)
        case .field: return router.top.take(.input(.key(key)), &state)
        case nil: break
        }
        guard let (action, count) = keys.take(key, state.keys, among: router.top.route.kind.actions) else { return [] }
        return perform(action, count: count)
    }

    private mutating func perform(_ action: Action, count: Int?) -> [Command] {
        if let refusal = router.top.obstacle(to: action, state) {
            say(refusal)
            return [.bell]
        }
        switch action {
        case .quit, .leave: return [.quit]
        case .suspend: return [.suspend]
        case .redraw: return [.redraw]
        case .help: return router.top.route == .help ? [] : [.open(.help)]
        case .connection: return router.top.route == .connection ? [] : [.open(.connection)]
        default: return router.top.perform(action, count: count, &state) ?? (action == .back ? [.back] : [])
        }
    }

    // MARK: Commands

    /// Carries out the commands that the model can do itself, and returns the rest for the program around it.
    private mutating func run(_ commands: [Command]) -> [Command] {
        var rest: [Command] = []
        for command in commands {
            if command.leadsElsewhere { keys.forget() }
            switch command {
            case .open(let route):
                router.open(route)
                rest += run(appear())
            case .replace(let route):
                router.replaceTop(by: route)
                rest += run(appear())
            case .back:
                if router.back() { rest += run(appear()) }
            case .say(let text): say(text)
            case .transfer(let transfer):
                state.transfers.append(transfer)
                if !rest.contains(.follow(transfer.target)) { rest.append(.follow(transfer.target)) }
            case .edit(let list, _), .retrieve(let list, _, _), .undo(let list), .redo(let list):
                summary = nil
                // A list that the server does not have any more stays on the screen. It cannot be edited.
                // The commands that follow assume that the edit is made.
                if let refusal = state.list(list).refusal { return rest + handle(.failed(command, refusal)) }
                rest.append(command)
            // Doing these twice is the same as doing them once.
            default: if !rest.contains(command) { rest.append(command) }
            }
        }
        return rest
    }

    private mutating func sendPlace() -> [Command] {
        placeSender.follow(to: (router.top as? any ItemScreens)?.whereabouts(state), now: state.now)
    }

    // MARK: Drawing

    /// The screen as the terminal shows it.
    package func view() -> Canvas { Columns.$clusters.withValue(state.clusters) { drawn() } }

    private func drawn() -> Canvas {
        var canvas = Canvas(state.size)
        guard state.size.rows > ScreenFrame.rowsAround, state.size.columns > 0 else {
            canvas.write(Line("too small"), at: Point(row: 0, column: 0))
            return canvas
        }
        ScreenFrame.draw(router.top, message: message?.text, on: &canvas, state)
        return state.hasColors ? canvas : canvas.withoutColors
    }
}
