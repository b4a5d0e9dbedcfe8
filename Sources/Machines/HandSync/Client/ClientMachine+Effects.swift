import HandCore
import HandWire

extension ClientMachine {
    public enum Effect: Sendable {
        /// Close the former connection, and connect to the target. If its addresses must be found first, call `found`
        /// then.
        case connect(to: ClientMachine.Target)
        case send([UInt8])
        case disconnect
        /// Write these to the journal in this order, then call `kept`.
        case keep([JournalWrite])
        /// Ask the journal whether this client may continue under another id, then call `took`.
        case takeID
        /// The view of a list has changed, or there is news for its user.
        case update(list: String, Replica.Update)
        case status(Status)
        /// Another event of a list: `progress`, `presence`, `renamed` (the session now uses the new name), or
        /// `refused` or `editsWait` (the client no longer follows the list).
        case list(String, ListEvent)
        /// The milliseconds that the server took to answer a ping.
        case latency(UInt64)
        case answer(request: UInt64, Answer)
        /// A message from the server that does not answer a request.
        case warning(ErrorCode, String)
    }

    public enum Status: Equatable, Sendable {
        /// - Parameter to: the server that is tried, if there are several.
        case connecting(to: String?)
        case online
        /// `retryIn` is in milliseconds; nil if there will be no other attempt.
        case offline(reason: String, retryIn: UInt64?)
    }

    public enum Answer: Sendable {
        case done
        case lists([DownMessage.ListEntry], hasMore: Bool)
        case deletedLists([DownMessage.DeletedEntry], hasMore: Bool)
        case history([Commit], people: [DownMessage.Person])
        case state(Hand, revision: Int)
        case excerpt(Excerpt)
        /// An edit made on an excerpt is durable.
        case committed(revision: Int, [Replica.Notice])
        case rejected(Rejection)
        /// The excerpt that an edit was made on is too old: nothing was committed.
        case stale
        /// The people who are on a list.
        case people([DownMessage.Presence])
        case error(ErrorCode, String)
        /// The connection was lost before the answer came.
        case disconnected
    }

    /// A list that is arriving in chunks.
    package struct IncomingSnapshot: Sendable {
        /// The items that have arrived.
        var hand: Hand
        let revision: Int
        let count: Int
        let digest: UInt64
        let logID: UInt64
        let lastSequence: UInt64
        let isLastRefused: Bool

        init(
            revision: Int, count: Int, digest: UInt64, rules: Rules, logID: UInt64 = 0, lastSequence: UInt64 = 0,
            isLastRefused: Bool = false
        ) {
            hand = Hand(rules: rules)
            self.revision = revision
            self.count = count
            self.digest = digest
            self.logID = logID
            self.lastSequence = lastSequence
            self.isLastRefused = isLastRefused
        }

        var isComplete: Bool { hand.count >= count }

        /// Returns the whole list, or nil if it is not what the server announced.
        func assembled() -> Hand? {
            hand.digest == digest && hand.count == count ? hand : nil
        }
    }
}

extension ClientMachine {
    /// Returns the next effect, or nil if there is none.
    public mutating func nextEffect() -> Effect? {
        let subscriptions = subscriptions
        if let writes = journal?.take({ subscriptions[$0]?.replica }) { return .keep(writes) }
        let keptMark = keptMark
        if let frame = frames.next(if: { $0.mark <= keptMark }) { return .send(frame.bytes) }
        if let effect = effects.next() { return effect }
        guard idChange == .due, journal?.isKept == true else { return nil }
        idChange = .asked
        return .takeID
    }

    mutating func emit(_ effect: Effect) { effects.append(effect) }

    /// Sends a message as soon as the journal contains everything that has happened so far.
    mutating func send(_ message: UpMessage) { frames.append((message.frame, journalMark)) }
}
