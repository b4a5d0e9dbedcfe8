import EventLoop
import HandWire

/// The server's side of a WebSocket: the contents of all binary messages of one direction are one stream of bytes.
///
///     channel ──▶ reader ──▶ receive
///     channel ◀── header, bytes ◀── write
///
/// A message ends wherever a write ends, which means nothing. So bytes that many clients get are never copied: only the
/// header in front of them is each client's own.
package final class WebSocketStream: Channel {
    private let loop: Loop
    private let channel: any Channel
    private var reader = WebSocketReader()
    private var receive: ((ChannelEvent) -> Void)?
    /// Input that came while nobody read.
    private var kept: [UInt8] = []
    private var isReading = true
    /// The bytes that the last header has announced, and that were not written yet.
    private var owed = 0
    /// The answer to the newest ping, while earlier output waits. The next ping is not read before it is sent.
    private var pong: [UInt8]?
    private var phase = Phase.open

    private enum Phase {
        case open
        /// The server has said that it ends; the client's own end is awaited.
        case ending
        /// The client has said that it ends, or has broken the protocol; it was told. Nothing is read any more.
        case ended
        /// The client has hung up.
        case gone
        case closed
    }

    /// Why the connection ends, for the client: a code of RFC 6455, section 7.4.
    package var closeCode: UInt16 = 1000

    /// The most bytes of input that are passed on at once.
    private static let roomBytes = 16 << 10
    /// How long a client that was told the end has to close the connection, in milliseconds.
    private static let lingeringTime: UInt64 = 1_000

    package init(_ loop: Loop, _ channel: any Channel) {
        (self.loop, self.channel) = (loop, channel)
    }

    package var peerDescription: String { channel.peerDescription }
    package var isWriting: Bool { channel.isWriting }

    // MARK: Reading

    package func open(_ receive: @escaping (ChannelEvent) -> Void) {
        self.receive = receive
        channel.open { [unowned self] in take($0) }
        // Whoever read the request has stopped after it.
        channel.resumeReading()
    }

    package func stopReading() {
        isReading = false
        channel.stopReading()
    }

    package func resumeReading() {
        guard !isReading else { return }
        isReading = true
        if kept.isEmpty { return resumeChannel() }
        loop.soon { [weak self] in
            guard let self, isReading else { return }
            exchange(&kept, with: []).withUnsafeBytes { read($0) }
            if kept.isEmpty { resumeChannel() }
        }
    }

    /// Reads on, unless an answer to a ping waits for a client that does not read.
    private func resumeChannel() {
        if isReading, pong == nil { channel.resumeReading() }
    }

    private func take(_ event: ChannelEvent) {
        switch event {
        case .bytes(let bytes): read(bytes)
        case .drained: drained()
        case .ended(let end):
            if phase != .closed { phase = .gone }
            receive?(.ended(end))
        }
    }

    private func read(_ bytes: UnsafeRawBufferPointer) {
        if !kept.isEmpty {
            kept += bytes
            return
        }
        var rest = bytes
        withUnsafeTemporaryAllocation(byteCount: Self.roomBytes, alignment: 8) { room in
            while isReading, mayRead {
                do throws(WebSocketEnd) {
                    guard let event = try reader.read(&rest, into: room) else { return }
                    take(event, room)
                } catch {
                    return fail(error)
                }
            }
            if mayRead { kept += rest }
        }
    }

    private var mayRead: Bool { phase == .open || phase == .ending }

    private func take(_ event: WebSocketReader.Event, _ room: UnsafeMutableRawBufferPointer) {
        switch event {
        case .content(let count): receive?(.bytes(UnsafeRawBufferPointer(rebasing: room[..<count])))
        case .ping(let content):
            pong = content
            answerPing()
        case .close(let theirs):
            say(theirs ?? WebSocketEnd(code: 1000, ""))
            phase = .ended
            receive?(.ended(.eof))
        }
    }

    private func fail(_ error: WebSocketEnd) {
        say(error)
        phase = .ended
        receive?(.ended(.broken("WebSocket: \(error.reason)")))
    }

    // MARK: Writing

    package func writeNow(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard phase == .open, owed == 0, pong == nil, !bytes.isEmpty else { return 0 }
        return withUnsafeTemporaryAllocation(byteCount: WebSocketFrame.maxHeaderBytes, alignment: 8) { room in
            let size = WebSocketFrame.writeHeader(.binary, count: bytes.count, into: room)
            let header = UnsafeRawBufferPointer(rebasing: room[..<size])
            let taken = channel.writeNow(header, bytes)
            if taken == 0 { return 0 }
            owed = bytes.count - max(0, taken - size)
            if taken < size { channel.write([OutputBuffer(header[taken...])]) }
            return max(0, taken - size)
        }
    }

    package func write(_ buffers: UnsafeBufferPointer<OutputBuffer>) -> WriteResult {
        guard phase == .open else { return .dropped }
        let count = buffers.reduce(0) { $0 + $1.bytes.count }
        // What a header has announced is written before anything else, by whoever could not write all of it at once.
        precondition(owed == 0 || count >= owed, "a write continues the last one")
        if count == owed {
            owed = 0
            return channel.write(buffers)
        }
        let (old, new) = Self.split(buffers, at: owed)
        owed = 0
        return channel.write(old + [Self.header(.binary, count: new.reduce(0) { $0 + $1.bytes.count })] + new)
    }

    private static func split(
        _ buffers: UnsafeBufferPointer<OutputBuffer>, at count: Int
    ) -> (before: [OutputBuffer], after: [OutputBuffer]) {
        var (before, after, left) = ([OutputBuffer](), [OutputBuffer](), count)
        for buffer in buffers {
            let size = min(left, buffer.bytes.count)
            if size > 0 { before.append(buffer[..<size]) }
            if size < buffer.bytes.count { after.append(buffer[size...]) }
            left -= size
        }
        return (before, after)
    }

    private static func header(_ opcode: WebSocketFrame.Opcode, count: Int) -> OutputBuffer {
        withUnsafeTemporaryAllocation(byteCount: WebSocketFrame.maxHeaderBytes, alignment: 8) { room in
            OutputBuffer(room[..<WebSocketFrame.writeHeader(opcode, count: count, into: room)])
        }
    }

    private func drained() {
        answerPing()
        if !channel.isWriting { receive?(.drained) }
    }

    private func answerPing() {
        guard let content = pong else { return }
        if channel.isWriting || owed > 0 { return channel.stopReading() }
        pong = nil
        if phase == .open { channel.write([Self.header(.pong, count: content.count), OutputBuffer(content)]) }
        if kept.isEmpty { resumeChannel() }
    }

    // MARK: The end

    /// Tells the client that the connection ends. Nothing is written afterwards.
    private func say(_ end: WebSocketEnd) {
        guard phase == .open, owed == 0 else { return }
        phase = .ending
        pong = nil
        channel.write([Self.header(.close, count: end.bytes.count), OutputBuffer(end.bytes)])
    }

    /// The client answers with its own end, and is then hung up on: so it gets everything before that.
    package func shutdown() { say(WebSocketEnd(code: closeCode, "")) }

    package func close() {
        if phase == .closed { return }
        // Whoever was told long ago, has hung up or does not read is not waited for.
        let lingers = phase == .ended || phase == .open && !channel.isWriting
        if lingers { shutdown() }
        phase = .closed
        receive = nil
        kept = []
        // The client must get the end.
        if lingers { channel.closeWhenRead(within: Self.lingeringTime, loop) } else { channel.close() }
    }
}

extension OutputBuffer {
    /// A part of the bytes, with the same owner.
    fileprivate subscript(range: some RangeExpression<Int>) -> OutputBuffer {
        OutputBuffer(bytes: UnsafeRawBufferPointer(rebasing: bytes[range]), owner: owner)
    }
}
