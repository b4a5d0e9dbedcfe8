/// The header of the PROXY protocol, versions 1 and 2. A proxy sends the header first on each connection that it
/// forwards.
package struct ProxyHeader: Equatable, Sendable {
    /// The address of the client; nil if the proxy does not know it, or connects on its own behalf.
    package let source: Source?

    package struct Source: Equatable, Sendable {
        /// A numeric address as text. The text is not checked further.
        package let ip: String
        package let port: UInt16

        package init(ip: String, port: UInt16) {
            self.ip = ip
            self.port = port
        }
    }

    /// The bytes are not a header of the PROXY protocol.
    package struct Malformed: Error, Equatable {
        package init() {}
    }

    /// The longest accepted header of version 2, with everything that a proxy may add to it.
    package static let maxBytes = 4_096

    private static let signature: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A]
    private static let word = Array("PROXY ".utf8)
    /// The longest header of version 1, with its line break.
    private static let maxLine = 107

    /// Reads a header at the start of the bytes. Returns the header and its length, or nil if more bytes are needed.
    package static func read(_ bytes: [UInt8]) throws(Malformed) -> (header: ProxyHeader, size: Int)? {
        if begin(bytes, signature) { return try binary(bytes) }
        if begin(bytes, word) { return try line(bytes) }
        throw Malformed()
    }

    /// Whether the bytes received so far match the start.
    private static func begin(_ bytes: [UInt8], _ start: [UInt8]) -> Bool {
        bytes.prefix(start.count).elementsEqual(start.prefix(bytes.count))
    }

    // MARK: Version 1

    private static func line(_ bytes: [UInt8]) throws(Malformed) -> (header: ProxyHeader, size: Int)? {
        guard let end = bytes.prefix(maxLine).firstRange(of: [0x0D, 0x0A]) else {
            if bytes.count >= maxLine { throw Malformed() }
            return nil
        }
        let text = bytes[..<end.lowerBound]
        guard text.allSatisfy({ (0x20..<0x7F).contains($0) }) else { throw Malformed() }
        let words = String(decoding: text, as: UTF8.self).split(separator: " ", omittingEmptySubsequences: false)
        if words.count >= 2, words[1] == "UNKNOWN" { return (ProxyHeader(source: nil), end.upperBound) }
        guard words.count == 6, words[1] == "TCP4" || words[1] == "TCP6",
            words[2...3].allSatisfy({ $0.contains(":") == (words[1] == "TCP6") && !$0.contains("%") }),
            let port = port(words[4]), self.port(words[5]) != nil
        else { throw Malformed() }
        return (ProxyHeader(source: Source(ip: String(words[2]), port: port)), end.upperBound)
    }

    private static func port(_ digits: Substring) -> UInt16? {
        digits.utf8.allSatisfy(\.isDigit) ? UInt16(digits) : nil
    }

    // MARK: Version 2

    private static func binary(_ bytes: [UInt8]) throws(Malformed) -> (header: ProxyHeader, size: Int)? {
        guard bytes.count >= 16 else { return nil }
        let (command, family) = (bytes[12], bytes[13])
        let size = 16 + (Int(bytes[14]) << 8 | Int(bytes[15]))
        guard command == 0x20 || command == 0x21, size <= maxBytes else { throw Malformed() }
        guard bytes.count >= size else { return nil }
        // A health check by the proxy itself, or a family of addresses that is not supported.
        if command == 0x20 || ![0x11, 0x21].contains(family) { return (ProxyHeader(source: nil), size) }
        let width = family == 0x11 ? 4 : 16
        guard size >= 16 + 2 * width + 4 else { throw Malformed() }
        let port = UInt16(bytes[16 + 2 * width]) << 8 | UInt16(bytes[17 + 2 * width])
        return (ProxyHeader(source: Source(ip: text(bytes[16..<16 + width]), port: port)), size)
    }

    private static func text(_ address: ArraySlice<UInt8>) -> String {
        if address.count == 4 { return address.map { "\($0)" }.joined(separator: ".") }
        return stride(from: address.startIndex, to: address.endIndex, by: 2).map {
            String(Int(address[$0]) << 8 | Int(address[$0 + 1]), radix: 16)
        }.joined(separator: ":")
    }
}
