import HandWire

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

/// An author of whom no commit is kept yet: to be kept together with the first.
package struct Newcomer: Equatable, Sendable {
    package let author: Author
    package let client: ClientID
    package let person: String

    package init(_ author: Author, client: ClientID, person: String) {
        self.author = author
        self.client = client
        self.person = person
    }
}
