import ArgumentParser
import EventLoop
import Foundation
import HTTP
import HandScreens
import HandSync
import Terminal

struct Top: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Watch a running server of this machine: lists, rates, who lags.",
        discussion: """
            A live view, each second anew; q ends it. It asks over the server's admin socket, as 'hand admin' does, which \
            only the server's user may open. 'hand admin report' prints the same once, as JSON.
            """)

    @OptionGroup var options: AdminOptions

    func run() throws {
        // That there is a server is found out before the screen is taken over.
        let first = try AdminOptions.decoded(try options.ask("/report"), as: ServerReport.self)
        let loop = try Loop()
        let watch = try TopWatch(loop, at: try options.path, first)
        loop.run()
        watch.end()
        loop.close()
    }
}

/// Asks a server each second and draws what it says.
private final class TopWatch {
    private let loop: Loop
    private let path: String
    private let terminal: Terminal
    private let timer: EventLoop.Timer
    private var signals: [Signal] = []
    private var report: ServerReport
    private var previous: ServerReport?
    private var problem: String?

    private static let interval: UInt64 = 1_000

    init(_ loop: Loop, at path: String, _ first: ServerReport) throws {
        self.loop = loop
        self.path = path
        report = first
        timer = EventLoop.Timer(loop)
        var take: (Input) -> Void = { _ in }
        terminal = try Terminal(loop, hasColors: !Terminal.colorsAreRefused, hasMouse: false) { take($0) }
        take = { [unowned self] in hear($0) }
        terminal.onEnd = { loop.stop() }
        for number in [SIGTERM, SIGHUP, SIGINT] { signals.append(try Signal(loop, number) { loop.stop() }) }
        draw()
        askLater()
    }

    private func hear(_ input: Input) {
        switch input {
        case .key(Key(.character("q"))), .key(Key(.escape)), .key(Key(.character("c"), .control)): loop.stop()
        case .key(Key(.character("l"), .control)): terminal.redraw()
        case .key(Key(.character("z"), .control)): terminal.suspend()
        default: draw()
        }
    }

    private func askLater() {
        timer.start(after: Self.interval) { [unowned self] in ask() }
    }

    private func ask() {
        HTTPExchange(loop, at: .unix(path), "/report", patience: 5_000) { [weak self] in self?.take($0) }
    }

    private func take(_ answer: Result<HTTPExchange.Answer, HTTPExchange.Failure>) {
        do {
            let text = try AdminOptions.text(answer, from: path)
            let next = try AdminOptions.decoded(text, as: ServerReport.self)
            // A server that was started anew counts from nothing.
            previous = next.startedAt == report.startedAt ? report : nil
            report = next
            problem = nil
        } catch {
            problem = Failure(error).message
        }
        draw()
        askLater()
    }

    private func draw() {
        terminal.draw(TopView(report, since: previous).canvas(terminal.size, problem: problem))
    }

    func end() { terminal.close() }
}
