import EventLoop
import FaultyNetwork
import Foundation
import HandClient
import HandCore
import HandFormats
import HandSimulation
import HandTestSupport
import Testing

/// A server, a bad network in front of it, and people who edit one list through it.
final class Network {
    static let people = 4

    let proxy: FaultyProxy
    private let server: RunningServer
    private let clients: [HandClient]
    private let ledger = CrashTests.Ledger()
    /// Another client of the list that waits for nobody.
    private let hermit: FollowedList

    /// - Parameter faults: the faults of the network once everybody has the list.
    init(seed: UInt64, _ faults: Faults, idleTimeout: Int = 2) async throws {
        // Silent clients are disconnected after this time, so that no test has to wait longer for that.
        let server = try RunningServer(
            try TemporaryFolder(),
            ["--listen", "127.0.0.1:0", "--idle-timeout", "\(idleTimeout)", "--durability", "os"])
        let proxy = try FaultyProxy(to: try server.tcpAddress(), seed: seed)
        clients = try (0..<Self.people).map { number in
            try HandClient(
                ClientConfiguration(
                    server: .tcp(host: "127.0.0.1", port: proxy.address.port), person: "person \(number)",
                    program: "test", seed: seed &+ UInt64(number)))
        }
        self.server = server
        self.proxy = proxy
        try await clients[0].create("list")
        for client in clients { _ = try await client.open("list").live() }
        hermit = try await clients[0].open("list")
        proxy.change { $0 = faults }
    }

    /// Everybody edits while `body` runs; then the network is good again, and the result is verified.
    func edit(_ body: (Network) async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, client) in clients.enumerated() {
                let list = try await client.open("list")
                let ledger = ledger
                group.addTask {
                    var chaos = Chaos(seed: UInt64(index) + 100)
                    while !ledger.isOver { try await CrashTests.edit(list, &chaos, ledger, burst: 5) }
                }
            }
            try await body(self)
            proxy.heal()
            ledger.finish()
            try await group.waitForAll()
        }
        try await CrashTests.verify(server, clients, ledger)
        proxy.close()
    }

    /// Waits until this many more edits are acknowledged.
    func acknowledged(_ number: Int) async throws {
        let threshold = ledger.count + number
        for await count in ledger.counts where count >= threshold { break }
    }

    /// Makes edits that the server cannot receive now.
    func editUnheard(_ number: Int) async throws {
        for index in 0..<number {
            try await hermit.edit { state in
                let count = state.view.count
                if count == 0 || index % 2 == 0 {
                    let item = Item(id: ItemID(rawValue: .random(in: 1 ... .max)), content: .task("alone", done: false))
                    return Delta.inserting([item], at: count / 2, .after)
                }
                return Delta.moving(0..<1, to: count, .before)
            }
        }
    }

    /// Waits until one of the clients notices that the server is silent.
    func somebodyGivesUp() async throws {
        for await event in hermit.events {
            if case .status(.offline) = event { return }
        }
    }

    /// `kill -9`, and a new server, which has another port.
    func restart() throws {
        server.kill()
        try server.start()
        proxy.forward(to: try server.tcpAddress())
    }
}

extension RunningServer {
    /// Returns the server's TCP address.
    func tcpAddress() throws -> SocketAddress {
        let words = greeting.split(whereSeparator: \.isWhitespace)
        let port = words.first { $0.hasPrefix("hand://") }?.split(separator: ":").last.flatMap { UInt16($0) }
        return try SocketAddress(ip: "127.0.0.1", port: try #require(port))
    }
}
