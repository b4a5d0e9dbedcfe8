import EventLoop
import Foundation
import HandClient
import HandCore
import HandFormats
import HandSync

/// Many clients on one loop, each with the whole list.
final class Crowd {
    private let loop: Loop
    private var clients: [(engine: ClientEngine, list: String)] = []
    private var random = SplitMix64(seed: 3)

    /// Milliseconds between two checks of all clients.
    private static let interval: UInt64 = 2

    /// - Parameter lists: the existing lists; each client follows one of them.
    init(_ count: Int, at servers: HandAddress.Server, on lists: [String]) throws {
        loop = try Loop()
        for index in 0..<count {
            let list = lists[index % lists.count]
            var configuration = ClientConfiguration(server: servers, person: "client \(index)", program: "speed")
            configuration.list = list
            let engine = ClientEngine(configuration, loop: loop, journal: nil)
            engine.start()
            engine.open(list)
            clients.append((engine, list))
        }
    }

    /// Each client inserts an item, wherever its server is.
    func edit() {
        for (engine, list) in clients {
            let item = Item(id: .random(using: &random), content: .note("one more"))
            try? engine.perform { machine in
                try machine.edit(list, Delta.inserting([item], at: 0, .after))
            }
        }
    }

    /// Waits until everybody has a server and all edits are durable.
    func waitUntilSafe() { wait { $0.isLive && $0.pendingCount == 0 } }

    /// Waits until nobody has a server.
    func waitUntilLost() { wait { !$0.isLive } }

    func close() {
        for (engine, _) in clients { engine.close() }
        loop.run()
        loop.close()
    }

    /// Runs the loop until `holds` is true for all clients.
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
