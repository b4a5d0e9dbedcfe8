internal import CLibuv
internal import Glibc

/// The address of a TCP socket, IPv4 or IPv6.
package struct SocketAddress: Sendable, Hashable, CustomStringConvertible {
    private let host: Host
    /// The port in host byte order.
    package let port: UInt16

    /// The address in network byte order.
    private enum Host: Hashable {
        case v4(UInt32)
        case v6(UInt64, UInt64, scope: UInt32)
    }

    /// - Parameter ip: a numeric address, for example `127.0.0.1`, `::1` or `fe80::1%eth0`. ``DNS`` resolves names.
    /// - Throws: `.invalidArgument` for anything else.
    package init(ip: String, port: UInt16) throws(UVError) {
        var v4 = sockaddr_in()
        var v6 = sockaddr_in6()
        if uv_ip4_addr(ip, Int32(port), &v4) == 0 {
            self.init(v4)
        } else {
            try UVError.check(uv_ip6_addr(ip, Int32(port), &v6))
            self.init(v6)
        }
    }

    /// The numeric address without the port.
    package var ip: String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { text in
            withSockaddr { address, _ in
                switch host {
                case .v4:
                    address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                        _ = uv_ip4_name($0, text.baseAddress, text.count)
                    }
                case .v6:
                    address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                        _ = uv_ip6_name($0, text.baseAddress, text.count)
                    }
                }
            }
            return String(cString: text.baseAddress.unsafelyUnwrapped) + zone
        }
    }

    /// Whether only this machine can reach the address.
    package var isLoopback: Bool {
        ip == "::1" || ip.hasPrefix("127.") || ip.hasPrefix("::ffff:127.")
    }

    /// Whether the address stands for all of the machine's addresses.
    package var isAny: Bool { ["0.0.0.0", "::"].contains(ip) }

    /// The loopback address of the same family, with the same port.
    package var loopback: Self {
        (try? Self(ip: family == AF_INET ? "127.0.0.1" : "::1", port: port)) ?? self
    }

    /// The address as 16 octets; IPv4 addresses are mapped to `::ffff:0:0/96`.
    var octets: [UInt8] {
        switch host {
        case .v4(let ip): [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF] + withUnsafeBytes(of: ip) { Array($0) }
        case .v6(let high, let low, _): withUnsafeBytes(of: (high, low)) { Array($0) }
        }
    }

    /// The unit of limits by address: an IPv4 address, or the first 64 bits of an IPv6 address. A network usually
    /// assigns one such unit to one customer.
    package var site: String {
        guard case .v6(let high, let low, _) = host else { return ip }
        let isMapped = high == 0 && UInt32(truncatingIfNeeded: low) == UInt32(0xFFFF).bigEndian
        return isMapped ? ip : String(UInt64(bigEndian: high), radix: 16) + "::/64"
    }

    /// For example `127.0.0.1:7777` or `[::1]:7777`.
    package var description: String { family == AF_INET ? "\(ip):\(port)" : "[\(ip)]:\(port)" }

    /// `%eth0` for a link-local address.
    private var zone: String {
        guard case .v6(_, _, let scope) = host, scope != 0 else { return "" }
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(UV_IF_NAMESIZE)) { name in
            var size = name.count
            let result = uv_if_indextoiid(scope, name.baseAddress, &size)
            return result == 0 ? "%" + String(cString: name.baseAddress.unsafelyUnwrapped) : "%\(scope)"
        }
    }
}

extension SocketAddress {
    var family: Int32 { if case .v4 = host { AF_INET } else { AF_INET6 } }

    init(_ address: sockaddr_in) {
        port = UInt16(bigEndian: address.sin_port)
        host = .v4(address.sin_addr.s_addr)
    }

    init(_ address: sockaddr_in6) {
        port = UInt16(bigEndian: address.sin6_port)
        let (high, low) = unsafeBitCast(address.sin6_addr, to: (UInt64, UInt64).self)
        host = .v6(high, low, scope: address.sin6_scope_id)
    }

    /// Copies a system call's result.
    /// - Returns: nil for families other than IPv4 and IPv6.
    init?(_ address: UnsafePointer<sockaddr>) {
        let raw = UnsafeRawPointer(address)
        switch Int32(address.pointee.sa_family) {
        case AF_INET: self.init(raw.loadUnaligned(as: sockaddr_in.self))
        case AF_INET6: self.init(raw.loadUnaligned(as: sockaddr_in6.self))
        default: return nil
        }
    }

    /// Gets an address that a system call fills in.
    /// - Returns: nil if the call fails or the address is of another family.
    init?(filling body: (UnsafeMutablePointer<sockaddr>, inout socklen_t) -> Int32) {
        var storage = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let address = withUnsafeMutableBytes(of: &storage) { bytes -> SocketAddress? in
            let address = bytes.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: sockaddr.self)
            return body(address, &size) < 0 ? nil : SocketAddress(address)
        }
        guard let address else { return nil }
        self = address
    }

    /// Returns the local address of a socket of this process, or nil if it is not an IP address.
    package init?(ofSocket descriptor: Int32) {
        self.init(filling: { getsockname(descriptor, $0, &$1) })
    }

    /// Calls `body` with the address in the form that system calls need.
    func withSockaddr<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        func call<Address>(_ address: Address) -> Result {
            withUnsafeBytes(of: address) { bytes in
                body(
                    bytes.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: sockaddr.self),
                    socklen_t(bytes.count))
            }
        }
        switch host {
        case .v4(let ip):
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = ip
            return call(address)
        case .v6(let high, let low, let scope):
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = port.bigEndian
            address.sin6_addr = unsafeBitCast((high, low), to: in6_addr.self)
            address.sin6_scope_id = scope
            return call(address)
        }
    }
}
