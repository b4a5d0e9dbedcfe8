import EventLoop
import FoundationEssentials
import HandScreens
import HandStore
import HandSync

/// Reads the reports of a database's servers, and shows them.
final class FleetWatch: LiveContent {
    private let view: LiveView
    private let store: PostgresStore
    private var servers: [FleetView.Server] = []
    /// The newest reports by server.
    private var reports: [UInt64: ServerReport] = [:]
    private var problem: String?

    /// Runs until the user quits.
    static func run(_ store: PostgresStore) throws {
        // The first read comes before the terminal is taken over, so that an error is printed on the ordinary screen.
        let first = try store.servers()
        let view = try LiveView()
        let watch = FleetWatch(view, store)
        watch.show(first)
        view.run(watch)
        store.close()
    }

    private init(_ view: LiveView, _ store: PostgresStore) {
        (self.view, self.store) = (view, store)
    }

    func canvas(_ size: Size) -> Canvas { FleetView(servers).canvas(size, said: problem) }

    func take(_ key: Key) -> TopChoice.Wish? {
        switch key {
        case Key(.character("q")), Key(.escape), .control("c"): .quit
        case .control("l"): .redraw
        case .control("z"): .suspend
        default: nil
        }
    }

    func ask() {
        Work.submit(view.loop) { [store] in
            StoreError.catching { try store.servers() }
        } then: { [weak self] result in
            switch result {
            case .success(let found): self?.show(found)
            case .failure(let error): self?.problem = "\(error)"
            }
            self?.view.drawAndAskLater()
        }
    }

    private func show(_ found: [SharedServer]) {
        problem = nil
        let former = exchange(&reports, with: [:])
        servers = found.map { server in
            let report = try? JSONDecoder().decode(ServerReport.self, from: Data(server.report))
            reports[server.id] = report
            return FleetView.Server(
                address: server.address, silence: server.silence, report: report, since: former[server.id])
        }
    }
}
