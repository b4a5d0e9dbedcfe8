import HandCore
import HandWire

extension Connection {
    /// How far a connection has got in one list.
    struct Cursor {
        let hosted: HostedList
        let request: UInt64
        var revision: Int
        /// Items of the list when it was subscribed to, as they are counted in the account.
        var items = 0
        /// The snapshot that is being sent; commits wait until it is through.
        var snapshot: Transfer?
        /// Whether commits before the window are being read from the store.
        var isReading = false
        /// Whether nothing that this connection has submitted to the list has been decided yet.
        var isFirstSubmission = true
        /// How much of the list's presence its client has been told.
        var presence = PresenceMark()

        /// Whether the next commit is no longer in the window and has not been asked of the store.
        var isBehind: Bool { snapshot == nil && !isReading && revision < hosted.authority.floor }
    }

    /// How far a client has been told who is on a list, as numbers of changes. Changes that it does not read are not kept for it.
    struct PresenceMark {
        /// The last change that it was told, and the last that it is due.
        var told = 0
        var owed = 0
        /// Of people who went by then, or before, it knows nothing, or knows that they went.
        var knownGone = 0

        /// A client that knows nothing of the list is due the whole picture, as soon as that is complete.
        init(_ board: PresenceBoard = PresenceBoard(), isComplete: Bool = true) {
            knownGone = board.last
            owed = isComplete ? board.last : 0
        }

        /// The whole picture is to be told once more; who was told of people is told that they have gone, too.
        mutating func startAnew(_ board: PresenceBoard) {
            knownGone = max(told, knownGone)
            (told, owed) = (0, board.last)
        }

        /// Whether it was told of people who have since left, and the board no longer remembers them.
        func isLost(_ board: PresenceBoard) -> Bool { board.floor > max(told, knownGone) }
    }

    /// A list that is sent in chunks: a value, so edits meanwhile do not disturb it. An object, as most cursors have none.
    final class Transfer {
        private let request: UInt64
        private let hand: Hand
        private var position = 0
        /// Of a past state.
        private let hold: PastHold?
        /// Its position when it was last checked, and since when it has been there.
        private var seen: (position: Int, since: UInt64)?

        init(request: UInt64, hand: Hand, hold: PastHold? = nil) {
            self.request = request
            self.hand = hand
            self.hold = hold
        }

        var isDone: Bool { position == hand.count }
        var isPast: Bool { hold != nil }

        /// Milliseconds in which its client has not taken a sixteenth of the list.
        func stalled(now: UInt64) -> UInt64 {
            if let seen, position - seen.position <= hand.count / 16 { return now - seen.since }
            seen = (position, now)
            return 0
        }

        /// The next chunk: about `bytes` of items.
        func next(about bytes: Int) -> [UInt8] {
            let chunk = DownMessage.chunk(request: request, of: hand, from: position, about: bytes)
            position += chunk.count
            return chunk.frame
        }
    }
}
