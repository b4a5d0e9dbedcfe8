import EventLoop
import FaultyNetwork
import Foundation
import HandClient
import HandCore
import HandSync
import HandTestSupport
import Testing

/// A server with two addresses, one of which is lost, or never had a server. Each is reached through a network of its
/// own.
@Suite(.serialized, .timeLimit(.minutes(5))) struct MovingTests {
    private let server: RunningServer

    init() throws {
        server = try RunningServer(try TemporaryFolder(), ["--listen", "127.0.0.1:0", "--durability", "os"])
    }

    private func proxy(_ faults: Faults = Faults()) throws -> FaultyProxy {
        try FaultyProxy(to: try server.tcpAddress(), seed: 1, faults: faults)
    }

    /// Returns a list that belongs to the first of two addresses, a client that follows it directly, and a client with
    /// both addresses.
    private func meet(_ first: SocketAddress, _ second: SocketAddress) async throws -> (
        ada: HandClient, ben: HandClient, list: String
    ) {
        // Addresses are ordered by port.
        let home = first.port < second.port ? 0 : 1
        let list = try #require((0..<100).map { "list-\($0)" }.first { ServerRound.home(of: $0, among: 2) == home })
        let ben = try server.client("ben")
        try await ben.create(list)
        let address = "hand://\(first),\(second)/\(list)"
        return (try HandClient(ClientConfiguration(address: address, person: "ada", program: "test")), ben, list)
    }

    private static func add(_ text: String, to list: FollowedList) async throws {
        var random = SystemRandomNumberGenerator()
        let item = Item(id: .random(using: &random), content: .note(text))
        try await list.edit { Delta.inserting([item], at: $0.view.count, .before) }
    }

    /// Returns the statuses of the connection until it is online.
    private static func statuses(_ events: inout AsyncStream<ListEvent>.AsyncIterator) async -> [ClientMachine.Status] {
        var statuses: [ClientMachine.Status] = []
        while statuses.last != .online, let event = await events.next() {
            if case .status(let status) = event { statuses.append(status) }
        }
        return statuses
    }

    enum Lost: CaseIterable {
        case submission, answer
    }

    /// A connection is lost with an edit in flight, either before the server has received it or before the client has
    /// the answer. The edit continues over the other address at once, and back when that is lost; each edit is
    /// committed once.
    @Test(arguments: Lost.allCases) func anEditInFlightMovesToTheOtherAddress(lost: Lost) async throws {
        let (first, second) = (try proxy(), try proxy())
        let (ada, ben, name) = try await meet(first.address, second.address)
        let (list, others) = (try await ada.open(name), try await ben.open(name))
        _ = try await list.live()
        #expect(
            first.traffic.connections == 1 && second.traffic.connections == 0, "it begins where the list is at home")
        try await Self.add("one", to: list)
        _ = try await list.settled()
        var events = list.events.makeAsyncIterator()

        first.change { if lost == .answer { $0.down.isSilent = true } else { $0.up.isSilent = true } }
        try await Self.add("two", to: list)
        if lost == .answer { _ = try await others.caughtUp(to: 2) }
        let start = ContinuousClock.now
        first.resetAll()
        #expect(try await list.settled().rejections.isEmpty)
        print("an edit whose \(lost) was lost was settled over another address after \(ContinuousClock.now - start)")
        #expect(await Self.statuses(&events) == [.connecting(to: "\(second.address)"), .online])
        #expect(first.traffic.connections == 1 && second.traffic.connections == 1)

        first.heal()
        second.change { $0.up.isSilent = true }
        try await Self.add("three", to: list)
        second.close()
        #expect(try await list.settled().rejections.isEmpty)
        #expect(try await ben.state(of: name).hand.map(\.content.text) == ["one", "two", "three"])
        #expect(try await ben.state(of: name).revision == 3 && first.traffic.connections == 2)
        await ada.close()
        await ben.close()
    }

    /// At the first address, nobody listens, or the server is silent, or does not even accept the connection.
    @Test(arguments: ["refused", "silent", "full"]) func aUselessFirstAddressIsSkipped(what: String) async throws {
        var silence = Faults()
        silence.isPartitioned = true
        let (good, silent, full) = (try proxy(), try proxy(silence), try FullListener())
        let first = ["refused": try SocketAddress(ip: "127.0.0.1", port: 1), "silent": silent.address][what]
        let (ada, ben, name) = try await meet(try first ?? full.address(), good.address)
        let start = ContinuousClock.now
        let list = try await ada.open(name)
        try await ada.connected()
        print("with a first address that is \(what) the second was there after \(ContinuousClock.now - start)")
        #expect(silent.traffic.connections == (what == "silent" ? 1 : 0) && good.traffic.connections == 1)
        // It stays there for longer than a server has for its answer.
        var count = 0
        while ContinuousClock.now - start < .milliseconds(2_300) || count == 0 {
            count += 1
            try await Self.add("\(count)", to: list)
            #expect(try await list.settled().revision == count)
        }
        #expect(good.traffic.connections == 1)
        await ada.close()
        await ben.close()
    }

    /// If no server answers, the message names all of them.
    @Test func allUnreachableAddressesAreNamed() async throws {
        let address = "hand://127.0.0.1:1,127.0.0.1:2/list"
        let ada = try HandClient(ClientConfiguration(address: address, person: "ada", program: "test"))
        await #expect(throws: ClientError.unreachable("127.0.0.1:1, 127.0.0.1:2: connection refused")) {
            try await ada.connected()
        }
        await ada.close()
    }

    /// A host name has two addresses; at the first of them, nobody listens, or nobody answers.
    @Test(.enabled(if: OwnHosts.arePossible), arguments: [false, true]) func bothAddressesOfANameAreTried(
        isSilent: Bool
    )
        throws
    {
        var silence = Faults()
        silence.isPartitioned = true
        let (folder, silent) = (try TemporaryFolder(), try proxy(silence))
        if !isSilent { silent.close() }
        let port = silent.address.port
        let other = try RunningServer(folder, ["--listen", "127.0.0.2:\(port)"])
        let hosts = folder.path + "/hosts"
        try "127.0.0.1 two-addresses\n127.0.0.2 two-addresses\n".write(
            toFile: hosts, atomically: true, encoding: .utf8)
        let url = "hand://two-addresses:\(port)/list"
        for arguments in [["create", "list"], ["add", "milk"], ["ls"]] {
            let outcome = try Binary.run(
                OwnHosts.arguments(hosts) + [Binary.path] + arguments,
                environment: ["HAND_URL": url, "XDG_STATE_HOME": folder.path, "XDG_CONFIG_HOME": folder.path],
                program: OwnHosts.program)
            #expect(outcome.status == 0, "\(arguments): \(outcome.messages)")
            if arguments == ["ls"] { #expect(outcome.output.contains("milk")) }
        }
        #expect((silent.traffic.connections > 0) == isSilent)
        other.kill()
    }
}

