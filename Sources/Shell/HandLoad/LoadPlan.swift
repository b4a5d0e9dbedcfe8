import EventLoop
import HandClient
import HandFormats
import HandScript

/// What a load test is to do.
package struct LoadPlan: Sendable {
    /// What the scripted clients hold.
    package enum Kind: String, CaseIterable, Sendable {
        /// The whole list, which is edited, transformed and compared as by any client.
        case full
        /// Only how far they are: to find the server's limit before the tool's.
        case light
    }

    package var script: Script
    package var server: HandAddress.Server
    /// The secret that says who the clients are, where a server asks for one.
    package var token: String?
    /// Who must have signed the certificate of a server with TLS.
    package var trust = ClientConfiguration.Trust.system
    /// What such a server is shown that asks for a certificate.
    package var certificate: ClientConfiguration.Certificate?
    package var kind: Kind
    package var clients: Int
    /// How long the clients work, if their script does not end before.
    package var seconds: Double
    /// Over how many seconds the clients come.
    package var ramp: Double
    /// Edits a second of all clients together. Then each edit has its time, pauses are left out, and latency is counted from
    /// when it was due, also if it had to wait for the one before it (coordinated omission).
    package var rate: Double?
    /// What the scripts draw follows from it.
    package var seed: UInt64
    /// Whether lists that are missing are made and new ones filled.
    package var makesLists = true
    /// Seconds in which everybody must be through when the work is over.
    package var patience: Double = 30
    /// Where the server tells its own figures over HTTP, if it does.
    package var status: SocketAddress?
    /// Which of the clients are in this process; the others are in others.
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
