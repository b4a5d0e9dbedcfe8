import EventLoop
import HandLoad
import HandWire
import Testing

/// The client's side of a WebSocket, above a channel that the test plays the server on.
@Suite struct WebSocketClientTests {
    /// A channel that takes everything at once, unless it is told to wait.
    private final class Line: Channel {
        let peerDescription = "the test"
        var written: [UInt8] = []
        var isWriting = false
        private(set) var isClosed = false
        private var receive: ((ChannelEvent) -> Void)?

        func open(_ receive: @escaping (ChannelEvent) -> Void) { self.receive = receive }
        func stopReading() {}
        func resumeReading() {}
        func shutdown() {}
        func close() { isClosed = true }

        func write(_ buffers: UnsafeBufferPointer<OutputBuffer>) -> WriteResult {
            written += buffers.flatMap(\.bytes)
            return isWriting ? .draining : .written
        }

        func send(_ bytes: [UInt8]) { bytes.withUnsafeBytes { receive?(.bytes($0)) } }
        func tell(_ event: ChannelEvent) { receive?(event) }

        /// What a server reads of what was written after the request.
        func frames() throws -> (content: [UInt8], closes: [WebSocketEnd?], pongs: Int) {
            var reader = WebSocketReader()
            var (content, closes) = ([UInt8](), [WebSocketEnd?]())
            let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 17, alignment: 8)
            defer { room.deallocate() }
            try written.withUnsafeBytes { bytes in
                var rest = bytes
                while let event = try reader.read(&rest, into: room) {
                    switch event {
                    case .content(let count): content += room[..<count]
                    case .close(let end): closes.append(end)
                    case .ping: Issue.record("a client sends no pings")
                    }
                }
            }
            return (content, closes, pongs())
        }

