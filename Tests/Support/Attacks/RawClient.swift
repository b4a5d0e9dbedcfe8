import Foundation
import Glibc
import HandCore
import HandWire

/// A client that follows no rules: it writes any bytes to a socket and reads what comes back. It blocks, but not
/// forever.
package final class RawClient {
    private let descriptor: Int32
    private var reader = FrameReader(limit: 64 << 20)
    private var heard: [DownMessage] = []
    private var isOver = false
    private let meter: Meter?

    /// An expected message did not arrive.
    package struct Silence: Error, CustomStringConvertible {
        package let description: String
    }

    /// - Parameters:
    ///   - host: an IPv4 address.
    ///   - timeout: seconds to wait for an answer.
    ///   - meter: counts what it sends.
    package init(_ host: String, _ port: UInt16, timeout: Int = 10, meter: Meter? = nil) throws {
        self.meter = meter
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        inet_pton(AF_INET, host, &address.sin_addr)
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw Silence(description: "cannot connect: \(String(cString: strerror(errno)))") }
        var wait = timeval(tv_sec: timeout, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &wait, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &wait, socklen_t(MemoryLayout<timeval>.size))
        var on: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    }

    deinit { close(descriptor) }

    // MARK: Sending

    /// Returns whether the system accepted all bytes. It does not if the server has closed the connection or does not
    /// read.
    @discardableResult
    package func send(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count <= 0 { return false }
            sent += count
            meter?.add(count)
        }
        return true
    }

    @discardableResult
    package func say(_ message: UpMessage) -> Bool { send(message.frame) }

    // MARK: Receiving

    /// Returns the next message, or nil if the server has closed the connection.
    package func next() throws -> DownMessage? {
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        while heard.isEmpty, !isOver {
            let count = recv(descriptor, &bytes, bytes.count, 0)
            if count < 0, errno == EAGAIN { throw Silence(description: "the server neither answered nor closed") }
            guard count > 0 else {
                isOver = true
                break
            }
            try bytes[..<count].withUnsafeBytes { all in
                try reader.read(all) { (body) throws(WireError) -> Bool in
                    heard.append(try DownMessage(body))
                    return true
                }
            }
        }
        return heard.isEmpty ? nil : heard.removeFirst()
    }

    /// Returns all messages until the server closes the connection.
    package func rest() throws -> [DownMessage] {
        var all: [DownMessage] = []
        while let message = try next() { all.append(message) }
        return all
    }

    /// Returns the server's answer to a hello.
    package func hello(_ client: UInt64, as person: String = "eve", token: String? = nil) throws -> DownMessage? {
        let hello = UpMessage.Hello(
            client: ClientID(high: 0xA77, low: client), person: person, program: "attack",
            token: token)
        say(.hello(hello))
        return try next()
    }

    /// Returns the server's messages until it answers a question that is sent after `message`.
    package func answers(to message: UpMessage) throws -> [DownMessage] {
        let mark: RequestNumber = 0xE0E0
        say(message)
        say(.lists(request: mark, after: ""))
        var all: [DownMessage] = []
        while let answer = try next() {
            if case .lists(mark, _, _) = answer { break }
            // It comes after the welcome, whatever is asked.
            if case .granted = answer { continue }
            all.append(answer)
        }
        return all
    }
}

/// The number of bytes that several clients have sent.
///
/// `@unchecked Sendable` is safe: the lock guards the count.
package final class Meter: @unchecked Sendable {
    private let lock = NSLock()
    private var count = 0

    package var bytes: Int { lock.withLock { count } }

    func add(_ bytes: Int) { lock.withLock { count += bytes } }
}

extension DownMessage {
    /// What an attack counts: the code of an error, or the reason of a rejection.
    package var refusal: String? {
        switch self {
        case .error(let code, _, _, _, _): "\(code)"
        case .rejected(_, _, let reason): "rejected \(reason.name)"
        case .stale: "stale"
        default: nil
        }
    }
}
