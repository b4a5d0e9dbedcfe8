import Disk
import Foundation
import HandClient
import HandTestSupport
import Testing

/// The server under a service manager, which this test plays.
@Suite struct ServiceManagerTests {
    /// A socket for datagrams, and the messages on it.
    private final class Manager {
        private let descriptor: Int32
        let path: String

        init(_ folder: TemporaryFolder) throws {
            path = folder.path + "/notify"
            descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
            let result = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            try #require(result == 0)
            var timeout = timeval(tv_sec: 60, tv_usec: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        }

        deinit { close(descriptor) }

        func next() -> String {
            var bytes = [UInt8](repeating: 0, count: 512)
            let count = recv(descriptor, &bytes, bytes.count, 0)
            return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        }
    }

    /// Starts a server that reports to a service manager.
    private static func start(_ folder: TemporaryFolder, _ manager: Manager, durability: String) throws -> Process {
        let server = Process()
        server.executableURL = URL(fileURLWithPath: Binary.path)
        server.arguments = [
            "serve", "--listen", folder.path + "/hand.sock", "--durability", durability, "--log-level", "notice",
        ]
        server.environment = ["NOTIFY_SOCKET": manager.path, "HAND_DATA": folder.path + "/data"]
        server.standardOutput = FileHandle.nullDevice
        let log = URL(filePath: folder.path + "/log")
        try Data().write(to: log)
        server.standardError = try FileHandle(forWritingTo: log)
        try server.run()
        return server
    }

    @Test func theManagerIsNotifiedOfReadinessReloadAndStop() throws {
        let folder = try TemporaryFolder()
        let manager = try Manager(folder)
        let server = try Self.start(folder, manager, durability: "memory")
        defer { server.terminate() }
        #expect(manager.next() == "READY=1")
        #expect(FileManager.default.fileExists(atPath: folder.path + "/hand.sock"), "it must listen by then")
        kill(server.processIdentifier, SIGHUP)
        #expect(manager.next().wholeMatch(of: #/RELOADING=1\nMONOTONIC_USEC=[0-9]+/#) != nil)
        #expect(manager.next() == "READY=1")
        server.terminate()
        #expect(manager.next() == "STOPPING=1")
        server.waitUntilExit()
        #expect(server.terminationStatus == 0)
    }

    /// A socket that listens before the server does, and stays open when the server is restarted: nobody is refused in
    /// between.
    @Test func theServerTakesOverSockets() async throws {
        let folder = try TemporaryFolder()
        let (listening, port) = Self.listen()
        defer { close(listening) }
        let client = try HandClient(
            ClientConfiguration(server: .tcp(host: "127.0.0.1", port: port), person: "ada", program: "test"))
        for name in ["first", "second"] {
            let server = try Self.start(folder, [listening])
            try await Self.connect(client)
            try await client.create(name)
            kill(server, SIGTERM)
            #expect(Self.end(of: server) == 0)
        }
        let server = try Self.start(folder, [listening])
        try await Self.connect(client)
        #expect(try await client.lists().map(\.name) == ["first", "second"])
        await client.close()
        kill(server, SIGKILL)
        _ = Self.end(of: server)
    }

    /// A socket with the name web is for WebSockets, whatever stands beside it, and on TCP as on a Unix socket.
    @Test func aSocketMayBeForWebSockets() async throws {
        let folder = try TemporaryFolder()
        let (streams, port) = Self.listen()
        let (web, webPort) = Self.listen()
        let path = folder.path + "/web.sock"
        let local = try Self.listen(at: path)
        defer { for socket in [streams, web, local] { close(socket) } }
        let server = try Self.start(folder, [web, streams, local], names: "web:hand.socket:web")
        let client = try HandClient(
            ClientConfiguration(server: .tcp(host: "127.0.0.1", port: port), person: "ada", program: "test"))
        try await Self.connect(client)
        await client.close()
        for url in ["hand://127.0.0.1:\(webPort)", "hand+unix://\(path)"] {
            let options = ["--url", url, "--web", "--clients", "2", "--duration", "100ms", "--light"]
            let load = try Binary.run(["load"] + options)
            #expect(load.status == 0 && load.output.contains("converged"), "\(load)")
        }
        kill(server, SIGTERM)
        #expect(Self.end(of: server) == 0)
    }

    /// As many names as sockets.
    @Test(arguments: ["web", "web:a:b", ""]) func namesThatDoNotFitAreRefused(names: String) throws {
        let folder = try TemporaryFolder()
        let sockets = [Self.listen().socket, Self.listen().socket]
        defer { for socket in sockets { close(socket) } }
        let server = try Self.start(folder, sockets, names: names)
        #expect(Self.end(of: server) == 2)
    }

