import HandCore
import HandWire

/// What others may still override of a person's commits to a list, as of a revision. Clients that do not follow the
/// list compare this work with the commits made since that revision.
public struct KeptWork: Equatable, Sendable {
    /// The items of the work, with their positions at the revision.
    public private(set) var excerpt: Excerpt
    private var work: OwnWork

    /// How many commits are compared at most; after more, the work is forgotten.
    package static let reach = 10_000

    public var logID: UInt64 { excerpt.logID }
    public var revision: Int { excerpt.revision }
    public var isEmpty: Bool { work.isEmpty }

    /// Creates empty work on the list of an excerpt.
    public init(on excerpt: Excerpt) {
        self.excerpt = excerpt
        self.excerpt.entries = []
        work = OwnWork()
    }

    /// The work of a replica without pending edits. O(n).
    init(_ replica: Replica) {
        work = replica.ownWork
        let ids = work.itemIDs.map { Excerpt.Selection.ids($0...$0) }
        excerpt = replica.confirmed.excerpt(ids, logID: replica.logID, revision: replica.revision)
        excerpt.isCut = false
    }

    /// Adds items of another excerpt at the same revision.
    package mutating func add(_ other: Excerpt) {
        let known = Set(excerpt.entries.map(\.position))
        let entries = excerpt.entries + other.entries.filter { !known.contains($0.position) }
        excerpt.entries = entries.sorted { $0.position < $1.position }
    }

    /// Takes the next commits of the list into account, and returns the work that these commits overrode.
    ///
    /// - Parameters:
    ///   - own: whether the author of a commit is this person; then the commit's work on known items is recorded.
    /// - Throws: if the commits do not fit, such as commits of another history.
    package mutating func pass(_ commits: [Commit], own: (AuthorID) -> Bool) throws -> [Loss] {
        var (list, losses) = (PartialList(excerpt), [Loss]())
        for commit in commits {
            guard commit.revision == list.revision + 1 else { throw Gap() }
            var commit = commit
            let (isOwn, isWhole) = (own(commit.author), commit.delta.touched.joined().allSatisfy(list.isKnown))
            let before: Hand
            (commit.delta, before) = try list.follow(commit.delta)
            losses += work.overridden(by: commit, author: isOwn ? commit.author : nil, on: before).compactMap(Loss.init)
            if isOwn, isWhole { work.record(commit, on: before) }
        }
        let items = work.itemIDs
        (excerpt.revision, excerpt.count) = (list.revision, list.count)
        excerpt.entries = list.entries.filter { items.contains($0.item.id) }
        return losses
    }

    /// The commits do not follow the revision.
    struct Gap: Error {}
}

// MARK: - Bytes

extension KeptWork {
    package var bytes: [UInt8] {
        var writer = WireWriter()
        writer.excerpt(excerpt)
        work.write(to: &writer)
        return writer.bytes
    }

    package init(_ bytes: UnsafeRawBufferPointer) throws(WireError) {
        var reader = WireReader(bytes)
        excerpt = try reader.excerpt()
        work = try OwnWork(&reader)
        try reader.expectEnd(of: "own work")
    }
}
