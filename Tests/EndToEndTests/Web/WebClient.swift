import Foundation
import Glibc
import HandTestSupport
import HandWire

/// The client's side of a WebSocket, on a plain socket: every byte is the test's.
final class WebClient {
    private let socket: Int32
    private var unread: [UInt8] = []
    private var reader = FrameReader(limit: 1 << 20)

    struct Lost: Error {}

    struct Frame: Equatable {
        let opcode: UInt8
        let content: [UInt8]

        /// The code of a close frame.
        var code: Int? { opcode == 8 && content.count >= 2 ? Int(content[0]) << 8 | Int(content[1]) : nil }
    }

    init(port: UInt16) throws {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw Lost() }
        // A test that would wait for ever fails instead.
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { Glibc.close(socket) }

    func write(_ bytes: [UInt8]) { Self.write(bytes, to: socket) }

    private static func write(_ bytes: [UInt8], to socket: Int32) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if count <= 0 { return }
            rest = rest.dropFirst(count)
        }
    }

    /// Writes bytes again and again on a thread of its own, until the server takes no more.
    func writing(_ bytes: [UInt8], times: Int) -> Thread {
        let socket = dup(socket)
        let thread = Thread {
            for _ in 0..<times { Self.write(bytes, to: socket) }
            Glibc.close(socket)
        }
        thread.start()
        return thread
    }

    /// Sends bytes one by one, each in a packet of its own.
    func trickle(_ bytes: [UInt8]) {
        var isOn: Int32 = 1
        setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<Int32>.size))
        for byte in bytes { write([byte]) }
    }

    /// Reads until the server closes the connection, or until there are as many bytes.
    private func fill(_ count: Int) throws {
        while unread.count < count { if try !fillSome() { throw Lost() } }
    }

    private func fillSome() throws -> Bool {
        var room = [UInt8](repeating: 0, count: 65_536)
        let count = recv(socket, &room, room.count, 0)
        if count < 0 { throw Lost() }
        unread += room[..<count]
        return count > 0
    }

    /// Sends the head of a request, with these fields in place of those that a browser sends. Returns the answer's
    /// head and body.
    @discardableResult
    func upgrade(
        _ line: String = "GET / HTTP/1.1", origin: String? = "same", _ changed: [String: String?] = [:]
    ) throws -> String {
        var name = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &name) {
            _ = $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(socket, $0, &size) }
        }
        let host = "127.0.0.1:\(UInt16(bigEndian: name.sin_port))"
        var fields: [String: String?] = [
            "Host": host, "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Origin": origin == "same" ? "http://\(host)" : origin,
        ]
        for (key, value) in changed { fields[key] = value }
        let head = fields.sorted { $0.key < $1.key }.compactMap { name, value in value.map { "\(name): \($0)\r\n" } }
        write(Array("\(line)\r\n\(head.joined())\r\n".utf8))
        return try answer()
    }

    /// Reads the head of an answer, and the body of a page.
    func answer() throws -> String {
        let head = String(decoding: try read(through: Array("\r\n\r\n".utf8)), as: UTF8.self)
        let count = head.firstMatch(of: /(?i)content-length: ([0-9]+)/).flatMap { Int($0.1) } ?? 0
        return head + String(decoding: try read(count), as: UTF8.self)
    }

    func read(through end: [UInt8]) throws -> [UInt8] {
        while true {
            if let range = unread.firstRange(of: end) { return try read(range.upperBound) }
            if try !fillSome() { throw Lost() }
        }
    }

    func read(_ count: Int) throws -> [UInt8] {
        try fill(count)
        defer { unread.removeFirst(count) }
        return Array(unread[..<count])
    }

    static func frame(_ opcode: UInt8, _ content: [UInt8], isFinal: Bool = true) -> [UInt8] {
        let mask: [UInt8] = [1, 2, 3, 4]
        var bytes: [UInt8] = [(isFinal ? 0x80 : 0) | opcode]
        switch content.count {
        case ..<126: bytes.append(0x80 | UInt8(content.count))
        case ..<65_536: bytes += [0x80 | 126, UInt8(content.count >> 8), UInt8(content.count & 0xFF)]
        default: bytes += [0x80 | 127] + (0..<8).reversed().map { UInt8(truncatingIfNeeded: content.count >> ($0 * 8)) }
        }
        return bytes + mask + content.enumerated().map { $0.element ^ mask[$0.offset % 4] }
    }

    func send(_ message: UpMessage) { write(Self.frame(2, message.frame)) }

    /// Reads the next frame of the server, which is not masked.
    func frame() throws -> Frame {
        try fill(2)
        var (count, start) = (Int(unread[1]), 2)
        if count >= 126 {
            start = count == 126 ? 4 : 10
            try fill(start)
            count = unread[2..<start].reduce(0) { $0 << 8 | Int($1) }
        }
        try fill(start + count)
        defer { unread.removeFirst(start + count) }
        return Frame(opcode: unread[0] & 0x0F, content: Array(unread[start..<start + count]))
    }

    /// Reads binary messages until one of the protocol's messages is wanted.
    func message<Wanted>(_ isWanted: (DownMessage) -> Wanted?) throws -> Wanted {
        while true {
            let frame = try frame()
            guard frame.opcode == 2 else { continue }
            var found: Wanted?
            try frame.content.withUnsafeBytes { bytes in
                try reader.read(bytes) { (body) throws(WireError) -> Bool in
                    if let wanted = isWanted(try DownMessage(body)) { found = found ?? wanted }
                    return true
                }
            }
            if let found { return found }
        }
    }

    /// Whether the server closes the connection next.
    var isClosedByServer: Bool { unread.isEmpty && (try? fillSome()) != true }
}