    /// Returns the exit code. A server that does not end is killed.
    private static func end(of server: pid_t) -> Int32 {
        var status: Int32 = -1
        if !eventually({ waitpid(server, &status, WNOHANG) == server }) {
            kill(server, SIGKILL)
            waitpid(server, &status, 0)
        }
        return status & 0x7F == 0 ? status >> 8 : -status
    }

    /// Listens on a Unix socket.
    private static func listen(at path: String) throws -> Int32 {
        let listening = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        try #require(path.utf8.count < MemoryLayout.size(ofValue: address.sun_path))
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = bind(listening, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(Glibc.listen(listening, 16) == 0)
        return listening
    }

    /// Listens on a port that is free.
    private static func listen() -> (socket: Int32, port: UInt16) {
        let listening = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let port = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = bind(listening, $0, size)
                _ = Glibc.listen(listening, 16)
                getsockname(listening, $0, &size)
            }
            return UInt16(bigEndian: pointer.pointee.sin_port)
        }
        return (listening, port)
    }

    /// Waits also while the client pauses because the server has stopped.
    private static func connect(_ client: HandClient) async throws {
        while (try? await client.connected()) == nil { try await Task.sleep(for: .milliseconds(20)) }
    }

    /// As systemd starts a service: the sockets are descriptors from 3 on, and the environment names the process that
    /// they are for.
    private static func start(_ folder: TemporaryFolder, _ sockets: [Int32], names: String? = nil) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        // First out of the way, because some may be such descriptors themselves.
        for (index, socket) in sockets.enumerated() {
            posix_spawn_file_actions_adddup2(&actions, socket, 200 + Int32(index))
        }
        for index in 0..<Int32(sockets.count) {
            posix_spawn_file_actions_adddup2(&actions, 200 + index, 3 + index)
            posix_spawn_file_actions_addclose(&actions, 200 + index)
        }
        posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        let command =
            (names.map { "LISTEN_FDNAMES='\($0)' " } ?? "") + "LISTEN_FDS=\(sockets.count) LISTEN_PID=$$ "
            + "exec '\(Binary.path)' serve --log-level error --data '\(folder.path)/data'"
        let words: [String] = ["sh", "-c", command]
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var process: pid_t = 0
        // A test's thread blocks signals, and a child would inherit that.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        try #require(posix_spawn(&process, "/bin/sh", &actions, &attributes, &arguments, environ) == 0)
        return process
    }

    @Test func theSocketUnit() throws {
        let unit = try Binary.run(["unit", "--socket", "0.0.0.0:7777"])
        #expect(unit.status == 0 && unit.output.contains("\nListenStream=0.0.0.0:7777\n"))
        #expect(
            try Binary.run(["unit", "--socket", "/run/hand.sock"]).output.contains("ListenStream=/run/hand.sock\n"))
        #expect(try Binary.run(["unit", "--socket", "somewhere"]).status == 2)
        #expect(!unit.output.contains("FileDescriptorName"))
        let web = try Binary.run(["unit", "--socket", "0.0.0.0:7780", "--web"])
        #expect(web.output.contains("\nListenStream=0.0.0.0:7780\nFileDescriptorName=web\nService=hand.service\n"))
        #expect(web.output.contains(" 'web' in the server's settings. To change it: systemctl edit hand-web.socket\n"))
        #expect(try Binary.run(["unit", "--web"]).status == 2)
        #expect(try Binary.run(["unit"]).output.contains("\nDynamicUser=yes\n"))
        let owned = try Binary.run(["unit", "--user", "hand"]).output
        #expect(owned.contains("\nUser=hand\n") && !owned.contains("DynamicUser"))
    }

    @Test func theUnitContainsTheServersOptions() throws {
        let unit = try Binary.run([
            "unit", "--program", "/usr/bin/hand", "--", "--listen", "0.0.0.0:7777", "--insecure",
        ])
        #expect(unit.status == 0, "\(unit.messages)")
        let lines = unit.output.split(separator: "\n")
        #expect(lines.contains("ExecStart=/usr/bin/hand serve --listen 0.0.0.0:7777 --insecure"))
        #expect(lines.contains("Type=notify"))
        let quoted = try Binary.run(["unit", "--program", "/a b/hand", "--", "--tls-cert", "50%$x", "--tls-key", "k"])
        #expect(
            quoted.output.contains(#"ExecStart="/a b/hand" serve --tls-cert 50%%$$x --tls-key k"#))
        for (options, reason) in [
            (["--durabilty", "fsync"], "durabilty"), (["--listen", "lists"], "--listen: 'lists' is not an address"),
            (["--status", ":x"], "--status: ':x'"),
        ] {
            let wrong = try Binary.run(["unit", "--"] + options)
            #expect(wrong.status == 2 && wrong.messages.contains(reason) && wrong.output == "", "\(wrong.messages)")
        }
    }
}
