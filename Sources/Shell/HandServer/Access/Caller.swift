import Glibc

/// Where somebody comes from, as far as the system vouches for it.
package enum Caller: Equatable {
    /// Over loopback, or over a Unix socket as the server's own user or root.
    case thisMachine
    /// Over a Unix socket as another user of this machine.
    case user(UInt32)
    /// Over the network, from that address.
    case address(String)

    /// - Parameter user: whose process is at the other end of a Unix socket; nil if the system does not say.
    package init(overSocketFrom user: UInt32?) {
        switch user {
        case nil, 0, geteuid(): self = .thisMachine
        case let user?: self = .user(user)
        }
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
        guard case .user(let user) = self else { return nil }
        guard let entry = getpwuid(user), let name = entry.pointee.pw_name else { return "user \(user)" }
        return String(cString: name)
    }

    /// Under whom it is counted what guests take; nil for those who are not counted.
    var account: String? {
        switch self {
        case .thisMachine: nil
        case .user(let user): "user \(user)"
        case .address(let address): "address \(address)"
        }
    }
}
