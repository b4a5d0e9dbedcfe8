import EventLoop
import HandFormats
import HandScript
import TLS

/// What a load test is to do.
public struct LoadPlan: Sendable {
    /// What the scripted clients hold.
    public enum Kind: String, CaseIterable, Sendable {
        /// The whole list, which is edited, transformed and compared as by any client.
        case full
        /// Only how far they are: to find the server's limit before the tool's.
        case light
    }

    public var script: Script
    public var server: HandAddress.Server
    /// The secret that says who the clients are, where a server asks for one.
    public var token: String?
    /// Who must have signed the certificate of a server with TLS.
    public var trust = TLSContext.Trust.system
    /// What such a server is shown that asks for a certificate.
    public var certificate: TLSContext.Certificate?
    public var kind: Kind
    public var clients: Int
    /// How long the clients work, if their script does not end before.
    public var seconds: Double
    /// Over how many seconds the clients come.
    public var ramp: Double
    /// Edits a second of all clients together. Then each edit has its time, pauses are left out, and latency is counted from
    /// when it was due, also if it had to wait for the one before it (coordinated omission).
    public var rate: Double?
    /// What the scripts draw follows from it.
    public var seed: UInt64
    /// Whether lists that are missing are made and new ones filled.
    public var makesLists = true
    /// Seconds in which everybody must be through when the work is over.
    public var patience: Double = 30
    /// Where the server tells its own figures over HTTP, if it does.
    public var status: SocketAddress?
    /// Which of the clients are in this process; the others are in others.
    public var own: Range<Int>

    public init(
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
