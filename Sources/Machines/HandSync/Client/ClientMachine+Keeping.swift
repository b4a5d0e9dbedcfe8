import HandCore
import HandWire

// What must be on disk before anything is sent, and the client's id, which changes if another program uses it.

extension ClientMachine {
    /// Grows with each event that must be kept: everything up to now survives a crash once `keptMark` has reached this
    /// value.
    public var journalMark: Int { common.journalMark }
    public var keptMark: Int { common.keptMark }

    /// Whether nothing is sent because something cannot be kept.
    package var isHeldUp: Bool { state == .heldUp }

    /// Writes everything to the journal now, including what the server could send again.
    public mutating func flush() { common.journal?.flush() }

    /// Call this when the journal contains the first `count` of the writes.
    ///
    /// - Parameter problem: why the next write failed. An event that cannot be kept must not be sent: the client stops
    ///   until the journal can be written.
    public mutating func kept(_ count: Int, problem: String? = nil, now: UInt64) {
        common.journal?.wrote(count)
        guard let problem else {
            keepAgainAt = nil
            if state == .heldUp { start() }
            return
        }
        keepAgainAt = now + Self.keepingInterval
        if state != .stopped { giveUp(.heldUp, problem) }
    }

    /// Disconnects and asks for a new id.
    mutating func changeID() {
        idChange = .due
        common.journal?.flush()
        guard state.isUp else { return }
        let wait = backoff.next()
        giveUp(.changingID(wait: wait), "another program uses this client's id; it gets a new one", retryIn: wait)
    }

    /// Call this with the client's new id, or with nil if the journal still needs the old one.
    public mutating func took(_ client: ClientID?, now: UInt64) {
        idChange = .allowed(after: client == nil ? now + Self.askingInterval : 0)
        if case .changingID(let wait) = state { state = .waiting(until: now + wait) }
        guard let client else { return }
        common.change(to: client)
        replacedAt = []
    }
}
