import EventLoop
import HandSync
import HandWire

/// Where a server listens and how it behaves.
public struct ServerConfiguration: Sendable {
    /// Where to listen, at least one.
    public var endpoints: [Endpoint]
    public var limits: Limits
    /// Who says of each connection over TCP whose it is, by the PROXY protocol.
    public var proxies: [AddressRange] = []
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
    /// The Unix socket where the operator asks and orders; nil for none.
    public var admin: String?
    /// Copies the store into a file of that path, on any thread; nil if it is on no disk.
    public var backup: (@Sendable (String) throws -> Void)?
    /// Throws if the store's files are gone, on any thread; nil if it is on no disk.
    public var expectStore: (@Sendable () throws -> Void)?
    /// Whose level the operator may change.
    public var log: ServerLog?
    /// Where it is kept who may do what; nil if everybody may everything.
    public var access: AccessFile?

    /// The seed of all that is allowed and rare, which this server then does on purpose; nil for a server that does its best.
    public var awkward: UInt64?

    public enum Endpoint: Sendable, Hashable {
        case tcp(SocketAddress)
        /// A Unix socket at that path.
        case unix(String)
        /// A socket that listens already, by its descriptor.
        case inherited(Int32)
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
        case .inherited(let descriptor):
            SocketAddress(ofSocket: descriptor).map { "\($0)" } ?? "descriptor \(descriptor)"
        }
    }
}
