import HandCore
import HandWire

extension Connection {
    /// How far a connection has got in one list.
    struct Cursor {
        let hosted: ListMachine
        let request: RequestNumber
        var revision: Int
        /// Whether its client wants a snapshot rather than many commits.
        var wantsItems = true
        /// Whether its client wants to know who is there.
        var wantsPeople = false
        /// The number of items when the list was subscribed to, as it is counted in the account.
        var items = 0
        /// The snapshot that is being sent. Commits wait until it is sent.
        var snapshot: Transfer?
        /// How much of the list's presence its client has been told.
        var presence = PresenceMark()
        /// Where the connection stands among the list's subscribers.
        var position: UInt32 = 0
        /// Whether commits before the window are being read from the store.
        var isReading = false
        /// Whether no submission of this connection to the list has been decided yet.
        var isFirstSubmission = true

        /// Whether the next commit is no longer in the window, and is not being read from the store.
        var isBehind: Bool { snapshot == nil && !isReading && revision < hosted.authority.floor }
    }

    /// How much of a list's presence a client was told, as numbers of changes. Unread changes are not kept for it.
    struct PresenceMark {
        /// The last change that it was told.
        var sent = 0
        /// The last change that it is to be told by now.
        var due = 0
        /// The client does not believe that people who left at this change or earlier are present.
        let knownGone: Int

        /// Makes the mark of a client that knows nothing yet. It is told of all people, as soon as all are known.
        init(_ board: PresenceBoard = PresenceBoard(), isComplete: Bool = true) {
            knownGone = board.last
            due = isComplete ? board.last : 0
        }

        /// Whether the client was told of people who have since left, and the board no longer remembers that.
        func isLost(_ board: PresenceBoard) -> Bool { board.floor > max(sent, knownGone) }
    }

    /// A list that is sent in chunks. A transfer is an object because most cursors have no transfer, and so a cursor
    /// takes less memory.
    final class Transfer {
        private let request: RequestNumber
        private let hand: Hand
        private var position = 0
        /// Keeps a past state in memory; nil if the list is not a past state.
        private let hold: RevisionHold?
        /// The transfer's position at the last check, and since when it has been there.
        private var seen: (position: Int, since: UInt64)?

        init(request: RequestNumber, hand: Hand, hold: RevisionHold? = nil) {
            self.request = request
            self.hand = hand
            self.hold = hold
        }

        var isDone: Bool { position == hand.count }
        var isPast: Bool { hold != nil }

        /// Returns for how many milliseconds the client has taken less than a sixteenth of the list.
        ///
        /// - Parameter isExcused: whether the server does not send the list at present.
        func stalled(now: UInt64, isExcused: Bool) -> UInt64 {
            if !isExcused, let seen, position - seen.position <= hand.count / 16 { return now - seen.since }
            seen = (position, now)
            return 0
        }

        /// Returns the next chunk: about `bytes` of items.
        func next(about bytes: Int) -> [UInt8] {
            let chunk = DownMessage.chunk(request: request, of: hand, from: position, about: bytes)
            position += chunk.count
            return chunk.frame
        }
    }
}
