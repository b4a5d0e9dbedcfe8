import EventLoop

/// The part of RFC 6455 that is HTTP: how a connection becomes a WebSocket.
package enum WebSocketHandshake {
    /// Returns the answer to a client that wants to go on as a WebSocket; nil if it does not.
    ///
    /// - Throws: why the request cannot be fulfilled, if it is malformed.
    static func answer(to head: HTTPHead) throws(HTTPHead.Refusal) -> String? {
        guard head.isUpgrade, head.words(of: "upgrade").contains("websocket") else { return nil }
        guard head.method == "GET", head.isVersion11 else { throw .bad("a WebSocket begins with GET and HTTP/1.1") }
        guard head.values(of: "sec-websocket-version") == ["13"] else {
            throw HTTPHead.Refusal(
                status: "426 Upgrade Required", reason: "this server speaks version 13 of the WebSocket protocol")
        }
        let keys = head.values(of: "sec-websocket-key")
        // 16 bytes in Base64.
        guard keys.count == 1, keys[0].utf8.count == 24, keys[0].hasSuffix("=="),
            keys[0].utf8.dropLast(2).allSatisfy(isDigit)
        else { throw .bad("Sec-WebSocket-Key is not 16 bytes in Base64") }
        return accept(keys[0])
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"):
            true
        default: false
        }
    }

    /// Shows that the key was read by a program that knows the protocol: the hash of the key and a constant of the RFC.
    package static func accept(_ key: String) -> String {
        SHA1.base64(of: Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8))
    }
}
