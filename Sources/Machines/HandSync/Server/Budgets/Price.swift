/// The work for a message beyond taking and answering it, as the number of components of deltas that could be examined
/// in the same time: about 100 nanoseconds each.
///
/// Law: the work that is charged and the work that is done differ by no more than three times. A test compares the two
/// for each message.
package enum Price {
    /// Taking a message and answering it. It is charged as a request, and counts as work only within one turn.
    package static let message = 20
    /// Finding who a client is, and setting up its connection.
    package static let hello = 2_000
    /// Finding a list, or a deleted one, in the store.
    package static let list = 200
    /// Sending one more client a few bytes.
    package static let delivery = 20
    /// Looking up again what a client may do.
    package static let access = 10
    /// A transaction of the store for one request.
    package static let transaction = 4_000
    /// The most work for an excerpt that is made while everybody waits.
    package static let inlineExcerpt = 1_000
    /// Finding one selection of an excerpt.
    package static let selection = 5

    /// Reading rows of commits from the store, and decoding some of them.
    package static func commits(_ rows: Int, decoded: Int = 0, bytes: Int) -> Int {
        rows * 10 + decoded * 90 + bytes / 20
    }

    /// Building a list again from a snapshot and the commits since.
    package static func replay(_ items: Int, commits: Int) -> Int { items * 2 + commits * 100 }

    /// Undoing the latest commits on a copy of a list.
    package static func rewind(_ commits: Int) -> Int { commits * 100 }

    /// Sending bytes that are in memory.
    package static func copying(_ bytes: Int) -> Int { bytes / 64 }

    /// Encoding items of a list, and sending them.
    package static func chunk(bytes: Int) -> Int { bytes / 32 }

    /// Returning items one by one, as an excerpt does.
    package static func entries(_ count: Int, bytes: Int) -> Int { count * 7 + bytes / 32 }

    /// Comparing the ids of items with some ranges.
    package static func search(_ items: Int, ranges: Int) -> Int {
        items * (Int.bitWidth - ranges.leadingZeroBitCount) / 2
    }
}

/// How much work was done in a turn for one user, or for one connection without a user. Whoever has used up a share
/// goes on in the next turn, so that nobody waits long for the messages of one user, however many come at once.
struct TurnShare {
    private var turn: UInt32 = 0
    private var spent: UInt32 = 0

    /// The work of a millisecond.
    private static let maxPerTurn = 10_000

    mutating func spend(_ work: Int, in turn: UInt32) {
        if self.turn != turn { (self.turn, spent) = (turn, 0) }
        spent = UInt32(clamping: Int(spent) + work)
    }

    func isUsedUp(in turn: UInt32) -> Bool { self.turn == turn && spent >= Self.maxPerTurn }
}
