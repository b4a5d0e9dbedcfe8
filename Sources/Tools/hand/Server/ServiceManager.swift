import FoundationEssentials
import Glibc

/// Reports the server's state to the service manager that started it, by systemd's protocol for `Type=notify`: one
/// datagram per state.
struct ServiceManager {
    enum News: String {
        case ready = "READY=1"
        case stopping = "STOPPING=1"
    }

    /// The name (`FileDescriptorName=`) of a socket for WebSockets.
    static let webName = "web"

    /// Returns the sockets that the manager has opened for this process, by systemd's protocol for socket activation,
    /// with their names, if they have any. Call it once: it clears the variables, so that child processes do not use
    /// the sockets.
    ///
    /// - Throws: `Failure` if the number of sockets is not from 1 to 64, or not that of the names.
    static func takeSockets() throws -> [(descriptor: Int32, name: String?)] {
        let environment = ProcessInfo.processInfo.environment
        defer { for name in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] { unsetenv(name) } }
        guard environment["LISTEN_PID"].flatMap({ Int32($0) }) == getpid(), let text = environment["LISTEN_FDS"] else {
            return []
        }
        guard let count = Int32(text), (1...64).contains(count) else {
            throw Failure(.usage, "$LISTEN_FDS: expected 1 to 64 sockets, found '\(text)'")
        }
        guard let names = environment["LISTEN_FDNAMES"]?.split(separator: ":", omittingEmptySubsequences: false) else {
            return (first..<first + count).map { ($0, nil) }
        }
        guard names.count == count else {
            throw Failure(.usage, "$LISTEN_FDNAMES: expected as many names as sockets (\(count)), found \(names.count)")
        }
        return Array(zip(first..., names.map(String.init)))
    }

    private static let first: Int32 = 3

    private let socketPath: String

    /// Returns nil if there is no service manager.
    init?(environment: [String: String] = ProcessInfo.processInfo.environment) {
        guard let path = environment["NOTIFY_SOCKET"], path.hasPrefix("/") || path.hasPrefix("@") else { return nil }
        socketPath = path
    }

    /// Reports that the configuration is being read again; `ready` must follow.
    func tellReloading() {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        send("RELOADING=1\nMONOTONIC_USEC=\(now.tv_sec * 1_000_000 + now.tv_nsec / 1_000)")
    }

    func tell(_ news: News) { send(news.rawValue) }

    private func send(_ text: String) {
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        // A leading @ stands for the zero byte of an abstract socket.
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
                // If the service manager no longer listens, there is nobody to notify.
                _ = sendto(descriptor, message, message.count, Int32(MSG_NOSIGNAL), $0, length)
            }
        }
    }
}
