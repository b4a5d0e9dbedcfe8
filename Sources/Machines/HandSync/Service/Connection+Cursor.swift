import HandCore
import HandWire

extension Connection {
    /// How far a connection has got in one list.
    struct Cursor {
        let room: Room
        let request: UInt64
        var revision: Int
        /// The snapshot that is being sent; commits wait until it is through.
        var snapshot: Transfer?
        /// Whether commits before the window are being read from the store.
        var isReading = false
        /// People whose presence is still to be told: held back while the client was slow, or not told yet.
        var owedPresence: Set<UInt64> = []

        /// Whether the next commit is no longer in the window and has not been asked of the store.
        var isBehind: Bool { snapshot == nil && !isReading && revision < room.authority.floor }
    }

    /// A list that is sent in chunks: a value, so edits meanwhile do not disturb it. An object, as most cursors have none.
    final class Transfer {
        private let request: UInt64
        private let hand: Hand
        private var position = 0

        init(request: UInt64, hand: Hand) {
            self.request = request
            self.hand = hand
        }

        var isDone: Bool { position == hand.count }

        /// The next chunk: about `bytes` of items.
        func next(about bytes: Int) -> [UInt8] {
            let chunk = DownMessage.chunk(request: request, of: hand, from: position, about: bytes)
            position += chunk.count
            return chunk.frame
        }
    }
}
