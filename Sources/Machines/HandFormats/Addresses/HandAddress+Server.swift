extension HandAddress {
    package struct Host: Hashable, Sendable {
        package let name: String
        package let port: UInt16
    }
}

extension HandAddress.Host: Comparable, CustomStringConvertible {
    /// Orders hosts by the bytes of their names, then by port: the order is the same on every platform.
    package static func < (left: Self, right: Self) -> Bool {
        left.name == right.name ? left.port < right.port : left.name.utf8.lexicographicallyPrecedes(right.name.utf8)
    }

    /// As in a URL: `[::1]:7777`.
    package var description: String {
        name.utf8.contains(UInt8(ascii: ":"))
            ? "[\(HandAddress.escaped(name, keeping: ":"))]:\(port)" : "\(HandAddress.escaped(name)):\(port)"
    }
}

extension HandAddress.Server: CustomStringConvertible {
    /// The hosts; empty for a Unix socket.
    package var hosts: [HandAddress.Host] {
        switch self {
        case .tcp(let hosts), .tls(let hosts): hosts
        case .unix: []
        }
    }

    package var description: String {
        switch self {
        case .tcp: "hand://\(places.joined(separator: ","))"
        case .tls: "hands://\(places.joined(separator: ","))"
        case .unix(let path): "hand+unix://\(HandAddress.escaped(path, keeping: "/"))"
        }
    }

    /// The places of the server, each in the form that 'hand serve --listen' accepts.
    package var places: [String] {
        if case .unix(let path) = self { [path] } else { hosts.map(\.description) }
    }

    /// Whether the server is certainly on this machine.
    package var isThisMachine: Bool { hosts.allSatisfy { ["127.0.0.1", "localhost", "::1"].contains($0.name) } }
}
