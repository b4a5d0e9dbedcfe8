import HandCore
import HandWire

// What must be on disk before anything is sent, and the client's id, which changes when another program uses it.

extension ClientMachine {
    /// Grows with what must be kept: what has been done so far is safe from a crash when `keptMark` has come here.
    public var journalMark: Int { journal?.mark ?? 0 }
    public var keptMark: Int { journal?.keptMark ?? 0 }

    /// Writes everything to the journal now, also what the server could send again.
    public mutating func flush() { journal?.flush() }

    /// The journal has the first `count` of the writes.
    ///
    /// - Parameter problem: why the next one is not. What cannot be kept must not be sent: the client stops until it can be.
    public mutating func kept(_ count: Int, problem: String? = nil, now: UInt64) {
        journal?.wrote(count)
        guard let problem else {
            keepAgainAt = nil
            if state == .heldUp { start() }
            return
        }
        keepAgainAt = now + Self.keepingInterval
        if state != .stopped { giveUp(.heldUp, problem) }
    }

    /// Another program has used this client's id.
    mutating func noteShared() {
        if !isShared { journal?.add(.shared, isUrgent: true) }
        isShared = true
    }

    /// Disconnects and asks for a new id.
    mutating func changeID() {
        idChange = .due
        journal?.flush()
        guard state.isUp else { return }
        let wait = backoff.next()
        giveUp(.changingID(wait: wait), "another program has this one's id; it takes a new one", retryIn: wait)
    }

    /// The client's new id; nil if the journal still needs the old one.
    public mutating func took(_ client: ClientID?, now: UInt64) {
        idChange = .allowed(after: client == nil ? now + Self.askingInterval : 0)
        if case .changingID(let wait) = state { state = .waiting(until: now + wait) }
        guard let client else { return }
        hello.client = client
        isShared = false
        replacedAt = []
        used = [:]
        author = nil
    }

    /// A commit of this client was made: its number is known from then on. Who forgets that can still take back what it makes later.
    mutating func noteCommitted() {
        guard let author, author != knownAuthor else { return }
        knownAuthor = author
        journal?.add(.committed(author: author, person: hello.person), isUrgent: false)
    }
}
