import HandCore
import HandWire

extension ClientMachine {
    public enum Effect: Sendable {
        /// Close the former connection, and connect to the target. If the target's addresses must be found first, call
        /// `found` when they are known.
        case connect(to: ClientMachine.Target)
        case send([UInt8])
        case disconnect
        /// Make these writes to the journal in their order, then call `kept`.
        case keep([JournalWrite])
        /// Ask the journal whether this client may continue under another id, then call `took`.
        case takeID
        case status(Status)
        /// An event of a followed list. After `renamed` the machine uses the new name; after `refused` and `editsWait`
        /// it no longer follows the list.
        case list(String, ListEvent)
        /// The milliseconds that the server took to answer a ping.
        case latency(UInt64)
        case answer(request: RequestNumber, Answer)
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
        /// An edit made on an excerpt is durable. `since` has the commits since the excerpt, with the edit's own commit
        /// last; it is empty if some commits are missing.
        case committed(revision: Int, [Replica.Notice], since: [Commit])
        case rejected(Rejection)
        /// The excerpt that an edit was made on is too old: nothing was committed.
        case stale
        /// The people who are on a list.
        case people([DownMessage.Presence])
        case error(ErrorCode, String)
        /// The connection was lost before the answer came, or there is none.
        ///
        /// - Parameter mayBeDone: whether the server may have changed its lists.
        case disconnected(String?, mayBeDone: Bool)
    }
}

extension ClientMachine {
    /// Returns the next effect, or nil if there is none.
    public mutating func nextEffect() -> Effect? {
        let subscriptions = subscriptions
        if let writes = common.journal?.take({ subscriptions[$0]?.replica }) { return .keep(writes) }
        if let effect = common.nextEffect() { return effect }
        guard idChange == .due, common.journal?.isKept == true else { return nil }
        idChange = .asked
        return .takeID
    }
}
