import HandCore
import HandWire

extension ClientMachine {
    /// A list that the client follows: its replica, and its state on the current connection.
    public struct Subscription: Sendable {
        var name: String
        public internal(set) var replica: Replica
        /// Whether commits and edits are kept on disk.
        let isJournaled: Bool
        /// Whether this client has ever had the list.
        public internal(set) var isLoaded: Bool
        /// Items touched by pending edits of an earlier run.
        let keptItems: Set<ItemID>
        /// The item that this person has selected or edits; sent again with each subscription.
        package internal(set) var focus: Focus?
        package private(set) var phase = Phase.idle
        /// Whether another list has this list's name.
        var isOthersName = false
        /// Whether the server has found the list by its log id, and its name is still to arrive.
        private var awaitsName = false
        /// Whether edits waited after the last change.
        var hadPending: Bool
        /// The authors who are on the list, as far as the server has said on this connection.
        private var people: Set<AuthorID> = []

        init(_ name: String, replica: Replica, isJournaled: Bool) {
            self.name = name
            self.isJournaled = isJournaled
            isLoaded = replica.logID != 0
            self.replica = replica
            keptItems = replica.pendingItems
            hadPending = replica.hasPending
        }

        /// The phase of a subscription. The transitions, which a test compares with the code:
        ///
        ///     | what happens                 | idle  | asked      | receiving  | catchingUp | live       |
        ///     | the server says welcome      | asked | asked      | receiving  | catchingUp | live       |
        ///     | the connection is lost       | idle  | idle       | idle       | idle       | idle       |
        ///     | resumed, nothing was missed  | idle  | live       | live       | live       | live       |
        ///     | resumed, something is missed | idle  | catchingUp | catchingUp | catchingUp | catchingUp |
        ///     | resumed, other commits       | idle  | asked      | asked      | asked      | asked      |
        ///     | a snapshot begins            | idle  | receiving  | receiving  | receiving  | receiving  |
        ///     | the snapshot's last items    | idle  | asked      | live       | catchingUp | live       |
        ///     | the last commit missed       | idle  | asked      | receiving  | live       | live       |
        ///     | a commit that does not fit   | idle  | asked      | receiving  | asked      | asked      |
        ///     | stale                        | idle  | asked      | receiving  | catchingUp | catchingUp |
        ///     | taken, nobody knows when     | idle  | asked      | asked      | asked      | asked      |
        ///     | not subscribed               | idle  | asked      | asked      | asked      | asked      |
        package enum Phase: Sendable {
            /// Not subscribed: there is no connection.
            case idle
            /// Requested under that request number: by the list's log id if `isByLogID`, as there is no list of that
            /// name. Messages under an earlier answer on this connection (`before`) still count.
            case asked(request: RequestNumber, isByLogID: Bool, before: Link?)
            /// A snapshot is arriving.
            case receiving(Link, IncomingSnapshot)
            /// Commits up to `through` must arrive before anything is submitted; `from` is the revision at the start.
            case catchingUp(Link, from: Int, through: Int)
            /// The view is the server's newest revision with the user's own pending edits.
            case live(Link)
        }

        /// A list's number on the current connection.
        package struct Link: Sendable {
            /// The request that the server answered with this number.
            let request: RequestNumber
            let list: ListNumber
            /// The last sequence of this client that the server has, according to that answer.
            let lastSequence: SequenceNumber
            /// The sequence of the unanswered submission that was sent on this connection. That submission is not sent
            /// again on the same connection: the server does not store rejected submissions, and might accept it the
            /// second time.
            var unanswered: SequenceNumber?
            /// The revision that the unanswered submission was based on.
            var base = 0
        }

