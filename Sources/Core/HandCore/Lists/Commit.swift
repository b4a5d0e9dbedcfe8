/// A numbered, durable delta. A list's history is its commits 1, 2, 3…; there is no other state.
///
/// A commit may also refuse a submission; such a commit changes nothing. Everybody who reads the history knows that the
/// submission was decided, and how.
public struct Commit: Equatable, Sendable {
    /// The position in the list's history, from 1.
    public var revision: Int
    /// Who made the edit.
    public var author: AuthorID
    /// The client's own count of submissions to this list; together with the client it is the idempotency key.
    public var sequence: SequenceNumber
    /// The revision that the author had seen when making the edit; it is below `revision`. The edit is concurrent with
    /// all commits in between.
    public var base: Int
    /// When the server numbered the commit, in milliseconds since 1970 in UTC.
    public var time: UInt64
    /// The number of items after this commit.
    public var count: Int
    /// The list's digest after this commit.
    public var digest: UInt64
    /// The edit, made on the list at `revision − 1`; the identity if the submission was refused.
    public var delta: Delta
    /// Why the submission was refused, or nil if it was accepted.
    public var refusal: Rejection?

    public init(
        revision: Int, author: AuthorID, sequence: SequenceNumber, base: Int, time: UInt64, count: Int, digest: UInt64,
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
