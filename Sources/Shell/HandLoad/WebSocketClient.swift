import EventLoop
import HTTP
import HandCore
import HandWire

/// The client's side of a WebSocket, as a browser has it. The contents of all binary messages of one direction are one
/// stream of bytes.
package final class WebSocketClient: Channel {
    private enum Phase {
        /// The server has not agreed yet. What is written meanwhile waits. → `open`, `over`
        case asking
        case open
        /// Nothing is read or written any more.
        case over
    }

    private let channel: any Channel
    private var phase = Phase.asking
    private var reader = WebSocketReader(of: .server)
    private var receive: ((ChannelEvent) -> Void)?
    private let expected: String
    /// The beginning of the server's answer.
    private var head: [UInt8] = []
    /// The output that waits for the answer.
    private var early: [UInt8] = []
    /// Masks must be hard to guess so that pages cannot make a browser send chosen bytes. Here it is enough that they
    /// are not zero, which would make the server's work look cheaper than it is.
    private var masks = SplitMix64(seed: .random(in: 0 ... .max))

    private static let maxHeadBytes = 8_192

    /// Asks the server at once.
    ///
    /// - Parameter origin: the page that a browser would say: the server's own one, `http://HOST:PORT`.
    package init(_ channel: any Channel, origin: String) {
        self.channel = channel
        // 16 bytes in Base64: the last digit before the padding has only two bits.
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
        let key = String((0..<21).map { _ in digits.randomElement() ?? "A" }) + "A=="
        expected = WebSocketHandshake.accept(key)
        let host = origin.split(separator: "/").last ?? ""
        let request =
            "GET / HTTP/1.1\r\nHost: \(host)\r\nOrigin: \(origin)\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: \(key)\r\n\r\n"
        channel.write([OutputBuffer(request.utf8)])
    }

    package var peerDescription: String { channel.peerDescription }
    package var isWriting: Bool { !early.isEmpty || channel.isWriting }

    // MARK: Reading

    package func open(_ receive: @escaping (ChannelEvent) -> Void) {
        self.receive = receive
        channel.open { [unowned self] in take($0) }
    }

    package func stopReading() { channel.stopReading() }
    package func resumeReading() { channel.resumeReading() }

    private func take(_ event: ChannelEvent) {
        switch (event, phase) {
        case (_, .over): break
        case (.bytes(let bytes), .asking): readAnswer(bytes)
        case (.bytes(let bytes), .open): read(bytes)
        case (.ended(.eof), .asking) where !head.isEmpty: end(.broken(refusal))
        case (.ended(let reason), _): end(reason)
        case (.drained, _): if !isWriting { receive?(.drained) }
        }
    }

    private func readAnswer(_ bytes: UnsafeRawBufferPointer) {
        head += bytes
        guard let size = head.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound else {
            if head.count > Self.maxHeadBytes { end(.broken(refusal)) }
            return
        }
        let lines = String(decoding: head[..<size], as: UTF8.self).split(separator: "\r\n")
        let accepts = lines.compactMap { $0.lowercased().hasPrefix("sec-websocket-accept:") ? $0.dropFirst(21) : nil }
        guard lines[0].hasPrefix("HTTP/1.1 101 "), accepts.map({ $0.filter { $0 != " " } }) == [expected] else {
            return end(.broken(refusal))
        }
        phase = .open
        let rest = head[size...]
        head = []
        if !early.isEmpty, send(.binary, exchange(&early, with: [])) == .written { receive?(.drained) }
        if !rest.isEmpty { rest.withUnsafeBytes { read($0) } }
    }

    private var refusal: String {
        let line = String(decoding: head.prefix { $0 >= 0x20 }.prefix(80), as: UTF8.self)
        return "the server does not go on as a WebSocket" + (line.hasPrefix("HTTP/") ? "; it says: \(line)" : "")
    }

    private func read(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes
        // All contents are passed on at once, because the owner may stop reading after the first.
        withUnsafeTemporaryAllocation(byteCount: bytes.count, alignment: 8) { room in
            var (count, reason) = (0, ChannelEnd?.none)
            do throws(WebSocketEnd) {
                while reason == nil,
                    let event = try reader.read(&rest, into: .init(rebasing: room[count...]))
                {
                    switch event {
                    case .content(let more): count += more
                    case .ping(let content): send(.pong, content)
                    case .close(let theirs):
                        send(.close, theirs?.bytes ?? [])
                        reason = .eof
                    }
                }
            } catch {
                send(.close, error.bytes)
                reason = .broken("WebSocket: \(error.reason)")
            }
            if count > 0 { receive?(.bytes(UnsafeRawBufferPointer(rebasing: room[..<count]))) }
            if let reason { end(reason) }
        }
    }

    // MARK: Writing

    package func write(_ buffers: UnsafeBufferPointer<OutputBuffer>) -> WriteResult {
        switch phase {
        case .asking:
            early += buffers.flatMap(\.bytes)
            return .draining
        case .open: return send(.binary, buffers.flatMap(\.bytes))
        case .over: return .dropped
        }
    }

    @discardableResult
    private func send(_ opcode: WebSocketFrame.Opcode, _ content: [UInt8]) -> WriteResult {
        let mask = UInt32.random(in: 1 ... .max, using: &masks)
        return channel.write([OutputBuffer(WebSocketFrame.masked(opcode, content, by: mask))])
    }

    // MARK: The end

    private func end(_ reason: ChannelEnd) {
        if phase == .over { return }
        phase = .over
        receive?(.ended(reason))
    }

    /// Tells the server that the client goes; it closes the connection.
    package func shutdown() {
        if phase == .open { send(.close, WebSocketEnd(code: 1000, "").bytes) }
    }

    package func close() {
        shutdown()
        phase = .over
        receive = nil
        early = []
        channel.close()
    }
}
