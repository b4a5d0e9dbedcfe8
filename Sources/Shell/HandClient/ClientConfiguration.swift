import EventLoop
import HandCore
import HandFormats
import HandSync
import HandWire

/// How a client connects, and as whom.
public struct ClientConfiguration: Sendable {
    package var server: HandAddress.Server
    /// The list that the program works on, if there is one. It decides which of several servers the client tries first,
    /// so that people who work on one list meet on one server.
    public var list: String?
    /// The person's name, for others to see.
    public var person: String
    /// Name and version of the program, for the server's logs.
    public var program: String
    /// The client's secret id. A client with a journal uses the journal's id instead.
    public var client: ClientID
    /// The seed that spreads reconnections; nothing else is random.
    public var seed: UInt64
    /// The file of the journal, which keeps this client's secret and the followed lists with their unsent edits. With
    /// nil, the client keeps all of this in memory only.
    public var journalPath: String?
    /// Whether the journal keeps lists. If not, the journal keeps only the secret, and what an earlier run has left in
    /// the journal.
    public var keepsLists: Bool
    /// The author numbers of the person's other clients, whose edits can be undone with this one.
    package var persons: Set<AuthorID> = []
    /// Returns what the person's journals remember of a history.
    package var memory: @Sendable (UInt64) -> UndoReconstruction.Memory = { _ in UndoReconstruction.Memory() }
    /// Returns what the person has seen of the lists, by their names, as this machine's journals remember it.
    package var seen: @Sendable () -> [String: Seen] = { [:] }
    /// The secret that identifies the person, for servers that require one.
    public var token: String?
    /// The authorities that must have signed the certificate of a server with TLS.
    public var trust = Trust.system
    /// The client's certificate, for servers with TLS that ask for one.
    public var certificate: Certificate?

    public enum Trust: Equatable, Sendable {
        /// The authorities that the system trusts.
        case system
        /// Only the authorities whose certificates are in a file, in PEM.
        case file(String)
    }

    /// A client's own certificate.
    public struct Certificate: Equatable, Sendable {
        /// The file with the certificate, and the certificates between this one and the root, in PEM.
        public let file: String
        /// The file with the certificate's key, in PEM, without a password.
        public let key: String

        public init(file: String, key: String) {
            self.file = file
            self.key = key
        }
    }

    /// - Parameters:
    ///   - address: the address of the server, as `hand://HOST:PORT`, `hands://HOST:PORT` with TLS, or
    ///     `hand+unix:///PATH/TO/hand.sock`; or of several servers with the same lists, as
    ///     `hand://HOST:PORT,HOST:PORT`. A token may follow after a `#`.
    ///   - journalPath: the file of the journal; it is created if it does not exist.
    /// - Throws: `ClientError.badAddress`, which says what is wrong with the address and how to write it.
    public init(
        address: String, person: String, program: String, journalPath: String? = nil, keepsLists: Bool = true
    ) throws(ClientError) {
        let place: HandAddress
        do { place = try HandAddress(address) } catch { throw .badAddress("\(error)") }
        self.init(
            server: place.server, person: person, program: program, journalPath: journalPath, keepsLists: keepsLists)
        (list, token) = (place.list, place.token)
    }

    package init(
        server: HandAddress.Server, person: String, program: String, client: ClientID? = nil,
        seed: UInt64 = .random(in: 0...UInt64.max), journalPath: String? = nil, keepsLists: Bool = true
    ) {
        self.server = server
        var name = person[...]
        while name.utf8.count > Limits.personBytes { name.removeLast() }
        self.person = String(name)
        self.program = program
        var random = SystemRandomNumberGenerator()
        self.client = client ?? .random(using: &random)
        self.seed = seed
        self.journalPath = journalPath
        self.keepsLists = keepsLists
    }
}

extension ClientConfiguration {
    /// Opens the journal; nil if there is none.
    ///
    /// - Throws: `StoreError`.
    package func openJournal() throws -> ClientJournal? {
        try journalPath.map { try ClientJournal(path: $0, fresh: client, person: person, token: token) }
    }

    /// The server's hosts, in order.
    var destinations: [ServerConnection.Destination] {
        switch server {
        case .unix(let path): return [.init(.unix(path: path))]
        case .tcp(let hosts): return hosts.map { .init(.host($0.name, port: $0.port)) }
        case .tls(let hosts):
            // The TLS context is created when a connection first needs it.
            var made: TLSContext?
            let context = {
                let context = try made ?? TLSContext.client(trust: trust, certificate: certificate)
                made = context
                return context
            }
            return hosts.map { .init(.host($0.name, port: $0.port), tls: ($0.name, context)) }
        }
    }
}

extension TLSContext {
    package static func client(
        trust: ClientConfiguration.Trust, certificate: ClientConfiguration.Certificate?
    ) throws(TLSError) -> TLSContext {
        let authorities: String? = if case .file(let path) = trust { path } else { nil }
        return try client(authorities: authorities, certificate: certificate.map { ($0.file, $0.key) })
    }
}
