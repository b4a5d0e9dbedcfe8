import HandCore
import HandWire

extension ClientMachine {
    /// A list that is followed: what is known of it, and where it stands on the present connection.
    public struct Subscription: Sendable {
        public internal(set) var replica: Replica
        /// Whether commits and edits are kept on disk.
        let isJournaled: Bool
        /// Whether this client has ever had the list.
        public internal(set) var isLoaded: Bool
        /// Items that edits of an earlier run have touched.
        let keptItems: Set<ItemID>
        /// The item that this person is on or edits; sent again with each subscription.
        package internal(set) var focus: Focus?
        package private(set) var phase = Phase.idle

        init(replica: Replica, isJournaled: Bool, isLoaded: Bool) {
            self.replica = replica
            self.isJournaled = isJournaled
            self.isLoaded = isLoaded
            keptItems = replica.pendingItems
        }

        /// How far a list is subscribed to. What leads from one phase to another, as a test compares it with the code:
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
            /// Not asked for: there is no connection.
            case idle
            /// Asked for under that request: by its log id, if there is no list of its name. What comes under an earlier answer on
            /// this connection still counts.
            case asked(request: UInt64, isSought: Bool, before: Link?)
            /// A snapshot is arriving.
            case receiving(Link, IncomingSnapshot)
            /// Commits through that revision must come before anything is submitted; so much was here at first.
            case catchingUp(Link, from: Int, through: Int)
            /// The view is the server's newest revision with the user's own pending edits.
            case live(Link)
        }

        /// A list's number on the present connection.
        package struct Link: Sendable {
            /// The request that it answers.
            let request: UInt64
            let list: UInt64
            /// This client's last sequence that the server has, as it said.
            let lastSequence: UInt64
            /// The sequence of the submission that was sent on this connection and is not answered. It is not sent again on it: the
            /// server does not remember what it has rejected, and might make it the second time.
            var unanswered: UInt64?
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
                case .asked(let request, let isSought, _):
                    phase = .asked(request: request, isSought: isSought, before: link)
                case .receiving(_, let incoming): phase = .receiving(link, incoming)
                case .catchingUp(_, let from, let through): phase = .catchingUp(link, from: from, through: through)
                case .live: phase = .live(link)
                }
            }
        }

        /// Its number on this connection, once the server has answered.
        public var list: UInt64? { link?.list }
        /// The request under which it was asked for last.
        var request: UInt64? { if case .asked(let request, _, _) = phase { request } else { link?.request } }
        var isSought: Bool { if case .asked(_, true, _) = phase { true } else { false } }
        var isReceiving: Bool { if case .receiving = phase { true } else { false } }
        /// Whether the view is the server's newest revision with the user's own pending edits.
        public var isLive: Bool { if case .live = phase { true } else { false } }
        /// Whether anything may be submitted now.
        var isDue: Bool { isLive && replica.inFlight == nil && replica.hasPending }

        /// How many of the missed commits have come; nil if none are missed.
        var progress: (done: Int, total: Int)? {
            guard case .catchingUp(_, let from, let through) = phase else { return nil }
            return (replica.revision - from, through - from)
        }
    }
}

// MARK: - What happens

extension ClientMachine.Subscription {
    /// - Parameter isAnew: whether what comes under an earlier answer is not for the list as it is here.
    mutating func ask(_ request: UInt64, isSought: Bool, isAnew: Bool) {
        phase = .asked(request: request, isSought: isSought, before: isAnew ? nil : link)
    }

    mutating func lost() { phase = .idle }

    /// The server lets the client in. What it returns, if anything, is that it has another history.
    mutating func entered(_ subscribed: DownMessage.Subscribed) -> Replica.Update? {
        // A list that was deleted and made anew has another number; what was sent to the old one is not answered.
        let link = Link(
            request: subscribed.request, list: subscribed.list, lastSequence: subscribed.lastSequence,
            unanswered: link?.list == subscribed.list ? link?.unanswered : nil)
        switch subscribed.start {
        case .resumed(let head, let digest):
            phase = .catchingUp(link, from: replica.revision, through: head)
            return digest.flatMap { replica.compare(with: $0, at: head) }
        case .snapshot(let revision, let count, let digest):
            let incoming = ClientMachine.IncomingSnapshot(
                revision: revision, count: count, digest: digest, rules: subscribed.rules, logID: subscribed.logID,
                lastSequence: subscribed.lastSequence, isLastRefused: subscribed.isLastRefused)
            phase = .receiving(link, incoming)
            return nil
        }
    }

    enum Arrival {
        case more(items: Int, of: Int)
        case damaged
        case complete(Replica.Update)
    }

    /// Takes items of a snapshot.
    mutating func take(_ items: Hand) -> Arrival? {
        guard case .receiving(let link, var incoming) = phase else { return nil }
        // The phase lets go of what has come, so that it grows in place.
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

    /// Takes a commit of the list; nil if it is not news. One that has diverged waits for its snapshot.
    mutating func take(_ commit: Commit) -> Replica.Update? {
        if isReceiving || commit.revision <= replica.revision || replica.hasDiverged { return nil }
        var update = replica.receiveAnything(commit)
        update.cause = .commit(commit)
        return update
    }

    /// Whether all commits are here now that the server had when the client subscribed. Edits pending on a diverged list were made
    /// on items that the server does not have, so they wait for the snapshot.
    mutating func catchUp() -> Bool {
        guard case .catchingUp(let link, _, let through) = phase, replica.revision >= through, !replica.hasDiverged
        else { return false }
        phase = .live(link)
        isLoaded = true
        return true
    }

    /// What is in flight was made on a revision that is too old; commits through `head` come first.
    mutating func stale(head: Int) {
        link?.unanswered = nil
        switch phase {
        case .idle, .asked, .receiving: break
        case .catchingUp(let link, _, _), .live(let link):
            phase = .catchingUp(link, from: replica.revision, through: head)
        }
    }

    /// The submission that was sent is answered.
    mutating func answered() { link?.unanswered = nil }

    /// The submission in flight; if there is none, the next portion becomes it.
    mutating func takeSubmission() -> Submission? {
        guard case .live(let link) = phase, let submission = replica.takeSubmission(list: link.list) else { return nil }
        self.link?.unanswered = submission.sequence
        return submission
    }
}
