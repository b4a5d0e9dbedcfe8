import EventLoop
import HandSync
import HandWire

package struct ServerConfiguration: Sendable {
    /// Where to listen: at least one endpoint.
    package var endpoints: [Endpoint]
    package var limits: Limits
    /// The trusted proxies, which name each TCP connection's origin with the PROXY protocol.
    package var proxies: [AddressRange] = []
    /// The program's name and version, as clients see it.
    package var program: String
    /// The permissions of Unix socket files: users who may write to such a file may connect.
    package var socketPermissions: UInt32 = 0o600
    /// How much of each list's history is kept.
    package var retention: Retention
    /// The seed of shuffles and log ids; nothing else is random.
    package var seed: UInt64
    /// The address that answers `GET /metrics`, `/healthz` and `/readyz` over HTTP; nil for none.
    package var status: SocketAddress?
    /// The names under which clients may ask for the pages at `status`, besides addresses and this machine's name.
    package var statusNames: [String] = []
    /// The names under which browsers may know the server, besides addresses and this machine's name.
    package var webNames: [String] = []
    /// Whether browsers keep the page for use without a network.
    package var isPageKept = true
    /// The Unix socket for administration; nil for none.
    package var admin: String?
    /// Copies the store into a file, on any thread; nil if the store is not on disk.
    package var backup: (@Sendable (String) throws -> Void)?
    /// Throws if the store's files are gone, on any thread; nil if the store is not on disk.
    package var expectStore: (@Sendable () throws -> Void)?
    /// The log whose level the operator may change.
    package var log: ServerLog?
    /// The file of the access rules; nil if everybody may do everything.
    package var access: AccessFile?

    package enum Endpoint: Sendable, Hashable {
        case tcp(SocketAddress)
        /// HTTP, for clients that go on as WebSockets.
        case web(SocketAddress)
        case unix(String)
        /// The descriptor of a socket that already listens, perhaps for HTTP.
        case inherited(Int32, isWeb: Bool)
    }

    package init(
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
    package var description: String {
        switch self {
        case .tcp(let address), .web(let address): "\(address)"
        case .unix(let path): "unix:\(path)"
        case .inherited(let descriptor, _):
            SocketAddress(ofSocket: descriptor).map { "\($0)" } ?? "descriptor \(descriptor)"
        }
    }
}

extension ServerConfiguration.Endpoint {
    /// Whether clients send HTTP, and go on as WebSockets.
    package var isWeb: Bool {
        switch self {
        case .web, .inherited(_, isWeb: true): true
        case .tcp, .unix, .inherited(_, isWeb: false): false
        }
    }

    /// The same kind of endpoint at another address.
    func at(_ address: SocketAddress) -> Self { isWeb ? .web(address) : .tcp(address) }

    /// The address for clients on this machine; nil if the address is not known here, or if the certificate has no name
    /// for the address.
    package func clientAddress(_ tls: TLSContext?) -> String? {
        switch self {
        case .unix(let path): return "hand+unix://\(path)"
        case .inherited, .web: return nil
        case .tcp(let address):
            let own = address.isAny ? address.loopback : address
            guard let tls else { return "hand://\(own)" }
            if !address.isAny, tls.covers(ip: address.ip) { return "hands://\(address)" }
            if let name = tls.hostName { return "hands://\(name):\(address.port)" }
            return tls.covers(ip: own.ip) ? "hands://\(own)" : nil
        }
    }

    fileprivate var isOnAllAddresses: Bool { if case .tcp(let address) = self { address.isAny } else { false } }
    fileprivate var isUnixSocket: Bool { if case .unix = self { true } else { false } }
}

extension [ServerConfiguration.Endpoint] {
    /// The address for links, that of a Unix socket only if there is no other; nil if none is known here.
    package func sharedAddress(_ tls: TLSContext?) -> String? {
        let named = filter { tls != nil || !$0.isOnAllAddresses }
        return (named.filter { !$0.isUnixSocket } + named).lazy.compactMap { $0.clientAddress(tls) }.first
    }
}
