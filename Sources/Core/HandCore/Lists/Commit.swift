/// A numbered, durable delta. A list's history is its commits 1, 2, 3…; nothing else is state.
public struct Commit: Equatable, Sendable {
    /// Place in the list's history, from 1.
    public var revision: Int
    /// The public number of the client that made it.
    public var author: UInt64
    /// The author's own count of submissions to this list; with the author it is the idempotency key.
    public var sequence: UInt64
    /// The revision that its author had seen when making it, below `revision`: all commits in between were made without each
    /// other's knowledge.
    public var base: Int
    /// When the server numbered it, in milliseconds since 1970 in UTC.
    public var time: UInt64
    /// Number of items after it.
    public var count: Int
    /// The list's digest after it.
    public var digest: UInt64
    /// The edit, made on the list at `revision − 1`.
    public var delta: Delta

    public init(
        revision: Int, author: UInt64, sequence: UInt64, base: Int, time: UInt64, count: Int, digest: UInt64,
        delta: Delta
    ) {
        self.revision = revision
        self.author = author
        self.sequence = sequence
        self.base = base
        self.time = time
        self.count = count
        self.digest = digest
        self.delta = delta
    }
}