/// Commands that look up host names in a file of their own.
private enum OwnHosts {
    static let program = "/usr/bin/unshare"

    static func arguments(_ file: String) -> [String] {
        ["-rm", "/bin/sh", "-c", "mount --bind \"$0\" /etc/hosts && exec \"$@\"", file]
    }

    static let arePossible: Bool = {
        let outcome = try? Binary.run(arguments("/etc/hosts") + ["true"], program: program)
        if outcome?.status != 0 {
            print("The test of a name with two addresses is left out: this system gives no file of hosts of one's own.")
        }
        return outcome?.status == 0
    }()
}

/// A port of this machine that accepts no more connections: clients wait.
private final class FullListener {
    private let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    private var waiting: [Int32] = []

    init() throws {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        try withUnsafePointer(to: &address) { pointer in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                guard bind(listener, $0, size) == 0, listen(listener, 0) == 0 else { throw POSIXError(.EADDRINUSE) }
            }
        }
        var taken = sockaddr_in()
        taken.sin_family = sa_family_t(AF_INET)
        taken.sin_port = try self.address().port.bigEndian
        taken.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        for _ in 0..<8 {
            let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
            waiting.append(client)
            withUnsafePointer(to: &taken) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { _ = connect(client, $0, size) }
            }
        }
    }

    deinit {
        for descriptor in waiting + [listener] { close(descriptor) }
    }

    func address() throws -> SocketAddress { try #require(SocketAddress(ofSocket: listener)) }
}
