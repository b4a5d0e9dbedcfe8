import ArgumentParser
import HandWire
import TLS

/// How what comes over TCP is encrypted.
struct EncryptionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The server's certificate, and those between it and the root, in PEM: everything over TCP is encrypted then. "
                + "SIGHUP has it read anew.", valueName: "file")) var tlsCert: String?
    @Option(help: ArgumentHelp("Its key, in PEM, without a password.", valueName: "file")) var tlsKey: String?
    @Option(
        help: ArgumentHelp(
            "Clients must have a certificate that one of these has signed.", valueName: "file")) var tlsClientCa:
        String?
    @Flag(help: "Listen without TLS where others can reach it.") var insecure = false

    func validate() throws {
        guard (tlsCert == nil) == (tlsKey == nil) else {
            throw ValidationError("--tls-cert and --tls-key go together.")
        }
        guard tlsClientCa == nil || tlsCert != nil else { throw ValidationError("--tls-client-ca needs --tls-cert.") }
    }

    /// Nil if nothing is to be encrypted.
    func context() throws -> TLSContext? {
        guard let tlsCert, let tlsKey else { return nil }
        do {
            return try .server(certificate: tlsCert, key: tlsKey, clientAuthority: tlsClientCa)
        } catch {
            throw Failure(.usage, "\(error)")
        }
    }
}

/// The limits that an operator may want to change; `Limits` says what they mean.
struct LimitOptions: ParsableArguments {
    @Option(help: "Connections at one time.") var maxConnections = Limits().connections
    @Option(help: "Connections from one address, this machine's own aside.")
    var maxConnectionsPerAddress = Limits().connectionsPerAddress
    @Option(help: "Hellos without a valid token from one address in a minute.") var maxFailures = Limits().failedHellos
    @Option(help: "Bytes of one frame.") var maxFrame = Limits().frameBytes
    @Option(help: "Items of one list.") var maxItems = Limits().listItems
    @Option(help: "Bytes of one item.") var maxItemSize = Limits().itemBytes
    @Option(help: "Lists on the server.") var maxLists = Limits().lists
    @Option(help: "Lists that one connection follows.") var maxSubscriptions = Limits().subscriptions
    @Option(help: "Bytes of commits kept in memory for each list.") var window = Limits().windowBytes
    @Option(help: "Seconds of silence before a client counts as gone.") var idleTimeout = 45.0
    @Option(help: "Seconds that a new connection has for its hello.") var handshakeTimeout = 10.0

    /// What the largest edit takes that a client sends as one, with room to spare.
    private static let smallestFrame = 5 << 20

    func validate() throws {
        let numbers = [
            maxConnections, maxConnectionsPerAddress, maxFailures, maxFrame, maxItems, maxItemSize, maxLists,
            maxSubscriptions, window,
        ]
        let day = 86_400.0
        guard numbers.allSatisfy({ $0 > 0 }), (1...day).contains(idleTimeout), handshakeTimeout > 0,
            handshakeTimeout <= day
        else {
            throw ValidationError("Limits are positive; timeouts are at most a day, --idle-timeout at least 1 second.")
        }
        guard maxFrame >= Self.smallestFrame else {
            throw ValidationError(
                "--max-frame: expected at least \(Self.smallestFrame), so that a client's largest edit fits")
        }
    }

    var limits: Limits {
        var limits = Limits()
        limits.connections = maxConnections
        limits.connectionsPerAddress = maxConnectionsPerAddress
        limits.failedHellos = maxFailures
        limits.frameBytes = maxFrame
        limits.listItems = maxItems
        limits.itemBytes = maxItemSize
        limits.lists = maxLists
        limits.subscriptions = maxSubscriptions
        limits.windowBytes = window
        limits.idleDeadline = UInt64(idleTimeout * 1000)
        limits.handshakeDeadline = UInt64(handshakeTimeout * 1000)
        return limits
    }
}
