/// A network such as `10.0.0.0/8`, or one address.
package struct AddressRange: Sendable, Hashable, CustomStringConvertible {
    private let start: SocketAddress
    /// The prefix length in 128 bits: IPv4 addresses are mapped into IPv6.
    private let bits: Int
    package let description: String

    /// - Parameter text: a numeric address, optionally with a slash and the prefix length.
    /// - Returns: nil for anything else.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let start = try? SocketAddress(ip: String(parts[0]), port: 0) else { return nil }
        let width = parts[0].contains(":") ? 128 : 32
        var prefix = width
        if parts.count == 2 {
            guard parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(parts[1]), number <= width
            else { return nil }
            prefix = number
        }
        self.start = start
        bits = 128 - width + prefix
        description = text
    }

    /// Returns whether the network contains an address. An IPv4 address may be mapped into IPv6.
    package func contains(_ address: SocketAddress) -> Bool {
        zip(start.octets, address.octets).enumerated().allSatisfy { index, pair in
            let counting = min(8, max(0, bits - 8 * index))
            return (pair.0 ^ pair.1) >> (8 - counting) == 0
        }
    }
}
