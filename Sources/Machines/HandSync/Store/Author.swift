import HandCore
import HandWire

/// The author of commits: a client under a name. Neither ever changes, so the name of a commit's author is fixed.
public struct Author: Hashable, Sendable {
    public let number: AuthorID
    /// The number of the client's first author. All authors of a client share one sequence of submissions to a list.
    public let client: AuthorID

    public init(number: AuthorID, client: AuthorID) {
        self.number = number
        self.client = client
    }
}

/// An author without stored commits, to be stored together with the author's first commit.
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
