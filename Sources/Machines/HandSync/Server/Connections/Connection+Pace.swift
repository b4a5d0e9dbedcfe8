import HandWire

extension Connection {
    /// Whether a connection waits for its user's budget.
    enum Pace {
        case free
        /// The connection is not read until its user has budget again.
        case slowed
        /// The connection is slowed before its hello is answered.
        indirect case holding(UpMessage.Hello)
    }

    var isSlowed: Bool { if case .free = pace { false } else { true } }
}