        /// The pongs, which a server's reader passes over. All frames of these tests are short.
        private func pongs() -> Int {
            var (count, start) = (0, 0)
            while start < written.count {
                if written[start] == 0x8A { count += 1 }
                start += 6 + Int(written[start + 1] & 0x7F)
            }
            return count
        }
    }

    private final class Told {
        var pieces: [[UInt8]] = []
        var bytes: [UInt8] { pieces.flatMap(\.self) }
        var drains = 0
        var ends: [ChannelEnd] = []
    }

    /// - Parameter stops: whether the owner closes the client as soon as it has got bytes.
    private static func open(closes: Bool = false) -> (client: WebSocketClient, line: Line, told: Told) {
        let (line, told) = (Line(), Told())
        let client = WebSocketClient(line, origin: "https://lists.example:8443")
        client.open { [unowned client] in
            switch $0 {
            case .bytes(let bytes):
                told.pieces.append(Array(bytes))
                if closes { client.close() }
            case .drained: told.drains += 1
            case .ended(let end): told.ends.append(end)
            }
        }
        return (client, line, told)
    }

    /// Reads the request, and returns the answer of a server that agrees.
    private static func agreement(_ line: Line) throws -> [UInt8] {
        let request = String(decoding: line.written, as: UTF8.self)
        line.written = []
        let key = try #require(request.firstMatch(of: /\r\nSec-WebSocket-Key: ([A-Za-z0-9+\/]{21}[AQgw]==)\r\n/)?.1)
        #expect(request.hasPrefix("GET / HTTP/1.1\r\nHost: lists.example:8443\r\n"))
        #expect(request.contains("\r\nOrigin: https://lists.example:8443\r\n"))
        #expect(request.hasSuffix("\r\n\r\n"))
        let accept = SHA1.base64(of: Array("\(key)258EAFA5-E914-47DA-95CA-C5AB0DC85B11".utf8))
        return Array("HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: \(accept)\r\n\r\n".utf8)
    }

    /// A frame as a server sends it.
    private static func frame(_ opcode: UInt8, _ content: [UInt8]) -> [UInt8] {
        [0x80 | opcode, UInt8(content.count)] + content
    }

    private static func write(_ bytes: [UInt8], to client: WebSocketClient) -> WriteResult {
        client.write([OutputBuffer(bytes)])
    }

    /// What is written before the server agrees is sent then, once; frames may follow the answer at once.
    @Test func whatIsWrittenEarlyIsSent() throws {
        for isWhole in [true, false] {
            let (client, line, told) = Self.open()
            #expect(Self.write([1, 2], to: client) == .draining && client.isWriting)
            #expect(Self.write([3], to: client) == .draining)
            let answer = try Self.agreement(line) + Self.frame(2, [7, 8]) + Self.frame(9, [5]) + Self.frame(2, [9])
            for piece in isWhole ? [answer] : answer.map({ [$0] }) { line.send(piece) }
            #expect(told.bytes == [7, 8, 9] && told.drains == 1 && !client.isWriting)
            #expect(!isWhole || told.pieces.count == 1)
            #expect(Self.write([4], to: client) == .written)
            let frames = try line.frames()
            #expect(frames.content == [1, 2, 3, 4] && frames.pongs == 1)
            client.close()
            #expect(line.isClosed && told.ends.isEmpty)
            #expect(try line.frames().closes == [WebSocketEnd(code: 1000, "")])
        }
    }

    /// Masks differ, and are not zero, so that the server's work is that for a browser.
    @Test func everyFrameHasAMaskOfItsOwn() throws {
        let (client, line, _) = Self.open()
        line.send(try Self.agreement(line))
        var masks: Set<[UInt8]> = []
        for _ in 0..<50 {
            _ = Self.write([1], to: client)
            masks.insert(Array(line.written[2..<6]))
            line.written = []
        }
        #expect(masks.count == 50 && !masks.contains([0, 0, 0, 0]))
        client.close()
    }

    @Test func aFullLineIsWaitedFor() throws {
        let (client, line, told) = Self.open()
        line.isWriting = true
        line.send(try Self.agreement(line))
        #expect(Self.write([1], to: client) == .draining)
        line.isWriting = false
        line.tell(.drained)
        #expect(told.drains == 1)
        client.close()
    }

    @Test(
        arguments: [
            ("HTTP/1.1 403 Forbidden\r\n\r\n", "; it says: HTTP/1.1 403 Forbidden"), ("nonsense\r\n\r\n", ""),
            // A proxy that has kept an old answer.
            (
                "HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n",
                "; it says: HTTP/1.1 101 Switching Protocols"
            ),
            (String(repeating: "x", count: 8_193), ""),
        ])
    func aServerThatDoesNotAgreeIsTold(_ answer: String, _ words: String) throws {
        let (client, line, told) = Self.open()
        _ = try Self.agreement(line)
        line.send(Array(answer.utf8))
        line.send(Self.frame(2, [1]))
        #expect(told.ends == [.broken("the server does not go on as a WebSocket\(words)")] && told.pieces == [])
        #expect(Self.write([1], to: client) == .dropped)
        client.close()
        #expect(line.isClosed && line.written == [])
    }

    @Test func anAnswerThatBreaksOffIsTold() throws {
        let (client, line, told) = Self.open()
        line.send(Array("HTTP/1.1 101".utf8))
        line.tell(.ended(.eof))
        #expect(told.ends == [.broken("the server does not go on as a WebSocket; it says: HTTP/1.1 101")])
        client.close()
        // Whoever owns the client knows better what silence means.
        let (other, silent, heard) = Self.open()
        silent.tell(.ended(.eof))
        #expect(heard.ends == [.eof])
        other.close()
    }

    @Test(
        arguments: [
            (frame(8, [0x03, 0xF4]), ChannelEnd.eof, WebSocketEnd(code: 1012, "")),
            ([0x81, 0], .broken("WebSocket: text was sent; this protocol is binary"), nil),
            ([0x82, 0x80, 0, 0, 0, 0], .broken("WebSocket: a frame of a server is masked"), nil),
        ] as [([UInt8], ChannelEnd, WebSocketEnd?)])
    func theServersEndIsAnswered(_ bytes: [UInt8], _ end: ChannelEnd, _ answer: WebSocketEnd?) throws {
        let (client, line, told) = Self.open()
        line.send(try Self.agreement(line))
        line.send(Self.frame(2, [1]) + bytes + Self.frame(2, [2]))
        #expect(told.bytes == [1] && told.ends == [end])
        line.tell(.ended(.eof))
        client.close()
        let closes = try line.frames().closes
        #expect(closes.count == 1 && (answer == nil || closes == [answer]) && told.ends == [end])
    }

    /// The owner may close the client at any time.
    @Test func anOwnerMayCloseWhenBytesArrive() throws {
        let (client, line, told) = Self.open(closes: true)
        line.send(try Self.agreement(line) + Self.frame(2, [1]) + Self.frame(8, [0x03, 0xE8]))
        #expect(told.bytes == [1] && told.ends.isEmpty && line.isClosed)
        #expect(Self.write([1], to: client) == .dropped)
    }
}
