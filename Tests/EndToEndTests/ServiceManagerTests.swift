import Foundation
import HandTestSupport
import Testing

/// The server under a service manager, which this test plays.
@Suite struct ServiceManagerTests {
    /// A socket for datagrams, and what comes.
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
            var patience = timeval(tv_sec: 10, tv_usec: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        }

        deinit { close(descriptor) }

        func next() -> String {
            var bytes = [UInt8](repeating: 0, count: 512)
            let count = recv(descriptor, &bytes, bytes.count, 0)
            return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        }
    }

    @Test func itIsToldWhenTheServerIsReadyReloadsAndStops() throws {
        let folder = try TemporaryFolder()
        let manager = try Manager(folder)
        let server = Process()
        server.executableURL = URL(fileURLWithPath: Binary.path)
        server.arguments = [
            "serve", "--listen", folder.path + "/hand.sock", "--durability", "memory", "--log-level", "error",
        ]
        server.environment = ["NOTIFY_SOCKET": manager.path, "HAND_DATA": folder.path + "/data"]
        server.standardOutput = FileHandle.nullDevice
        try server.run()
        defer { server.terminate() }
        #expect(manager.next() == "READY=1")
        #expect(FileManager.default.fileExists(atPath: folder.path + "/hand.sock"), "it listens by then")
        kill(server.processIdentifier, SIGHUP)
        #expect(manager.next().wholeMatch(of: #/RELOADING=1\nMONOTONIC_USEC=[0-9]+/#) != nil)
        #expect(manager.next() == "READY=1")
        server.terminate()
        #expect(manager.next() == "STOPPING=1")
        server.waitUntilExit()
        #expect(server.terminationStatus == 0)
    }

    @Test func theUnit() throws {
        let unit = try Binary.run([
            "unit", "--program", "/usr/bin/hand", "--", "--listen", "0.0.0.0:7777", "--insecure",
        ])
        #expect(unit.status == 0, "\(unit.messages)")
        let lines = unit.output.split(separator: "\n")
        #expect(lines.contains("ExecStart=/usr/bin/hand serve --data /var/lib/hand --listen 0.0.0.0:7777 --insecure"))
        #expect(lines.contains("Type=notify"))
        let quoted = try Binary.run(["unit", "--program", "/a b/hand", "--", "--tls-cert", "50%$x", "--tls-key", "k"])
        #expect(
            quoted.output.contains(#"ExecStart="/a b/hand" serve --data /var/lib/hand --tls-cert 50%%$$x --tls-key k"#))
        let wrong = try Binary.run(["unit", "--", "--durabilty", "fsync"])
        #expect(wrong.status != 0 && wrong.messages.contains("durabilty"), "\(wrong.messages)")
    }
}
