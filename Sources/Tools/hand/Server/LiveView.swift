import EventLoop
import Glibc
import HandApp
import HandScreens

/// What a `LiveView` shows.
protocol LiveContent: AnyObject {
    func canvas(_ size: Size) -> Canvas
    /// Takes a key, and returns what the view must do.
    func take(_ key: Key) -> TopChoice.Wish?
    /// Asks for newer content; then calls `LiveView.drawAndAskLater`.
    func ask()
}

/// A view that takes the terminal over and asks for newer content every second, until the user quits.
final class LiveView {
    let loop: Loop
    private let terminal: Terminal
    private let timer: EventLoop.Timer
    private var signals: [Signal] = []
    /// The content refers to this view, so the view drops the content at the end, which breaks the reference cycle.
    private var content: (any LiveContent)?

    private static let interval: UInt64 = 1_000

    init() throws {
        let loop = try Loop()
        self.loop = loop
        timer = EventLoop.Timer(loop)
        var take: (Input) -> Void = { _ in }
        do {
            terminal = try Terminal(loop, hasColors: !Terminal.colorsAreRefused, hasMouse: false) { take($0) }
        } catch TerminalError.notATerminal {
            throw Failure(
                .usage, "'hand top' needs a terminal for input and output; in scripts use 'hand admin report'")
        }
        take = { [unowned self] in handle($0) }
        terminal.onEnd = { loop.stop() }
        for number in [SIGTERM, SIGHUP, SIGINT] { signals.append(try Signal(loop, number) { loop.stop() }) }
    }

    /// Runs until the user quits.
    func run(_ content: some LiveContent) {
        self.content = content
        drawAndAskLater()
        loop.run()
        terminal.close()
        loop.close()
        self.content = nil
    }

    private func handle(_ input: Input) {
        if case .key(let key) = input {
            switch content?.take(key) {
            case .quit: return loop.stop()
            case .redraw: return terminal.redraw()
            case .suspend: return terminal.suspend()
            case .close, nil: break
            }
        }
        draw()
    }

    func draw() { if let content { terminal.draw(content.canvas(terminal.size)) } }

    func drawAndAskLater() {
        draw()
        timer.start(after: Self.interval) { [unowned self] in content?.ask() }
    }
}
