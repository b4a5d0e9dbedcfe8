/// The public number of an author of commits: of a client under one person's name. A server counts authors from 1.
public struct AuthorID: TypedNumber {
    public let rawValue: UInt64

    @inlinable public init(rawValue: UInt64) { self.rawValue = rawValue }
}
