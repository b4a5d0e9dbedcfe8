import HandCore
import HandFormats
import HandSync
import HandWire

/// The whole terminal client as a value: events go in, commands come out, and it can be drawn at any time.
///
///     event ─▶ world (what is known) ─▶ screens (where one is) ─▶ commands
///                         └──────── canvas ────────┘
///
/// Deterministic: time comes with the events, randomness from a seed.
package struct App: Sendable {
    package private(set) var world: World
    package private(set) var router: Router
    /// What was said last, and until when it is shown.
    private var message: (text: String, until: UInt64)?
    /// What one's newest edit did; said if it was undoing or redoing.
    private var deed: String?
    /// Keys of a sequence that is not finished, and the number typed before it.
    private var pressed: [Key] = []
    private var count: Int?
    /// What others were last told of where one is.
    private var focus: Focus?
    private var focusDue: UInt64?
    private var lastFocus: UInt64 = 0

    /// Milliseconds that a message stays.
    static let messageTime: UInt64 = 4_000
    /// Presence goes out at most so often, in milliseconds.
    static let presenceInterval: UInt64 = 100
    private static let largestCount = 1_000_000_000

    package init(_ settings: World.Settings, opening route: Route) {
        world = World(settings)
        router = Router(opening: route)
    }

    /// What is to be done at the start.
    package mutating func start(now: UInt64) -> [Command] {
        world.now = now
        return Columns.$clusters.withValue(world.clusters) { run(router.top.appear(&world)) + tellFocus() }
    }

    /// When `tick` is due; nil if nothing is waited for.
    package var deadline: UInt64? {
        let flashes = world.lists.values.flatMap { $0.flashes.values }.min()
        return [message?.until, flashes, focusDue, router.top.deadline(world), world.retryAt].compactMap(\.self)
            .filter { $0 > world.now }.min()
    }

    // MARK: Events

    package mutating func update(_ event: Event, now: UInt64) -> [Command] {
        world.now = max(world.now, now)
        if let until = message?.until, until <= now { message = nil }
        learn(event)
        return Columns.$clusters.withValue(world.clusters) { carryOut(event) }
    }

    private mutating func carryOut(_ event: Event) -> [Command] {
        var commands: [Command] = []
        if case .input(let input) = event, input.isOfAPerson {
            let isHinting = Frame.showsHints(on: router.top, message: message?.text, world)
            message = nil
            if case .mouse(let mouse) = input, isHinting, let hint = hint(under: mouse) {
                for key in hint.keys { commands += press(key) }
            } else {
                commands += take(input)
            }
        }
        // Hidden screens follow too, so that one comes back to where one was.
        var followed: [Command] = []
        router.updateAll { screen in followed += screen.follow(event, &world) }
        commands += followed
        return run(commands) + tellFocus()
    }

    /// What the world learns of an event.
    private mutating func learn(_ event: Event) {
        switch event {
        case .input(.resize(let size)): world.size = size
        case .input(.cursor(let point)): world.clusters.learn(point)
        case .connection(let status):
            world.connection = status
            world.retryAt = nil
            if case .offline(_, let wait?) = status { world.retryAt = world.now + wait }
            // What ends for good is said where one is.
            if case .offline(let reason, nil) = status { say(Printable.clean(reason)) }
            if case .offline = status { for name in world.lists.keys { world.lists[name]?.lostConnection() } }
        case .latency(let milliseconds): world.latency = milliseconds
        case .list(let name, let news):
            if case .changed(let new, let delta, by: .own) = news {
                deed = Deed.again(delta, from: world.list(name).hand, to: new)
            }
            world.withList(name) { [now = world.now] in $0.follow(news, now: now) }
            if case .renamed(let new) = news { renamed(name, to: new) }
        case .lists(let entries): world.catalog = entries
        case .kept(let names): world.keptLists = names
        case .failed(_, let reason), .told(let reason): say(reason)
        case .tick: for name in world.lists.keys { _ = world.lists[name]?.expire(now: world.now) }
        case .done(.undo): say("undone: " + (deed ?? "nothing is left of that edit"))
        case .done(.redo): say("redone: " + (deed ?? "nothing is left of that edit"))
        case .input, .continueWork, .history, .state, .done: break
        }
    }

    /// What is open stays open, under the new name.
    private mutating func renamed(_ list: String, to name: String) {
        world.lists[name] = world.lists.removeValue(forKey: list)
        router.updateAll { screen in
            guard var mine = screen as? any ListScreens, mine.list == list else { return }
            mine.list = name
            screen = mine
        }
        say("'\(list)' is called '\(name)' now")
    }

    private mutating func say(_ text: String) {
        message = (text, world.now + Self.messageTime)
    }

    // MARK: Input

    private mutating func take(_ input: Input) -> [Command] {
        switch input {
        case .key(let key): return press(key)
        case .paste(let text):
            if router.top.prompt != nil {
                router.top.prompt?.editor.insert(text)
                return router.top.prompt.map { router.top.typed($0, &world) } ?? []
            }
            return router.top.paste(text, &world)
        case .mouse(let mouse): return router.top.prompt == nil ? router.top.mouse(mouse, &world) : []
        case .resize, .cursor: return []
        }
    }

    /// The hint that is clicked.
    private func hint(under mouse: Mouse) -> Hint? {
        guard mouse.act == .press, mouse.point.row == Frame.hintRow(world) else { return nil }
        return HintLine.placed(on: router.top, world).first { $0.columns.contains(mouse.point.column) }?.hint
    }

    private mutating func press(_ key: Key) -> [Command] {
        if router.top.prompt != nil { return answer(with: key) }
        if router.top.isTyping { return router.top.type(key, &world) }
        if pressed.isEmpty, takeDigit(key) { return [] }
        pressed.append(key)
        switch world.keys.meaning(of: pressed, among: router.top.actions) {
        case .unfinished: return []
        case .action(let action):
            let times = count
            (pressed, count) = ([], nil)
            return perform(action, count: times)
        case .nothing:
            let isSequence = pressed.count > 1
            pressed = []
            if isSequence { return press(key) }
            // A number goes with the key after it, or with none.
            count = nil
            return []
        }
    }

    /// A number before a key says how often, or where to.
    private mutating func takeDigit(_ key: Key) -> Bool {
        guard key.modifiers.isEmpty, case .character(let character) = key.code, let digit = character.wholeNumberValue,
            character.isASCII, digit > 0 || count != nil
        else { return false }
        count = min(Self.largestCount, (count ?? 0) * 10 + digit)
        return true
    }

    private mutating func answer(with key: Key) -> [Command] {
        guard let prompt = router.top.prompt else { return [] }
        if prompt.isConfirmation {
            router.top.prompt = nil
            let isYes = key == Key(.character("y")) || key == Key(.character("Y"))
            return isYes ? router.top.answer(prompt, &world) : router.top.cancelled(prompt, &world)
        }
        switch key {
        case Key(.enter):
            router.top.prompt = nil
            return router.top.answer(prompt, &world)
        case Key(.escape), .control("c"):
            router.top.prompt = nil
            return router.top.cancelled(prompt, &world)
        default:
            guard router.top.prompt?.editor.handle(key) == true, let changed = router.top.prompt else { return [] }
            return changed.editor.text == prompt.editor.text ? [] : router.top.typed(changed, &world)
        }
    }

    private mutating func perform(_ action: Action, count: Int?) -> [Command] {
        if let refusal = router.top.refusal(of: action, world) {
            say(refusal)
            return [.bell]
        }
        switch action {
        case .quit: return [.quit]
        case .suspend: return [.suspend]
        case .redraw: return [.redraw]
        case .help: return router.top.route == .help ? [] : [.open(.help)]
        case .connection: return router.top.route == .connection ? [] : [.open(.connection)]
        default: return router.top.perform(action, count: count, &world)
        }
    }

    // MARK: Commands

    /// Does what the model itself can do, and leaves the rest to the program around it.
    private mutating func run(_ commands: [Command]) -> [Command] {
        var rest: [Command] = []
        for command in commands {
            switch command {
            case .open(let route):
                router.open(route)
                rest += run(router.top.appear(&world))
            case .replace(let route):
                router.replaceTop(by: route)
                rest += run(router.top.appear(&world))
            case .back:
                if router.back() { rest += run(router.top.appear(&world)) } else { rest.append(.quit) }
            case .say(let text): say(text)
            case .undo, .redo:
                deed = nil
                rest.append(command)
            default: if !rest.contains(command) || command.mayRepeat { rest.append(command) }
            }
        }
        return rest
    }

    /// Tells others where one is, when that has changed, and not too often.
    private mutating func tellFocus() -> [Command] {
        let new = router.top.focus(world)
        guard new != focus else {
            focusDue = nil
            return []
        }
        guard world.now >= lastFocus + Self.presenceInterval || focus?.list != new?.list else {
            focusDue = lastFocus + Self.presenceInterval
            return []
        }
        var commands: [Command] = []
        if let old = focus, old.list != new?.list { commands.append(.presence(list: old.list, nil)) }
        if let new { commands.append(.presence(list: new.list, new.item)) }
        (focus, focusDue, lastFocus) = (new, nil, world.now)
        return commands
    }

    // MARK: Drawing

    /// What the terminal is to show.
    package func view() -> Canvas { Columns.$clusters.withValue(world.clusters) { drawn() } }

    private func drawn() -> Canvas {
        var canvas = Canvas(world.size)
        guard world.size.rows > Frame.rowsAround, world.size.columns > 0 else {
            canvas.write(Line("too small"), at: Point(row: 0, column: 0))
            return canvas
        }
        Frame.draw(router.top, message: message?.text, on: &canvas, world)
        return world.hasColors ? canvas : canvas.withoutColors
    }
}

extension Input {
    /// Not what the terminal tells by itself, between keys and in the middle of them.
    fileprivate var isOfAPerson: Bool {
        switch self {
        case .key, .paste, .mouse: true
        case .resize, .cursor: false
        }
    }
}

extension Command {
    /// Whether doing it twice is something else than doing it once.
    fileprivate var mayRepeat: Bool {
        switch self {
        case .edit, .presence: true
        default: false
        }
    }
}