        private(set) var link: Link? {
            get {
                switch phase {
                case .idle: nil
                case .asked(_, _, let link): link
                case .receiving(let link, _), .catchingUp(let link, _, _), .live(let link): link
                }
            }
            set {
                guard let link = newValue else { return }
                switch phase {
                case .idle: break
                case .asked(let request, let isByLogID, _):
                    phase = .asked(request: request, isByLogID: isByLogID, before: link)
                case .receiving(_, let incoming): phase = .receiving(link, incoming)
                case .catchingUp(_, let from, let through): phase = .catchingUp(link, from: from, through: through)
                case .live: phase = .live(link)
                }
            }
        }

        /// The list's number on this connection, once the server has answered.
        public var list: ListNumber? { link?.list }
        /// The number of the last request for the list.
        package var request: RequestNumber? {
            if case .asked(let request, _, _) = phase { request } else { link?.request }
        }
        var isAsked: Bool { if case .asked = phase { true } else { false } }
        var isByLogID: Bool { if case .asked(_, true, _) = phase { true } else { false } }
        var isReceiving: Bool { if case .receiving = phase { true } else { false } }
        /// Whether the view is the server's newest revision with the user's own pending edits.
        public var isLive: Bool { if case .live = phase { true } else { false } }
        /// Whether anything may be submitted now.
        var isDue: Bool { isLive && replica.inFlight == nil && replica.hasPending }

        /// How many of the missed commits have arrived; nil if none were missed.
        var progress: (done: Int, total: Int)? {
            guard case .catchingUp(_, let from, let through) = phase else { return nil }
            return (replica.revision - from, through - from)
        }
    }
}

// MARK: - What happens

extension ClientMachine.Subscription {
    /// - Parameter isAnew: whether messages under an earlier answer do not apply to this replica.
    mutating func ask(_ request: RequestNumber, isByLogID: Bool, isAnew: Bool) {
        phase = .asked(request: request, isByLogID: isByLogID, before: isAnew ? nil : link)
    }

    mutating func noteNamed() { awaitsName = false }

    mutating func goIdle() {
        phase = .idle
        people = []
    }

    /// Forgets who is there. Returns them as people who have gone.
    mutating func forgetPeople() -> [DownMessage.Presence] {
        defer { people = [] }
        return people.sorted().map { DownMessage.Presence(author: $0, place: .gone) }
    }

    /// Notes who has come and gone. Returns how many are there.
    mutating func note(_ presence: [DownMessage.Presence]) -> Int {
        for entry in presence {
            if entry.place == .gone { people.remove(entry.author) } else { people.insert(entry.author) }
        }
        return people.count
    }

    /// Handles the server's answer. Returns an update if the server has another history.
    mutating func begin(_ subscribed: DownMessage.Subscribed) -> Replica.Update? {
        awaitsName = isByLogID
        // A list that was deleted and created again has another number; submissions to the old list are not answered.
        let former = link?.list == subscribed.list ? link : nil
        let link = Link(
            request: subscribed.request, list: subscribed.list, lastSequence: subscribed.lastSequence,
            unanswered: former?.unanswered, base: former?.base ?? 0)
        switch subscribed.start {
        case .resumed(let head, let digest):
            phase = .catchingUp(link, from: replica.revision, through: head)
            return replica.compare(with: digest, at: head)
        case .snapshot(let revision, let count, let digest):
            let incoming = ClientMachine.IncomingSnapshot(
                hand: Hand(rules: subscribed.rules), revision: revision, count: count, digest: digest,
                logID: subscribed.logID, lastSequence: subscribed.lastSequence, isLastRefused: subscribed.isLastRefused)
            phase = .receiving(link, incoming)
            return nil
        case .newest: return nil
        }
    }

    enum Arrival {
        case more(items: Int, of: Int)
        case damaged
        case complete(Replica.Update)
    }

