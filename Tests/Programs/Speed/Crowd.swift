import EventLoop
import Foundation
import HandClient
import HandCore
import HandFormats
import HandSync

/// Many clients on one loop, each with the whole list.
final class Crowd {
    private let loop: Loop
    private var clients: [(client: JournaledClient, list: String)] = []
    private var hook: TurnHook?
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
            let client = JournaledClient(configuration, loop: loop, journal: nil)
            client.start()
            client.open(list)
            clients.append((client, list))
        }
        hook = loop.onTurnEnd { [unowned self] in for (client, _) in clients { client.flush() } }
    }

    /// Each client inserts an item, wherever its server is.
    func edit() {
        for (client, list) in clients {
            let item = Item(id: .random(using: &random), content: .note("one more"))
            try? client.edit { try $0.edit(list, Delta.inserting([item], at: 0, .after)) }
        }
    }

    /// Waits until everybody has a server and all edits are durable.
    func waitUntilSafe() { wait { $0.isLive && $0.pendingCount == 0 } }

    /// Waits until nobody has a server.
    func waitUntilLost() { wait { !$0.isLive } }

    func close() {
        hook?.cancel()
        for (client, _) in clients { client.close() }
        loop.run()
        loop.close()
    }

    /// Runs the loop until `holds` is true for all clients.
    private func wait(_ holds: @escaping (ListState) -> Bool) {
        let timer = EventLoop.Timer(loop)
        timer.start(after: Self.interval, repeating: Self.interval) { [unowned self] in
            let isOver = clients.allSatisfy { client, list in client.state(of: list).map(holds) ?? false }
            if isOver { loop.stop() }
        }
        loop.run()
        timer.close()
    }
}
