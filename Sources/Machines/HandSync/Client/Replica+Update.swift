import HandCore
import HandWire

// What a replica says of an event.

extension Replica {
    /// The result of an event: the change of the view, and notices for the user.
    public struct Update: Equatable, Sendable {
        /// The change of the view.
        var change: Change
        public var notices: [Notice] = []
        /// The cause of the update.
        public internal(set) var cause: Cause
        /// Whether another client of the same person caused the update.
        package var isPersons = false

        public enum Cause: Equatable, Sendable {
            /// The user's edit, when it was made here.
            case edit
            case commit(Commit)
            /// Another message from the server: a snapshot or a rejection.
            case answer

            /// Who caused the update. Not inlined: the optimizer of Swift 6.3 fails on it in `ShownList`.
            @inline(never) package var origin: Origin {
                switch self {
                case .edit: .own
                case .commit(let commit): .author(commit.author)
                case .answer: .unknown
                }
            }
        }

        enum Change: Equatable, Sendable {
            case delta(Delta)
            /// The view was replaced. The difference is computed only on demand, because it requires comparing all
            /// items.
            case replaced(Hand, by: Hand)
        }

        /// Who caused the update.
        public var origin: Origin { cause.origin }

        public init(_ cause: Cause = .answer, delta: Delta = .identity, notices: [Notice] = []) {
            self.cause = cause
            change = .delta(delta)
            self.notices = notices
        }

        /// Creates the update for an edit by the user, which led to `view`.
        package init(_ made: Retraction, in view: Hand) {
            self.init(.edit, delta: made.delta, notices: made.keptWords.map { .keptWords(view[$0.index], $0.loss) })
        }

        /// The change of the view; the identity if it did not change. O(n log n) after a snapshot, otherwise O(1).
        public var delta: Delta {
            get {
                switch change {
                case .delta(let delta): delta
                case .replaced(let old, let new): Delta(from: old, to: new)
                }
            }
            set { change = .delta(newValue) }
        }

        /// Whether the update tells that an edit of the user is durable.
        var isOwnCommit: Bool { notices.contains { if case .acknowledged = $0 { true } else { false } } }

        /// Whether another program has used this client's id.
        public var isUsedTwice: Bool { notices.contains { if case .usedTwice = $0 { true } else { false } } }

        /// Whether the view was empty before.
        public var isFirst: Bool {
            if case .replaced(let old, _) = change { old.isEmpty } else { false }
        }
    }

    /// Who caused a change of the view.
    public enum Origin: Hashable, Sendable {
        /// The user, by an edit that was made here.
        case own
        /// The author of a commit.
        case author(AuthorID)
        /// Several authors changed it, or the author is unknown.
        case unknown
    }

    public enum Notice: Equatable, Sendable {
        /// An edit of the user is durable on the server.
        case acknowledged(sequence: SequenceNumber, revision: Int)
        /// Somebody's commit overrode part of the user's edits (`Loss.overridden`).
        case superseded(Item, Superseded.Loss, by: Loss.Override)
        /// An undo or a redo kept words of an item that somebody had put in place of the user's words.
        case keptWords(Item, Superseded.Loss)
        /// The server rejected an edit that was made on the list `on`. The edit is undone here.
        case rejected(Rejection, Delta, on: Hand)
        /// Another program has used this client's id: the commit of `revision` has the sequence of the submission in
        /// flight, but is another edit. The submission in flight is kept, and submitted under another sequence.
        case usedTwice(revision: Int)
        /// This replica's digest differs from the server's: it resynchronizes from a snapshot.
        case diverged(revision: Int)
        /// The server has an earlier state of the list now, without `gone` of this replica's items.
        case restored(gone: Int)
    }

    /// Why a commit does not follow this replica's revision: the server or the connection is broken.
    package enum CommitError: Error, Equatable, Sendable {
        case wrongRevision(expected: Int, found: Int)
        case misfit(Delta.Misfit)
    }
}