    /// Handles items of a snapshot.
    mutating func receive(_ items: Hand) -> Arrival? {
        guard case .receiving(let link, var incoming) = phase else { return nil }
        // The phase releases the items that have arrived, so that the list grows in place.
        phase = .idle
        incoming.hand.append(items)
        guard incoming.isComplete, let snapshot = incoming.assembled() else {
            phase = .receiving(link, incoming)
            return incoming.isComplete ? .damaged : .more(items: incoming.hand.count, of: incoming.count)
        }
        phase = .catchingUp(link, from: incoming.revision, through: incoming.revision)
        return .complete(
            replica.reset(
                to: snapshot, revision: incoming.revision, logID: incoming.logID, lastSequence: incoming.lastSequence,
                isLastRefused: incoming.isLastRefused))
    }

    /// Handles a commit of the list; returns nil if it is already known. A diverged replica waits for its snapshot.
    mutating func receive(_ commit: Commit) -> Replica.Update? {
        if isReceiving || commit.revision <= replica.revision || replica.hasDiverged { return nil }
        return replica.receiveAnything(commit)
    }

    /// Goes live, once all commits have arrived that the server had when the client subscribed. Edits pending on a
    /// diverged list were made on items that the server does not have, so they wait for the snapshot.
    ///
    /// - Parameter used: the last sequences that are known to be used, by log id.
    /// - Returns: nil if more must arrive; otherwise the last sequence of this client, if that is news for the replica,
    ///   and whether to send the submission in flight again. It is sent again if it was sent on an earlier connection;
    ///   the server recognizes the submission by its sequence.
    mutating func goLive(used: [UInt64: SequenceNumber]) -> (lastSequence: SequenceNumber?, sendsAgain: Bool)? {
        guard case .catchingUp(let link, _, let through) = phase, replica.revision >= through, !replica.hasDiverged,
            !awaitsName
        else { return nil }
        phase = .live(link)
        isLoaded = true
        // The submission in flight does not count as used: its outcome is not known.
        let known = replica.inFlight == nil ? used[replica.logID] ?? 0 : 0
        let last = max(link.lastSequence, known)
        let isNews = replica.caughtUp(lastSequence: last)
        let sendsAgain = replica.inFlight.map { $0.sequence != link.unanswered } ?? false
        return (isNews ? last : nil, sendsAgain)
    }

    /// Handles the answer that the base of the submission in flight is too old: commits up to `head` come first.
    /// Returns false if the base is not older than `head`.
    mutating func fallBehind(head: Int) -> Bool {
        if let link, link.unanswered != nil, head <= link.base { return false }
        link?.unanswered = nil
        switch phase {
        case .idle, .asked, .receiving: break
        case .catchingUp(let link, _, _), .live(let link):
            phase = .catchingUp(link, from: replica.revision, through: head)
        }
        return true
    }

    /// Handles the answer that a submission is rejected.
    mutating func receiveRejection(of sequence: SequenceNumber, _ reason: Rejection) -> Replica.Update {
        link?.unanswered = nil
        return replica.rejected(sequence: sequence, reason)
    }

    /// Handles the answer that the submission in flight became the commit of a revision. Returns false if the
    /// submission is not in flight, or if that commit is still to arrive.
    mutating func receiveAcknowledgement(of sequence: SequenceNumber, revision: Int) -> Bool {
        guard replica.inFlight?.sequence == sequence, replica.revision >= revision else { return false }
        link?.unanswered = nil
        return true
    }

    /// Gives the submission in flight a new sequence, as another program has used its sequence. Returns false if the
    /// replica has diverged: then the submission waits for the snapshot.
    mutating func renumber(after sequence: SequenceNumber) -> Bool {
        guard !replica.hasDiverged else { return false }
        link?.unanswered = nil
        replica.caughtUp(lastSequence: sequence)
        return true
    }

    /// Returns the submission in flight. If there is none, the next portion becomes the submission in flight.
    mutating func takeSubmission() -> Submission? {
        guard case .live(let link) = phase, let submission = replica.takeSubmission(list: link.list) else { return nil }
        self.link?.unanswered = submission.sequence
        self.link?.base = submission.base
        return submission
    }
}
