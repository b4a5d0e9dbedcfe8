import EventLoop
import HandServer
import HandStore
import HandSync
import HandWire
import Logging
import Testing

/// The beginning of a WebSocket as `Protocol.md` shows it, with the server on a real socket.
@Suite struct WebSocketDumpTests {
    /// What the client sends before each answer, and the answer, in bytes.
    private func dump() throws -> [(up: [UInt8], down: [UInt8])] {
        let fence = try #require(ProtocolPage.shared.fences(of: "websocket").first?.fence)
        var (turns, isHead): ([(up: [UInt8], down: [UInt8])], Bool) = ([], true)
        for line in fence.lines {
            let text = String(line.dropFirst(5))
            if text.hasPrefix("82 ") { isHead = false }
            let bytes = isHead ? Array((text + "\r\n").utf8) : try #require(hexBytes(text), "\(line)")
            if line.hasPrefix("ada>") {
                if turns.last?.down.isEmpty != true { turns.append(([], [])) }
                turns[turns.count - 1].up += bytes
            } else {
                try #require(line.hasPrefix("ada<") && !turns.isEmpty, "\(line)")
                turns[turns.count - 1].down += bytes
            }
        }
        return turns
    }

    @Test func theServerAnswersAsShown() throws {
        let loop = try Loop()
        var configuration = ServerConfiguration(
            endpoints: [.web(try SocketAddress(ip: "127.0.0.1", port: 0))], program: "hand 1.0", seed: 1)
        configuration.webNames = ["lists.example"]
        let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let server = Server(configuration, store: MemoryStore(), loop: loop, logger: quiet)
        guard case .web(let address) = try server.start().first else { throw UVError.notConnected }
        var (stream, heard): (TCP?, [UInt8]) = (nil, [])
        TCP.connect(loop, to: address) { stream = try? $0.get() }
        while stream == nil { loop.runOnce() }
        var hasEnded = false
        stream?.open({ heard += $0 }, onEnd: { _ in hasEnded = true })
        let turns = try dump()
        #expect(turns.count == 2)
        for (up, down) in turns {
            stream?.write([OutputBuffer(up)])
            while heard.count < down.count, !hasEnded { loop.runOnce() }
            #expect(Array(heard.prefix(down.count)) == down, "\(String(decoding: heard, as: UTF8.self))")
            heard = []
        }
        stream?.close()
        server.stop { loop.stop() }
        loop.run()
        loop.close()
    }

    /// The masked message is the hello of the session.
    @Test func theHelloIsThatOfTheSession() throws {
        let session = try #require(ProtocolPage.shared.fences(of: "hex").first { $0.name == "session" }?.fence.lines)
        let hello = try #require(session.first { $0.hasPrefix("ada> ") }.flatMap { hexBytes(String($0.dropFirst(5))) })
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 100, alignment: 8)
        defer { room.deallocate() }
        var reader = WebSocketReader()
        try dump()[1].up.withUnsafeBytes { bytes in
            var rest = bytes
            let event = try reader.read(&rest, into: room)
            #expect(event == .content(hello.count) && rest.isEmpty && Array(room[..<hello.count]) == hello)
        }
    }
}
