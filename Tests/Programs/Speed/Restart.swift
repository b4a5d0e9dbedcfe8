import EventLoop
import Foundation
import HandClient
import HandCore
import HandFormats
import HandSync

extension Row {
    /// The server is stopped with SIGTERM and started again at once, under clients that go on editing without it: from the
    /// signal until each of them is back and all that it did meanwhile is durable.
    static let restart = Row(
        name: "restart under 1,000 clients that edit: until all is resumed, ms", goal: .below(1_000)
    ) { bench in
        let outcomes = try (0..<bench.pairs).map { _ in try Restart(bench).measure() }
        return Outcome(
            ours: outcomes.map(\.all).median * 1_000,
            remark: "of which the server itself: \(Row.number(outcomes.map(\.server).median * 1_000)) ms")
    }
}

/// Many clients on one loop, and a server that is restarted under them.
private final class Restart {
    private let bench: Bench
    private let loop: Loop
    private var clients: [(engine: ClientEngine, list: String)] = []
    private var random = SplitMix64(seed: 3)

    private static let count = 1_000
    private static let lists = 100
    /// Milliseconds between two looks at whether everybody is where they should be.
    private static let interval: UInt64 = 2

    init(_ bench: Bench) throws {
        self.bench = bench
        loop = try Loop()
    }

    func measure() throws -> (all: Double, server: Double) {
        let server = try bench.freshServer()
        defer { server.stop() }
        let lists = (0..<Self.lists).map { "list-\($0)" }
        try open(lists, on: server)
        wait { $0.isLive && $0.pendingCount == 0 }
        let start = ContinuousClock.now
        server.terminate()
        wait { !$0.isLive }
        for (engine, list) in clients { edit(engine, list) }
        server.stop()
        let next = try bench.again(server)
        defer { next.stop() }
        let up = ContinuousClock.now
        wait { $0.isLive && $0.pendingCount == 0 }
        let end = ContinuousClock.now
        for (engine, _) in clients { engine.close() }
        loop.run()
        loop.close()
        return ((end - start).seconds, (up - start).seconds)
    }

    private func open(_ lists: [String], on server: Server) throws {
        for index in 0..<Self.count {
            let configuration = ClientConfiguration(
                server: .tcp(host: "127.0.0.1", port: UInt16(server.port)), person: "client \(index)", program: "speed")
            let engine = ClientEngine(configuration, loop: loop, journal: nil)
            engine.start()
            clients.append((engine, lists[index % lists.count]))
        }
        for list in lists {
            _ = try Child([bench.program("hand"), "create", "--url", server.url, list], core: 1).finish()
        }
        for (engine, list) in clients {
            engine.open(list)
            edit(engine, list)
        }
    }

    private func edit(_ engine: ClientEngine, _ list: String) {
        let item = Item(id: .random(using: &random), content: .note("one more"))
        try? engine.perform { machine in
            try machine.edit(list, Delta.inserting([item], at: 0, .after))
        }
    }

    /// Runs the loop until something holds for all clients.
    private func wait(_ holds: @escaping (ListState) -> Bool) {
        let timer = EventLoop.Timer(loop)
        timer.start(after: Self.interval, repeating: Self.interval) { [unowned self] in
            let isOver = clients.allSatisfy { engine, list in engine.state(of: list).map(holds) ?? false }
            if isOver { loop.stop() }
        }
        loop.run()
        timer.close()
    }
}
