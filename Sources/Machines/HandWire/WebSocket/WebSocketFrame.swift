/// A frame of the WebSocket protocol, as RFC 6455 (section 5.2) writes it.
package enum WebSocketFrame {
    package enum Opcode: UInt8, Sendable {
        case continuation = 0
        case text = 1
        case binary = 2
        case close = 8
        case ping = 9
        case pong = 10

        var isControl: Bool { rawValue >= 8 }
    }

    /// The longest content of a frame that controls the connection, in bytes.
    package static let maxControlBytes = 125

    /// The longest header that a server sends, in bytes.
    package static let maxHeaderBytes = 10

    /// Writes the header of an unmasked frame that is a whole message. Returns the header's length in bytes.
    ///
    /// - Precondition: `room` has ``maxHeaderBytes``.
    package static func writeHeader(_ opcode: Opcode, count: Int, into room: UnsafeMutableRawBufferPointer) -> Int {
        room[0] = 0x80 | opcode.rawValue
        switch count {
        case ..<126:
            room[1] = UInt8(count)
            return 2
        case ...0xFFFF:
            room[1] = 126
            room.storeBytes(of: UInt16(count).bigEndian, toByteOffset: 2, as: UInt16.self)
            return 4
        default:
            room[1] = 127
            room.storeBytes(of: UInt64(count).bigEndian, toByteOffset: 2, as: UInt64.self)
            return 10
        }
    }

    /// Returns a frame as a client sends it: a whole message, masked.
    package static func masked(_ opcode: Opcode, _ content: [UInt8], by mask: UInt32) -> [UInt8] {
        let maskBytes = withUnsafeBytes(of: mask.littleEndian, Array.init)
        return withUnsafeTemporaryAllocation(byteCount: maxHeaderBytes, alignment: 8) { room in
            let size = writeHeader(opcode, count: content.count, into: room)
            room[1] |= 0x80
            var bytes = Array(room[..<size]) + maskBytes
            bytes.reserveCapacity(bytes.count + content.count)
            for (index, byte) in content.enumerated() { bytes.append(byte ^ maskBytes[index & 3]) }
            return bytes
        }
    }
}

/// Why a WebSocket ends, as its close frame says it (RFC 6455, section 7.4). A client that gets a code under 4000 other
/// than 1008 may connect again.
package struct WebSocketEnd: Error, Equatable, Sendable {
    package let code: UInt16
    package let reason: String

    package init(code: UInt16, _ reason: String) {
        (self.code, self.reason) = (code, reason)
    }

    static func malformed(_ reason: String) -> WebSocketEnd { WebSocketEnd(code: 1002, reason) }

    /// The content of the close frame: the code, and as much of the reason as fits.
    package var bytes: [UInt8] {
        var text = reason
        while text.utf8.count > WebSocketFrame.maxControlBytes - 2 { text.removeLast() }
        return [UInt8(code >> 8), UInt8(truncatingIfNeeded: code)] + text.utf8
    }

    /// Reads the content of a peer's close frame; nil if it has no code.
    static func read(_ bytes: [UInt8]) throws(WebSocketEnd) -> WebSocketEnd? {
        if bytes.isEmpty { return nil }
        guard bytes.count >= 2 else { throw .malformed("a close frame has half a code") }
        let code = UInt16(bytes[0]) << 8 | UInt16(bytes[1])
        // The codes that no frame may carry are those without a meaning, and those that say that there was no frame.
        let isMeant = (1_000...1_003).contains(code) || (1_007...1_014).contains(code) || (3_000...4_999).contains(code)
        guard isMeant else { throw .malformed("a close frame has the code \(code)") }
        guard let reason = String(validating: bytes.dropFirst(2), as: UTF8.self) else {
            throw WebSocketEnd(code: 1007, "the reason in a close frame is not UTF-8")
        }
        return WebSocketEnd(code: code, reason)
    }
}
