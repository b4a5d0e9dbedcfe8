import HandCore

/// Takes commits of a list back, or makes them again, by the newest part of its history, without having followed the list. Asks
/// for what it must know (`next`) and is told (`prepend`, `append`, `learn`).
///
/// Law: the edit of a step is what a replica makes of its own undo or redo that has followed the list all the time, and whose
/// edits crossed no others on their way.
public struct Retrace: Sendable {
    /// An undo or a redo: a commit that takes back an earlier one of the same author.
    public enum Step: UInt8, Sendable {
        case undo, redo
    }

    /// The steps of one author, which only the author knows: a commit does not tell that it is one, as adding an item and
    /// deleting it is no undo.
    package struct Steps: Equatable, Sendable {
        /// By the sequences of their commits.
        package var made: [UInt64: Step]
        /// Those that changed nothing, and so made no commit, by the revision at which they were made.
        package var empty: [Int: [Step]]

        package init(made: [UInt64: Step] = [:], empty: [Int: [Step]] = [:]) {
            self.made = made
            self.empty = empty
        }
    }

    /// By the numbers that one has as an author.
    package var own: [UInt64: Steps]
    /// The revision up to which the history is known.
    package private(set) var revision: Int
    /// The last commits up to `revision`, one after another.
    private var commits: [Commit] = []
    /// What takes commits back, on the list after each, by their revisions.
    private var inverses: [Int: Delta] = [:]
    /// The oldest commit that was asked for, and whether it is not kept any more.
    private var oldestAsked = Int.max
    private var isForgotten = false

    /// How many of the newest commits are searched for a deed, and how many are asked for at one time.
    private static let depth = 10_000
    private static let page = 1_000

    package init(own: [UInt64: Steps], revision: Int) {
        self.own = own
        self.revision = revision
    }

    /// The revision before the first of the commits.
    private var floor: Int { revision - commits.count }

    /// - Precondition: they are the last of those that were asked for. The first may have been forgotten.
    package mutating func prepend(_ older: [Commit]) {
        commits = older + commits
        isForgotten = floor >= oldestAsked
    }

    /// - Precondition: they are those from `revision` on.
    package mutating func append(_ newer: [Commit]) {
        commits += newer
        revision += newer.count
    }

    /// What a step takes back.
    package struct Target: Equatable, Sendable {
        package let revision: Int
        /// Whether it is a step that changed nothing, made at that revision.
        package let isEmpty: Bool
    }

    /// What is to be taken back.
    package enum Wish: Sendable {
        /// What an undo or a redo takes back.
        case step(Step)
        /// The commit of that revision, whoever made it.
        case revision(Int)
    }

    package enum Advice: Equatable, Sendable {
        /// `prepend` these commits.
        case read(ClosedRange<Int>)
        /// `learn` the items that this commit touches, as they were before it.
        case look(Commit)
        /// Make this edit on the list as it is at `revision`; it is a step, unless it takes back somebody else's commit.
        case make(Retraction, as: Step?, of: Target)
        case nothing
        /// The commit is not kept any more.
        case forgotten(Int)
    }

    private enum Search {
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
    private func search(_ wanted: Step) -> Search {
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

    /// What to do next for a wish.
    ///
    /// - Precondition: the revision of a wish is one of the list's.
    package mutating func next(for wish: Wish) -> Advice {
        switch wish {
        case .step(let step): return next(for: step)
        case .revision(let revision):
            if floor >= revision { return isForgotten ? .forgotten(revision) : read(from: revision) }
            if case .found(let target) = search(.undo), target.revision == revision {
                let advice = next(for: .undo)
                if advice != .nothing { return advice }
            }
            let commit = commits[revision - floor - 1]
            guard let inverse = inverse(of: commit) else { return .look(commit) }
            return .make(carried(inverse, of: commit), as: nil, of: Target(revision: revision, isEmpty: false))
        }
    }

    private mutating func next(for step: Step) -> Advice {
        switch search(step) {
        case .nothing: return .nothing
        case .further:
            if isForgotten || commits.count >= Self.depth { return .nothing }
            // As many again as are known.
            return read(from: max(1, floor - min(max(commits.count, 1), Self.page) + 1))
        case .found(let target):
            for commit in commits(from: target.revision) where own[commit.author] != nil {
                if inverse(of: commit) == nil { return .look(commit) }
            }
            return delta(of: step, from: target).map { .make($0, as: step, of: target) } ?? .nothing
        }
    }

    private mutating func read(from revision: Int) -> Advice {
        oldestAsked = revision
        return .read(revision...floor)
    }

    /// Takes note of what the items were that a commit touches.
    ///
    /// - Parameter list: the list before the commit, in which at least those items are known.
    package mutating func learn(_ commit: Commit, on list: Hand) {
        inverses[commit.revision] = commit.delta.inverted(on: list)
    }

    /// What takes a commit back, on the list after it; nil if it is not known.
    private mutating func inverse(of commit: Commit) -> Delta? {
        // One that only adds items needs no look at any.
        if inverses[commit.revision] == nil, commit.delta.touched.isEmpty { learn(commit, on: Hand()) }
        return inverses[commit.revision]
    }

    private func commits(from revision: Int) -> ArraySlice<Commit> { commits[(revision - floor - 1)...] }

    /// What takes the target back, on the list as it is at `revision`; nil if more lies between than anybody takes back.
    private func delta(of step: Step, from target: Target) -> Retraction? {
        if target.isEmpty { return .nothing }
        var history = UndoHistory()
        for commit in commits(from: target.revision) {
            if own[commit.author] == nil { history.follow(commit.delta) }
            for deed in deeds(at: commit) {
                let inverse = deed.isEmpty ? .identity : inverses[commit.revision] ?? .identity
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
    private func carried(_ inverse: Delta, of commit: Commit) -> Retraction {
        var history = UndoHistory()
        history.record(inverse: inverse)
        for later in commits(from: commit.revision).dropFirst() { history.follow(later.delta) }
        return history.undo() ?? .nothing
    }
}
