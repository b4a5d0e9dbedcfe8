import HandCore
import HandWire

/// An undo or a redo: a commit that reverses an earlier one of the same author.
public enum UndoStep: UInt8, Sendable {
    case undo, redo
}

/// Undoes or redoes commits of a list using the newest part of its history, without having followed the list. It
/// requests the commits and items that it must know (`next`), and receives them (`prepend`, `append`, `learn`).
///
/// Law: the edit of a step is the same as the undo or redo of a replica that has followed the list all the time, and
/// whose edits were not concurrent with any others.
package struct UndoReconstruction: Sendable {
    /// The steps of one author, which only the author knows: a commit does not show that it is a step, because adding
    /// an item and then deleting it is not an undo.
    package struct Steps: Equatable, Sendable {
        /// Steps by the sequences of their commits.
        package var made: [SequenceNumber: UndoStep]
        /// The number of user edits that a commit joins, if there are several, by the sequence of the commit. Nobody
        /// knows these edits apart any more, so the first of them is taken to be all of them, and the others nothing.
        package var counts: [SequenceNumber: Int] = [:]
        /// Steps that changed nothing, and so have no commit, by the revision at which they were made.
        package var empty: [Int: [UndoStep]]

        package init(made: [SequenceNumber: UndoStep] = [:], empty: [Int: [UndoStep]] = [:]) {
            self.made = made
            self.empty = empty
        }
    }

    /// What one person has done to a list, as the person's journals know it.
    package struct Memory: Sendable {
        /// The person's steps, by author number.
        package var own: [AuthorID: Steps]
        package var bases: [UndoBase]

        package init(own: [AuthorID: Steps] = [:], bases: [UndoBase] = []) {
            (self.own, self.bases) = (own, bases)
        }
    }

    private var own: [AuthorID: Steps] = [:]
    private var base: UndoBase?
    /// The revision up to which the history is known.
    package private(set) var revision: Int
    /// The last commits up to `revision`, one after another.
    private var commits: [Commit] = []
    /// The inverses of commits, each made on the list after its commit, by their revisions.
    private var inverses: [Int: Delta] = [:]
    /// The oldest requested commit, and whether it is no longer kept.
    private var oldestAsked = Int.max
    private var isForgotten = false

    /// How many of the newest commits are searched for an edit, and how many are requested at a time.
    private static let depth = 10_000
    private static let page = 1_000

    /// - Parameter revision: the revision of the list. Newer commits may be added later.
    package init(_ memory: Memory, revision: Int) {
        self.revision = revision
        remember(memory)
    }

    /// Replaces what the person's journals know. Another program of the person may have noted what can be undone at a
    /// revision that is not known here yet, or before the person took a step there that changed nothing, or without
    /// knowing all clients of the person. If there is no better base, the commits are read.
    package mutating func remember(_ new: Memory) {
        own = new.own
        let usable = new.bases.filter { base in
            base.revision <= revision && own.keys.allSatisfy { base.persons.contains($0) }
                && !own.values.contains { $0.empty[base.revision] != nil }
        }
        base = usable.max { $0.revision < $1.revision }
    }

    /// The revision of the oldest commit that matters, less one.
    private var bottom: Int { base?.revision ?? 0 }

    /// The revision before the first of the commits.
    private var floor: Int { revision - commits.count }

    private var isAtEnd: Bool { isForgotten || commits.count >= Self.depth }

    /// The oldest of the commits, if older ones that may matter are no longer kept, or not searched.
    package var horizon: Int? { floor > bottom && isAtEnd ? floor + 1 : nil }

    /// Adds older commits.
    ///
    /// - Precondition: the commits are the last of the requested ones. The first requested commits may no longer be
    ///   kept.
    package mutating func prepend(_ older: [Commit]) {
        commits = older + commits
        isForgotten = floor >= oldestAsked
    }

    /// Adds newer commits.
    ///
    /// - Precondition: the commits are those after `revision`.
    package mutating func append(_ newer: [Commit]) {
        commits += newer
        revision += newer.count
    }

    /// What to reverse.
    package enum Wish: Sendable {
        /// What an undo or a redo would reverse.
        case step(UndoStep)
        /// The commit of that revision, by any author.
        case revision(Int)
    }

    package enum Advice: Equatable, Sendable {
        /// `prepend` these commits.
        case read(ClosedRange<Int>)
        /// `learn` the items that this commit touches, as they were before it.
        case look(Commit)
        /// Make this edit on the list at `revision`. It is a step, unless it reverses somebody else's commit. The
        /// revision of what it reverses is nil if only the inverse is known. The step comes after some others of the
        /// same kind, which reverse what changed nothing.
        case make(Retraction, as: UndoStep?, of: Int?, afterEmpty: Int)
        case nothing
        /// The commit is no longer kept.
        case forgotten(Int)
    }

    private enum Search {
        case found(Int)
        /// The target is in the history up to the base, if there is a target.
        case inBase
        case nothing
        /// The target is further back, if there is a target.
        case further
    }

    /// One of the user's own submissions: an edit (nil) or a step, and whether it changed nothing.
    private typealias OwnSubmission = (step: UndoStep?, isEmpty: Bool)

    private func ownSubmissions(at commit: Commit) -> [OwnSubmission] {
        let empty = own.values.flatMap { $0.empty[commit.revision] ?? [] }.map { OwnSubmission($0, true) }
        // A refused edit changed nothing, so there is nothing to take back.
        guard let steps = own[commit.author], commit.refusal == nil else { return empty }
        let step = steps.made[commit.sequence]
        let others = Array(repeating: OwnSubmission(step, true), count: (steps.counts[commit.sequence] ?? 1) - 1)
        return [OwnSubmission(step, false)] + others + empty
    }

    /// Finds the newest submission that is still in effect and that the step would reverse. An undo reverses the newest
    /// edit or redo, a redo the newest undo; after an edit, nothing can be redone. Counts the submissions that the step
    /// would reverse before that one, as they changed nothing.
    private func search(_ wanted: UndoStep) -> (Search, empty: Int) {
        var (matched, empty) = (0, 0)
        for commit in commits.reversed() {
            if commit.revision <= bottom { break }
            for submission in ownSubmissions(at: commit).reversed() {
                if submission.step == nil, wanted == .redo { return (.nothing, empty) }
                if submission.step == wanted {
                    matched += 1
                } else if matched > 0 {
                    matched -= 1
                } else if submission.isEmpty {
                    empty += 1
                } else {
                    return (.found(commit.revision), empty)
                }
            }
        }
        return (floor > bottom ? .further : base == nil ? .nothing : .inBase, empty)
    }

    /// Returns what to do next for a wish.
    ///
    /// - Precondition: the list has the revision of the wish.
    package mutating func next(for wish: Wish) -> Advice {
        switch wish {
        case .step(let step): return next(for: step)
        case .revision(let revision):
            if floor >= revision { return isForgotten ? .forgotten(revision) : read(from: revision) }
            if case .found(revision) = search(.undo).0 {
                switch next(for: .undo) {
                case .make(_, _, let made, _) where made != revision: break
                case .nothing: break
                case let advice: return advice
                }
            }
            let commit = commits[revision - floor - 1]
            guard let inverse = inverse(of: commit) else { return .look(commit) }
            return .make(carried(inverse, of: commit), as: nil, of: revision, afterEmpty: 0)
        }
    }

    private mutating func next(for step: UndoStep) -> Advice {
        let (search, empty) = search(step)
        switch search {
        case .nothing: return .nothing
        case .further:
            if isAtEnd { return .nothing }
            // Read as many more commits as are already known.
            return read(from: max(bottom + 1, floor - min(max(commits.count, 1), Self.page) + 1))
        case .inBase:
            let advice = make(step, of: nil, afterEmpty: empty)
            if advice != .nothing { return advice }
            // What was done before the base's history began is found in the commits.
            base = nil
            return next(for: step)
        case .found(let target): return make(step, of: target, afterEmpty: empty)
        }
    }

    /// - Parameter target: nil if the step's target is in the base.
    private mutating func make(_ step: UndoStep, of target: Int?, afterEmpty empty: Int) -> Advice {
        let first = target ?? bottom + 1
        for commit in commits(from: first) where own[commit.author] != nil {
            if inverse(of: commit) == nil { return .look(commit) }
        }
        guard let found = retraction(by: step, from: target, afterEmpty: empty) else { return .nothing }
        return .make(found.retraction, as: step, of: found.revision ?? target, afterEmpty: empty)
    }

    private mutating func read(from revision: Int) -> Advice {
        oldestAsked = revision
        return .read(revision...floor)
    }

    /// Computes the inverse of a commit from the items that it touches.
    ///
    /// Returns false if not all of them are known.
    ///
    /// - Parameter list: what is known of the list before the commit.
    package mutating func learn(_ commit: Commit, on list: PartialList) -> Bool {
        guard let hand = try? list.hand(for: commit.delta) else { return false }
        inverses[commit.revision] = commit.delta.inverted(on: hand)
        return true
    }

    /// Returns the inverse of a commit, made on the list after it, or nil if it is not known.
    private mutating func inverse(of commit: Commit) -> Delta? {
        // The inverse of a commit that only adds items depends on no other items.
        if inverses[commit.revision] == nil, commit.delta.touched.isEmpty {
            inverses[commit.revision] = commit.delta.inverted(on: Hand())
        }
        return inverses[commit.revision]
    }

    private func commits(from revision: Int) -> ArraySlice<Commit> { commits[max(0, revision - floor - 1)...] }

    /// Returns the edit that reverses the target, made on the list at `revision`, or nil if the undo history is too
    /// short for the target. If a step has reversed the target already, although a newer edit was in effect, the
    /// result reverses that edit; its revision is returned if it is known.
    private func retraction(
        by step: UndoStep, from target: Int?, afterEmpty empty: Int
    ) -> (retraction: Retraction, revision: Int?)? {
        var history = target == nil ? base?.history ?? UndoHistory() : UndoHistory()
        for commit in commits(from: target ?? bottom + 1) { replay(commit, on: &history) }
        for _ in 0..<empty { _ = history.take(step) }
        let revision = history.revision(of: step)
        return history.take(step).map { ($0, revision) }
    }

    private func replay(_ commit: Commit, on history: inout UndoHistory) {
        if own[commit.author] == nil { history.follow(commit.delta) }
        for submission in ownSubmissions(at: commit) {
            let inverse = submission.isEmpty ? .identity : inverses[commit.revision] ?? .identity
            let origin = UndoHistory.Origin(
                edit: submission.isEmpty ? .identity : commit.delta, revision: commit.revision)
            guard let step = submission.step else {
                history.record(inverse: inverse, of: origin)
                continue
            }
            var next = history
            let made = next.take(step)?.delta
            if submission.isEmpty || made == nil || made == commit.delta {
                // Where nothing is known, the step is the target.
                next.made(step, inverse: inverse, of: origin)
                history = next
            } else if history.takeOlder(step, commit.delta) {
                // Another of the person's clients took back something older: it did not know the newest edit.
                history.made(step, inverse: inverse, of: origin)
            } else if made?.isIdentity == true {
                // One of several edits that a commit joins was reversed.
                next.followMade(step, inverse: inverse, of: origin)
                history = next
            } else {
                history.follow(commit.delta)
            }
        }
    }

    /// Returns the inverse of any commit, made on the list after it, transformed over all later commits.
    private func carried(_ inverse: Delta, of commit: Commit) -> Retraction {
        var history = UndoHistory()
        history.record(inverse: inverse)
        for later in commits(from: commit.revision).dropFirst() { history.follow(later.delta) }
        return history.take(.undo) ?? .nothing
    }
}

extension Delta {
    /// The items whose contents are needed to describe the delta or to take it back.
    package var selections: [Excerpt.Selection] {
        touched.map { .positions(start: $0.lowerBound, count: $0.count) }
    }
}
