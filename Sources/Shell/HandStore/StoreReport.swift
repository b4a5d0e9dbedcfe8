/// What the verification of a store came to.
package struct StoreReport: Equatable, Sendable {
    /// Something that is not as it was written.
    package struct Problem: Equatable, Sendable {
        /// The first revision of the list that is wrong; nil if it is not a matter of one.
        package let revision: Int?
        package let text: String
    }

    package struct List: Equatable, Sendable {
        /// For a deleted list, the one that it had.
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
    /// What concerns the file as a whole.
    package internal(set) var problems: [Problem] = []

    package var isSound: Bool { problems.isEmpty && lists.allSatisfy { $0.problem == nil } }
    package var commits: Int { lists.reduce(0) { $0 + $1.revision - $1.floor } }
}
