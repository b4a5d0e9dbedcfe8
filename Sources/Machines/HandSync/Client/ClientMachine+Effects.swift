import HandCore
import HandWire

extension ClientMachine {
    public enum Effect: Sendable {
        /// Closes the former connection. If the target's addresses are to be found, `found` is to be called when they are.
        case connect(to: ServerRound.Target)
        case send([UInt8])
        case disconnect
        /// To be written to the journal in that order; `kept` is to be called when that is done.
        case keep([JournalWrite])
        /// The journal is to say whether this client may go on under another id; `took` is to be called then.
        case takeID
        /// The view of a list has changed, or its user should be told something.
        case update(list: String, Replica.Update)
        case status(Status)
        /// Something else has happened to a list: `progress`, `presence`, `renamed` (the session knows it by the new name), or
        /// `refused` (it is not followed any longer).
        case list(String, ListEvent)
        /// Milliseconds that the server took to answer a ping.
        case latency(UInt64)
        case answer(request: UInt64, Answer)
        /// A message of the server that answers no request.
        case told(ErrorCode, String)
    }

    public enum Status: Equatable, Sendable {
        /// - Parameter to: which server is tried, if there are several.
        case connecting(to: String?)
        case online
        /// Milliseconds until the next try; nil if there will be none.
        case offline(reason: String, retryIn: UInt64?)
    }

    public enum Answer: Sendable {
        case done
        case lists([DownMessage.ListEntry], hasMore: Bool)
        case deletedLists([DownMessage.DeletedEntry], hasMore: Bool)
        case history([Commit], people: [DownMessage.Person])
        case state(Hand, revision: Int)
        case excerpt(Excerpt)
        /// An edit that was made on an excerpt is durable.
        case committed(revision: Int, [Replica.Notice])
        case rejected(Rejection)
        /// The excerpt on which an edit was made is too old: nothing was committed.
        case stale
        /// Who is on a list.
        case people([DownMessage.Presence])
        case error(ErrorCode, String)
        /// The connection was lost before the answer came.
        case disconnected
    }

    /// A list that is arriving in chunks.
    package struct IncomingSnapshot: Sendable {
        /// What has arrived of it.
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

        /// The whole list; nil if it is not what the server announced.
        func assembled() -> Hand? {
            hand.digest == digest && hand.count == count ? hand : nil
        }
    }
}

extension ClientMachine {
    /// The next effect; nil if there is none.
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

    /// Sends a message as soon as all that has happened so far is kept.
    mutating func send(_ message: UpMessage) { frames.append((message.frame, journalMark)) }
}
