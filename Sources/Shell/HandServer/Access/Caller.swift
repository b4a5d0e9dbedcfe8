import Glibc

/// A client's origin, as far as the system vouches for it.
package indirect enum Caller: Equatable {
    /// Over loopback, or over a Unix socket as the server's own user or root.
    case thisMachine
    /// Over loopback, from a proxy that passes on what comes from anywhere.
    case proxied
    /// Over a Unix socket as another user of this machine.
    case user(UInt32, name: String)
    case address(String)

    /// - Parameter user: the owner of the process at the other end of a Unix socket.
    package init(overSocketFrom user: UInt32) {
        self = user == 0 || user == geteuid() ? .thisMachine : .user(user, name: Self.name(of: user))
    }

    /// The system's name for a user. The lookup may be slow.
    private static func name(of user: UInt32) -> String {
        guard let entry = getpwuid(user), let name = entry.pointee.pw_name else { return "user \(user)" }
        return String(cString: name)
    }

    var isLocal: Bool {
        switch self {
        case .address, .proxied: false
        case .thisMachine, .user: true
        }
    }

    /// The address to which limits apply.
    var address: String? {
        if case .address(let address) = self { address } else { nil }
    }

    /// The name of a user of this machine; nil for others, who choose their own names.
    var systemName: String? {
        if case .user(_, let name) = self { name } else { nil }
    }

    /// The account for a guest's limits; nil for guests without limits.
    var account: String? {
        switch self {
        case .thisMachine: nil
        case .proxied: "proxied"
        case .user(let user, _): "user \(user)"
        case .address(let address): "address \(address)"
        }
    }
}
