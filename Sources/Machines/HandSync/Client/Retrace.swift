import HandCore

/// The newest part of a list's history, as far as it must be known to take one's own commits back, or to make them again,
/// without having followed the list.
///
/// Law: `delta(of:from:_:)` is what a replica makes of its own undo or redo that has followed the list all the time, and whose
/// edits crossed no others on their way.
public struct Retrace: Sendable {
    /// An undo or a redo: a commit that takes back an earlier one of the same author.
    public enum Step: UInt8, Sendable {
        case undo, redo
    }

    /// The steps of one author, which only the author knows: a commit does not tell that it is one, as adding an item and
    /// deleting it is no undo.
    public struct Steps: Equatable, Sendable {
        /// By the sequences of their commits.
        public var made: [UInt64: Step]
        /// Those that changed nothing, and so made no commit, by the revision at which they were made.
        public var empty: [Int: [Step]]

        public init(made: [UInt64: Step] = [:], empty: [Int: [Step]] = [:]) {
            self.made = made
            self.empty = empty
        }
    }

    /// By the numbers that one has as an author.
    public var own: [UInt64: Steps]
    /// The revision up to which the history is known.
    public private(set) var revision: Int
    /// The last commits up to `revision`, one after another.
    public private(set) var commits: [Commit] = []

    public init(own: [UInt64: Steps], revision: Int) {
        self.own = own
        self.revision = revision
    }

    /// The revision before the first of the commits.
    public var floor: Int { revision - commits.count }

    /// - Precondition: they are those up to `floor`.
    public mutating func prepend(_ older: [Commit]) {
        commits = older + commits
    }

    /// - Precondition: they are those from `revision` on.
    public mutating func append(_ newer: [Commit]) {
        commits += newer
        revision += newer.count
    }

    /// What a step takes back.
    public struct Target: Equatable, Sendable {
        public let revision: Int
        /// Whether it is a step that changed nothing, made at that revision.
        public let isEmpty: Bool
    }

    public enum Search: Equatable, Sendable {
        case found(Target)
        case nothing
        /// It lies further back, if anywhere.
        case further
    }

    /// One of one's own deeds: an edit (nil) or a step, and whether it made the commit at its revision or none.
    private typealias Deed = (step: Step?, isEmpty: Bool)

    private func deeds(at commit: Commit) -> [Deed] {
        let empty = own.values.flatMap { $0.empty[commit.revision] ?? [] }.map { Deed($0, true) }
        return own[commit.author].map { [($0.made[commit.sequence], false)] + empty } ?? empty
    }

    /// Looks for the newest deed that still stands and that the step would take back. An undo takes the newest edit or redo
    /// with it, a redo the newest undo; after an edit nothing can be made again.
    public func search(_ wanted: Step) -> Search {
        var matched = 0
        for commit in commits.reversed() {
            for deed in deeds(at: commit).reversed() {
                if deed.step == nil, wanted == .redo { return .nothing }
                if deed.step == wanted {
                    matched += 1
                } else if matched > 0 {
                    matched -= 1
                } else {
                    return .found(Target(revision: commit.revision, isEmpty: deed.isEmpty))
                }
            }
        }
        return floor == 0 ? .nothing : .further
    }

    /// One's own commits from a target on: their inverses must be known to take it back.
    public func ownCommits(from target: Target) -> [Commit] {
        commits(from: target.revision).filter { own[$0.author] != nil }
    }

    private func commits(from revision: Int) -> ArraySlice<Commit> { commits[(revision - floor - 1)...] }

    /// What takes the target back, on the list as it is at `revision`; nil if more lies between than anybody takes back.
    ///
    /// - Parameter inverse: what takes one of `ownCommits` back, on the list as it was after it.
    public func delta(of step: Step, from target: Target, _ inverse: (Commit) -> Delta) -> Delta? {
        if target.isEmpty { return .identity }
        var history = UndoHistory()
        for commit in commits(from: target.revision) {
            if own[commit.author] == nil { history.follow(commit.delta) }
            for deed in deeds(at: commit) {
                let inverse = deed.isEmpty ? .identity : inverse(commit)
                switch deed.step {
                case nil: history.record(inverse: inverse)
                case .undo:
                    _ = history.undo()
                    history.undid(inverse: inverse)
                case .redo:
                    _ = history.redo()
                    history.redid(inverse: inverse)
                }
            }
        }
        return step == .undo ? history.undo() : history.redo()
    }

    /// The inverse of any commit, made on the list after it, carried over all that came since.
    public func carried(_ inverse: Delta, of commit: Commit) -> Delta {
        var carried = CarriedDelta(inverse)
        for later in commits(from: commit.revision).dropFirst() { _ = carried.follow(later.delta) }
        return carried.delta
    }
}
