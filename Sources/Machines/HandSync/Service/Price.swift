/// The work for a message beyond taking and answering it, as the number of components of deltas that could be examined
/// in that time: about 100 nanoseconds each.
enum Price {
    /// Finding who a client is, and setting up its connection.
    static let hello = 2_000
    /// Finding a list, or a deleted one, in the store.
    static let list = 200

    /// Reading commits from the store: each costs the finding of its row, and its bytes.
    static func commits(_ count: Int, bytes: Int) -> Int { count * 100 + bytes / 20 }

    /// Building a list again from a snapshot and the commits since.
    static func replay(_ items: Int, commits: Int) -> Int { items * 2 + commits * 100 }
}
