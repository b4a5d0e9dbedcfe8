/// Reads what a client or a server sends on a WebSocket (RFC 6455): binary messages, whose contents are one stream of
/// bytes.
///
/// Contents are passed on as they arrive, so that no message is ever held in memory. An idle reader takes 32 bytes.
///
///     length ─▶ (more of the length) ─▶ (mask) ─▶ content ─▶ opcode of the next frame
package struct WebSocketReader: Sendable {
    package enum Event: Equatable, Sendable {
        /// The first bytes of `room` are the next bytes of the stream.
        case content(Int)
        case ping([UInt8])
        /// The peer closes the connection, and has said why, or not.
        case close(WebSocketEnd?)
    }

    private enum Phase: Equatable, Sendable {
        case opcode, length
        /// So many bytes of a length of 2 or of 8 bytes are missing.
        case longLength(UInt8, of: UInt8)
        /// So many bytes of the mask are missing.
        case mask(UInt8)
        case content
    }

    /// Whose frames are read. Clients mask what they send, and servers do not.
    package enum Sender: Sendable {
        case client, server
    }

    private let sender: Sender
    private var phase = Phase.opcode
    private var opcode = WebSocketFrame.Opcode.binary
    private var isFinal = true
    /// Whether the last message is incomplete: continuations follow.
    private var isInMessage = false
    /// Frames of messages without content since the last content.
    private var emptyFrames: UInt8 = 0
    /// The bytes of the mask, the next one in the lowest byte.
    private var mask: UInt32 = 0
    /// The bytes of content that are missing.
    private var missing: UInt64 = 0
    /// The content of the control frame that is being read.
    private var control: [UInt8] = []

    /// The most frames without content in a row. Each costs work, and says nothing.
    package static let maxEmptyFrames: UInt8 = 64

    package init(of sender: Sender = .client) { self.sender = sender }

    /// Reads until there is something to report, or until the bytes end. O(bytes).
    ///
    /// - Parameters:
    ///   - bytes: what has arrived; what has been read is removed.
    ///   - room: the room for content, at least one byte.
    /// - Throws: how to end the connection, because the peer broke the protocol. Nothing can be read afterwards.
    package mutating func read(
        _ bytes: inout UnsafeRawBufferPointer, into room: UnsafeMutableRawBufferPointer
    ) throws(WebSocketEnd) -> Event? {
        while true {
            if phase == .content {
                if let event = try readContent(&bytes, into: room) { return event }
                if phase == .content, bytes.isEmpty { return nil }
            } else {
                guard let byte = bytes.first else { return nil }
                bytes = UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
                try readHeader(byte)
            }
        }
    }

    // MARK: Headers

    private mutating func readHeader(_ byte: UInt8) throws(WebSocketEnd) {
        switch phase {
        case .opcode: try begin(byte)
        case .length: try readLength(byte)
        case .longLength(let left, let size):
            missing = missing << 8 | UInt64(byte)
            if left > 1 {
                phase = .longLength(left - 1, of: size)
                return
            }
            if missing < (size == 2 ? 126 : 0x1_0000) { throw .malformed("a length has more bytes than it needs") }
            try endLength()
        case .mask(let left):
            mask = mask >> 8 | UInt32(byte) << 24
            phase = left == 1 ? .content : .mask(left - 1)
        case .content: break
        }
    }

    private mutating func begin(_ byte: UInt8) throws(WebSocketEnd) {
        guard byte & 0x70 == 0 else { throw .malformed("a frame has reserved bits; no extension was agreed on") }
        guard let opcode = WebSocketFrame.Opcode(rawValue: byte & 0x0F) else {
            throw .malformed("a frame has the opcode \(byte & 0x0F)")
        }
        (self.opcode, isFinal, phase) = (opcode, byte & 0x80 != 0, .length)
        switch opcode {
        case .text: throw WebSocketEnd(code: 1003, "text was sent; this protocol is binary")
        case .binary: if isInMessage { throw .malformed("a message began before the last one ended") }
        case .continuation: if !isInMessage { throw .malformed("a continuation came without a message") }
        case .close, .ping, .pong: if !isFinal { throw .malformed("a control frame is fragmented") }
        }
    }

    private mutating func readLength(_ byte: UInt8) throws(WebSocketEnd) {
        guard (byte & 0x80 != 0) == (sender == .client) else {
            throw .malformed(sender == .client ? "a frame of a client is not masked" : "a frame of a server is masked")
        }
        missing = 0
        switch byte & 0x7F {
        case 126: phase = .longLength(2, of: 2)
        case 127: phase = .longLength(8, of: 8)
        case let short:
            missing = UInt64(short)
            return try endLength()
        }
        if opcode.isControl { throw .malformed("a control frame has over \(WebSocketFrame.maxControlBytes) bytes") }
    }

    private mutating func endLength() throws(WebSocketEnd) {
        if missing >> 63 != 0 { throw .malformed("the length of a frame has over 63 bits") }
        phase = sender == .client ? .mask(4) : .content
        if opcode.isControl { return }
        isInMessage = !isFinal
        emptyFrames = missing == 0 ? emptyFrames + 1 : 0
        guard emptyFrames <= Self.maxEmptyFrames else {
            throw WebSocketEnd(code: 1008, "over \(Self.maxEmptyFrames) frames in a row were empty")
        }
    }

    // MARK: Contents

    private mutating func readContent(
        _ bytes: inout UnsafeRawBufferPointer, into room: UnsafeMutableRawBufferPointer
    ) throws(WebSocketEnd) -> Event? {
        let count = min(bytes.count, room.count, Int(clamping: missing))
        unmask(bytes, count, into: room)
        bytes = UnsafeRawBufferPointer(rebasing: bytes[count...])
        missing -= UInt64(count)
        if missing == 0 { phase = .opcode }
        guard opcode.isControl else { return count > 0 ? .content(count) : nil }
        control += room[..<count]
        return missing == 0 ? try endControl() : nil
    }

    private mutating func endControl() throws(WebSocketEnd) -> Event? {
        let content = exchange(&control, with: [])
        switch opcode {
        case .ping: return .ping(content)
        case .close: return .close(try WebSocketEnd.read(content))
        case .pong, .continuation, .text, .binary: return nil
        }
    }

    /// Copies bytes without their mask.
    private mutating func unmask(
        _ bytes: UnsafeRawBufferPointer, _ count: Int, into room: UnsafeMutableRawBufferPointer
    ) {
        let whole = count & ~7
        let wide = UInt64(mask) << 32 | UInt64(mask)
        for offset in stride(from: 0, to: whole, by: 8) {
            let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            room.storeBytes(of: word ^ wide.littleEndian, toByteOffset: offset, as: UInt64.self)
        }
        for offset in whole..<count {
            room[offset] = bytes[offset] ^ UInt8(truncatingIfNeeded: mask)
            mask = mask >> 8 | mask << 24
        }
    }
}
