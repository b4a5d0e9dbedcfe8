import Glibc

/// Where somebody comes from, as far as the system vouches for it.
package indirect enum Caller: Equatable {
    /// Over loopback, or over a Unix socket as the server's own user or root.
    case thisMachine
    /// Over a Unix socket as another user of this machine, who is called that.
    case user(UInt32, name: String)
    /// Over the network, from that address.
    case address(String)

    /// - Parameter user: whose process is at the other end of a Unix socket.
    package init(overSocketFrom user: UInt32) {
        self = user == 0 || user == geteuid() ? .thisMachine : .user(user, name: Self.name(of: user))
    }

    /// What the system calls a user; it may have to ask around for that.
    private static func name(of user: UInt32) -> String {
        guard let entry = getpwuid(user), let name = entry.pointee.pw_name else { return "user \(user)" }
        return String(cString: name)
    }

    var isLocal: Bool {
        if case .address = self { false } else { true }
    }

    /// The address that limits go by.
    var address: String? {
        if case .address(let address) = self { address } else { nil }
    }

    /// What a user of this machine is called; nil for others, who may say it themselves.
    var systemName: String? {
        if case .user(_, let name) = self { name } else { nil }
    }

    /// Under whom it is counted what guests take; nil for those who are not counted.
    var account: String? {
        switch self {
        case .thisMachine: nil
        case .user(let user, _): "user \(user)"
        case .address(let address): "address \(address)"
        }
    }
}
