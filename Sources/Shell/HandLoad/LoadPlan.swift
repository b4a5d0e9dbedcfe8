import EventLoop
import HandClient
import HandFormats

package struct LoadPlan: Sendable {
    /// How much of a list the scripted clients hold.
    package enum Kind: String, CaseIterable, Sendable {
        /// The whole list. The clients edit, transform and compare it as any client does.
        case full
        /// Only the list's length and revision, so that the test reaches the server's limits before its own.
        case light
    }

    package var script: Script
    package var server: HandAddress.Server
    /// The token of the clients, if the server asks for one.
    package var token: String?
    /// The authorities that the clients trust, for a server with TLS.
    package var trust = ClientConfiguration.Trust.system
    /// The certificate of the clients, if the server asks for one.
    package var certificate: ClientConfiguration.Certificate?
    package var kind: Kind
    /// Whether the clients connect as browsers do.
    package var isWeb = false
    package var clients: Int
    /// How long the clients work, unless their script ends sooner.
    package var seconds: Double
    /// The seconds over which the clients connect.
    package var ramp: Double
    /// The edits per second of all clients together. With a rate each edit has a due time, pauses are skipped, and
    /// latency counts from the due time even if the edit had to wait for the one before it (which avoids coordinated
    /// omission).
    package var rate: Double?
    /// The seed of the scripts' random choices.
    package var seed: UInt64
    /// Whether missing lists are created and filled.
    package var makesLists = true
    /// Whether clients of one list begin at different servers, if there are several; otherwise they meet at one, as
    /// people do.
    package var spreads = false
    /// How many seconds the clients have to settle after the work.
    package var timeout: Double = 30
    /// The address from which the server's own figures are read over HTTP, if at all.
    package var status: SocketAddress?
    /// The signals that end the work early, with the result so far. After a second signal, the test does not wait for
    /// the clients.
    package var endings: [Int32] = []
    /// The clients that run in this process.
    package var own: Range<Int>

    package init(
        script: Script, server: HandAddress.Server, kind: Kind, clients: Int? = nil, seconds: Double = 10,
        ramp: Double = 0, rate: Double? = nil, seed: UInt64
    ) {
        self.script = script
        self.server = server
        self.kind = kind
        self.clients = clients ?? script.clients
        own = 0..<self.clients
        self.seconds = seconds
        self.ramp = ramp
        self.rate = rate
        self.seed = seed
    }
}
