import ArgumentParser
import EventLoop
import Foundation
import HTTP
import HandScreens
import HandSync
import Terminal

struct Top: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Watch a running server on this machine, or all servers that share a database.",
        discussion: """
            A live view, refreshed every second. s sorts the lists by another column, S the connections, / searches for a \
            name, j and k choose a connection and x closes it, q quits. It uses the server's admin socket, like 'hand \
            admin', which only the server's user may open. 'hand admin report' prints the same once, as JSON.

            With --all it shows all servers that share a database (--store): their connections and rates, and which are silent.
            """)

    @OptionGroup var options: AdminOptions
    @Flag(help: "Show all servers that share a database.") var all = false
    @OptionGroup var shared: SharedStoreOptions

    func run() throws {
        if all { return try FleetWatch.run(try shared.opened()) }
        // The first request comes before the terminal is taken over, so that an error is printed on the ordinary
        // screen.
        let first = try AdminOptions.decoded(try options.ask("/report"), as: ServerReport.self)
        let loop = try Loop()
        let watch = try TopWatch(loop, at: try options.path, first)
        loop.run()
        watch.end()
        loop.close()
    }
}

/// Requests a server's report every second, and draws it.
private final class TopWatch {
    private let loop: Loop
    private let path: String
    private let terminal: Terminal
    private let timer: EventLoop.Timer
    private var signals: [Signal] = []
    private var report: ServerReport
    private var previous: ServerReport?
    private var problem: String?
    /// Whether the problem is a missing report.
    private var isLost = false
    private var choice = TopChoice()

    private static let interval: UInt64 = 1_000

    init(_ loop: Loop, at path: String, _ first: ServerReport) throws {
        self.loop = loop
        self.path = path
        report = first
        timer = EventLoop.Timer(loop)
        var take: (Input) -> Void = { _ in }
        terminal = try Terminal(loop, hasColors: !Terminal.colorsAreRefused, hasMouse: false) { take($0) }
        take = { [unowned self] in handle($0) }
        terminal.onEnd = { loop.stop() }
        for number in [SIGTERM, SIGHUP, SIGINT] { signals.append(try Signal(loop, number) { loop.stop() }) }
        draw()
        askLater()
    }

    private func handle(_ input: Input) {
        switch input {
        case .key(let key):
            problem = nil
            switch choice.take(key, among: TopView(report, since: previous, choice).connections) {
            case .quit: return loop.stop()
            case .redraw: return terminal.redraw()
            case .suspend: return terminal.suspend()
            case .close(let number): close(number)
            case nil: break
            }
        case .paste, .mouse, .resize, .cursor: break
        }
        draw()
    }

    /// Asks the server to close a connection, and shows the result.
    private func close(_ number: UInt64) {
        let target = "/connections/\(number)/close"
        HTTPExchange(loop, at: .unix(path), target, method: "POST", patience: 5_000) { [weak self] answer in
            guard let self else { return }
            do {
                _ = try AdminOptions.text(answer, from: path)
                problem = "connection \(number) is closed"
            } catch {
                problem = Failure(error).message
            }
            draw()
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
            // A restarted server counts from zero.
            previous = next.startedAt == report.startedAt ? report : nil
            report = next
            if isLost { (isLost, problem) = (false, nil) }
        } catch {
            (isLost, problem) = (true, Failure(error).message)
        }
        draw()
        askLater()
    }

    private func draw() {
        terminal.draw(TopView(report, since: previous, choice).canvas(terminal.size, said: problem))
    }

    func end() { terminal.close() }
}
