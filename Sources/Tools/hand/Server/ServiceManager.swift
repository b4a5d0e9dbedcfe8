import Foundation
import Glibc

/// Reports the server's state to the service manager that started it: systemd's protocol of `Type=notify`, one datagram for
/// each piece of news. Without a service manager it does nothing.
struct ServiceManager {
    enum News: String {
        case ready = "READY=1"
        case stopping = "STOPPING=1"
    }

    /// Sockets on which it listens for this process, by their descriptors; systemd's protocol of socket activation. To be
    /// asked once: children of this process must not take them for theirs.
    ///
    /// - Throws: `Failure` if there are more than anybody would want: then the number is a mistake.
    static func takeSockets() throws -> [Int32] {
        let environment = ProcessInfo.processInfo.environment
        defer { for name in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] { unsetenv(name) } }
        guard environment["LISTEN_PID"].flatMap({ Int32($0) }) == getpid(), let text = environment["LISTEN_FDS"] else {
            return []
        }
        guard let count = Int32(text), (1...64).contains(count) else {
            throw Failure(.usage, "$LISTEN_FDS: expected 1 to 64 sockets, found '\(text)'")
        }
        return Array(first..<first + count)
    }

    private static let first: Int32 = 3

    private let socketPath: String

    /// Nil without a service manager.
    init?(environment: [String: String] = ProcessInfo.processInfo.environment) {
        guard let path = environment["NOTIFY_SOCKET"], path.hasPrefix("/") || path.hasPrefix("@") else { return nil }
        socketPath = path
    }

    /// Says that the configuration is being read anew; `ready` is to follow.
    func tellReloading() {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        send("RELOADING=1\nMONOTONIC_USEC=\(now.tv_sec * 1_000_000 + now.tv_nsec / 1_000)")
    }

    /// Says that the start goes on and takes longer than usual: it is given two more minutes from now.
    func tellBusy() { send("EXTEND_TIMEOUT_USEC=120000000") }

    func tell(_ news: News) { send(news.rawValue) }

    private func send(_ text: String) {
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        // A path that begins with an at sign is a name without a file, which begins with a zero byte.
        var bytes = Array(socketPath.utf8)
        if bytes[0] == UInt8(ascii: "@") { bytes[0] = 0 }
        let room = MemoryLayout.size(ofValue: address.sun_path)
        guard bytes.count < room else { return }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let start = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
        let length = socklen_t(start + bytes.count)
        let message = Array(text.utf8)
        withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                // A service manager that does not listen any more need not know.
                _ = sendto(descriptor, message, message.count, Int32(MSG_NOSIGNAL), $0, length)
            }
        }
    }
}
