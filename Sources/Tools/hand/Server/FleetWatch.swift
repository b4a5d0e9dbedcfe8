import EventLoop
import Foundation
import HandScreens
import HandStore
import HandSync
import Terminal

/// Reads the reports of a database's servers every second, and draws them.
final class FleetWatch {
    private let loop: Loop
    private let store: PostgresStore
    private let terminal: Terminal
    private let timer: EventLoop.Timer
    private var signals: [Signal] = []
    private var servers: [FleetView.Server] = []
    /// The newest reports by server.
    private var reports: [UInt64: ServerReport] = [:]
    private var problem: String?

    private static let interval: UInt64 = 1_000

    /// Runs until the user quits.
    static func run(_ store: PostgresStore) throws {
        // The first read comes before the terminal is taken over, so that an error is printed on the ordinary screen.
        let first = try store.servers()
        let loop = try Loop()
        let watch = try FleetWatch(loop, store, first)
        loop.run()
        watch.terminal.close()
        loop.close()
        store.close()
    }

    private init(_ loop: Loop, _ store: PostgresStore, _ first: [SharedServer]) throws {
        (self.loop, self.store) = (loop, store)
        timer = EventLoop.Timer(loop)
        var take: (Input) -> Void = { _ in }
        terminal = try Terminal(loop, hasColors: !Terminal.colorsAreRefused, hasMouse: false) { take($0) }
        take = { [unowned self] in handle($0) }
        terminal.onEnd = { loop.stop() }
        for number in [SIGTERM, SIGHUP, SIGINT] { signals.append(try Signal(loop, number) { loop.stop() }) }
        show(first)
    }

    private func handle(_ input: Input) {
        if case .key(let key) = input {
            switch key {
            case Key(.character("q")), Key(.escape), .control("c"): return loop.stop()
            case .control("l"): return terminal.redraw()
            case .control("z"): return terminal.suspend()
            default: break
            }
        }
        draw()
    }

    private func ask() {
        Work.submit(loop) { [store] in
            StoreError.catching { try store.servers() }
        } then: { [weak self] result in
            switch result {
            case .success(let found): self?.show(found)
            case .failure(let error): self?.fail(error)
            }
        }
    }

    private func show(_ found: [SharedServer]) {
        problem = nil
        let former = reports
        reports = [:]
        servers = found.map { server in
            let report = try? JSONDecoder().decode(ServerReport.self, from: Data(server.report))
            reports[server.id] = report
            return FleetView.Server(
                address: server.address, silence: server.silence, report: report, since: former[server.id])
        }
        drawAndAskAgain()
    }

    private func fail(_ error: StoreError) {
        problem = "\(error)"
        drawAndAskAgain()
    }

    private func drawAndAskAgain() {
        draw()
        timer.start(after: Self.interval) { [unowned self] in ask() }
    }

    private func draw() {
        terminal.draw(FleetView(servers).canvas(terminal.size, said: problem))
    }
}
