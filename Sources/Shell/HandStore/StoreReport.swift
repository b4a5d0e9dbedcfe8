/// What the verification of a store came to.
public struct StoreReport: Equatable, Sendable {
    /// Something that is not as it was written.
    public struct Problem: Equatable, Sendable {
        /// The first revision of the list that is wrong; nil if it is not a matter of one.
        public let revision: Int?
        public let text: String
    }

    public struct List: Equatable, Sendable {
        /// For a deleted list, the one that it had.
        public let name: String
        public let isDeleted: Bool
        /// The revisions whose commits are kept and were replayed: from the one after `floor` to `revision`.
        public let floor: Int
        public let revision: Int
        public let count: Int
        public let digest: UInt64
        public let snapshots: Int
        public internal(set) var problem: Problem?
    }

    public internal(set) var lists: [List] = []
    /// What concerns the file as a whole.
    public internal(set) var problems: [Problem] = []

    public var isSound: Bool { problems.isEmpty && lists.allSatisfy { $0.problem == nil } }
    public var commits: Int { lists.reduce(0) { $0 + $1.revision - $1.floor } }
}
