/// Who makes commits: a client under a name. Neither ever changes, so the name of a commit does not either.
public struct Author: Hashable, Sendable {
    /// The public number, which commits carry.
    public let number: UInt64
    /// The number that its client was given first. Whatever names a client has, its submissions to a list have one sequence.
    public let client: UInt64

    public init(number: UInt64, client: UInt64) {
        self.number = number
        self.client = client
    }
}
