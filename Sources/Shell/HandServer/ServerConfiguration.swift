import EventLoop
import HandSync
import HandWire

/// Where a server listens and how it behaves.
public struct ServerConfiguration: Sendable {
    /// Where to listen, at least one.
    public var endpoints: [Endpoint]
    public var limits: Limits
    /// Name and version, as clients see it.
    public var program: String
    /// Of the files of Unix sockets: who may write to one may connect.
    public var socketPermissions: UInt32 = 0o600
    /// How much of each list's history is kept.
    public var retention: Retention
    /// Seed of shuffles and log ids; nothing else is random.
    public var seed: UInt64
    /// Where to answer `GET /metrics`, `/healthz` and `/readyz` over HTTP; nil for nowhere.
    public var status: SocketAddress?
    /// Where it is kept who may do what; nil if everybody may everything.
    public var access: AccessFile?

    public enum Endpoint: Sendable, Hashable {
        case tcp(SocketAddress)
        /// A Unix socket at that path.
        case unix(String)
    }

    public init(
        endpoints: [Endpoint], limits: Limits = Limits(), program: String, retention: Retention = .everything,
        seed: UInt64
    ) {
        self.endpoints = endpoints
        self.limits = limits
        self.program = program
        self.retention = retention
        self.seed = seed
    }
}

extension ServerConfiguration.Endpoint: CustomStringConvertible {
    public var description: String {
        switch self {
        case .tcp(let address): "\(address)"
        case .unix(let path): "unix:\(path)"
        }
    }
}
