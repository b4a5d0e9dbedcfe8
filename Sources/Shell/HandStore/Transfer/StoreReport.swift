package struct StoreReport: Equatable, Sendable {
    /// A difference from what was written.
    package struct Problem: Error, Equatable, Sendable {
        /// The first wrong revision of the list, or nil if the problem does not concern one revision.
        package let revision: Int?
        package let text: String
    }

    package struct List: Equatable, Sendable {
        /// The list's name; for a deleted list, its former name.
        package let name: String
        package let isDeleted: Bool
        /// The revisions whose commits are kept and were replayed: from the one after `floor` to `revision`.
        package let floor: Int
        package let revision: Int
        package let count: Int
        package let digest: UInt64
        package let snapshots: Int
        package internal(set) var problem: Problem?
    }

    package internal(set) var lists: [List] = []
    /// The problems of the file as a whole.
    package internal(set) var problems: [Problem] = []

    package init() {}

    /// Adds a problem of the file as a whole.
    mutating func note(_ problem: String) { problems.append(Problem(revision: nil, text: problem)) }

    package var isSound: Bool { problems.isEmpty && lists.allSatisfy { $0.problem == nil } }
    package var commits: Int { lists.reduce(0) { $0 + $1.revision - $1.floor } }
}
