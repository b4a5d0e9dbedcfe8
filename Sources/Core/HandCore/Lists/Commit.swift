/// A numbered, durable delta. A list's history is its commits 1, 2, 3…; nothing else is state.
///
/// A submission may be refused by a commit, too: one that changes nothing. All who read the history then know that the submission
/// was decided, and how.
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
    /// The edit, made on the list at `revision − 1`; the identity if the submission is refused.
    public var delta: Delta
    /// Why the submission is refused; nil if it is made.
    public var refusal: Rejection?

    public init(
        revision: Int, author: UInt64, sequence: UInt64, base: Int, time: UInt64, count: Int, digest: UInt64,
        delta: Delta, refusal: Rejection? = nil
    ) {
        self.revision = revision
        self.author = author
        self.sequence = sequence
        self.base = base
        self.time = time
        self.count = count
        self.digest = digest
        self.delta = delta
        self.refusal = refusal
    }
}
