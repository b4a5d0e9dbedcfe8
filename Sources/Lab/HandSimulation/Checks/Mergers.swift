import HandCore
import HandWire

/// Compares the commits that the server made from submissions with the merge that `Delta.transformed` defines, using
/// its naive implementation.
final class Mergers {
    private struct Key: Hashable {
        let author: AuthorID
        let sequence: SequenceNumber
        let list: UInt64
    }

    private struct Sent {
        let client: Int
        let submission: Submission
        /// The newest revision that anybody had seen when the submission was first sent. Another server may have
        /// accepted the submission at that moment.
        let seen: Int
        /// The levels that the submission gives; nil if the list that it was made on is not known any more.
        let levels: [ItemID: UInt8]?
    }

    /// The submissions sent under each sequence, in order. A client may send a submission again on another base while
    /// the first one may still arrive over an older connection. A client and its copy have the same author, so both may
    /// use the same sequence.
    private var submissions: [Key: [Sent]] = [:]

    /// Records a submission.
    ///
    /// - Parameter base: the list that the submission was made on, if it is known.
    func sent(
        _ submission: Submission, on base: Hand?, list: UInt64, author: AuthorID, client: Int, seen: Int
    ) {
        let key = Key(author: author, sequence: submission.sequence, list: list)
        let isKnown = submissions[key]?.contains { $0.client == client && $0.submission == submission } == true
        if isKnown { return }
        let levels = base.map { submission.delta.levels(on: Array($0)) }
        submissions[key, default: []].append(
            Sent(client: client, submission: submission, seen: seen, levels: levels))
    }

    /// Returns the levels that a commit's author gave; nil if it is not known which submission became the commit.
    ///
    /// - Parameter isThere: whether an item that a list has is still the one that the list had at a revision.
    func levels(
        givenBy commit: Commit, of list: UInt64, where isThere: (ItemID, Int) -> Bool
    ) -> [ItemID: UInt8]? {
        if commit.refusal != nil { return [:] }
        let all = Set(
            sent(commit, of: list).map { sent in
                sent.levels?.filter { isThere($0.key, sent.submission.base) }
            })
        return all.count == 1 ? all.first ?? nil : nil
    }

    /// Whether this is the client's first submission under its sequence, or a repetition: the items that a submission
    /// inserts never change.
    func isUsedOnce(_ submission: Submission, list: UInt64, author: AuthorID, client: Int) -> Bool {
        let key = Key(author: author, sequence: submission.sequence, list: list)
        guard let former = submissions[key]?.last(where: { $0.client == client })?.submission
        else { return true }
        return former.delta.insertedItems.map(\.id) == submission.delta.insertedItems.map(\.id)
    }

    private func sent(_ commit: Commit, of list: UInt64) -> [Sent] {
        submissions[Key(author: commit.author, sequence: commit.sequence, list: list)] ?? []
    }

    /// Returns the cost of transforming a submission over `commits`, up to the start of the last step. `commits` holds
    /// all commits before the submission's own. Returns nil if the cost is unknown, or if the submission's base was the
    /// newest revision that its client could have. Steps between single edits cost next to nothing.
    func work(for commit: Commit, of list: UInt64, _ commits: [Commit]) -> Int? {
        let all = sent(commit, of: list)
        guard commit.refusal == nil, let sent = all.last, all.allSatisfy({ $0.client == sent.client }),
            sent.submission.lag == 0,
            sent.submission.base == commit.base,
            commit.base < sent.seen
        else { return nil }
        var carried = CarriedDelta(sent.submission.delta)
        var costs = [sent.submission.delta.carryingCost]
        for earlier in commits[commit.base...] where !carried.isIdentity {
            let isSingle = carried.singleEdit.map { $0.passes(SingleEdit(earlier.delta)) } ?? false
            let cost = carried.follow(earlier.delta)
            if !isSingle { costs.append(cost) }
        }
        return costs.dropLast().reduce(0, +)
    }

    /// Returns what is wrong with a commit, or nil if the server should have made this commit of some client's
    /// submission.
    ///
    /// - Parameters:
    ///   - commits: the commits before this one.
    ///   - before: the lists after each of these commits.
    func problem(with commit: Commit, of list: UInt64, _ commits: [Commit], _ before: [NaiveList]) -> String? {
        if commit.refusal != nil { return commit.delta.isIdentity ? nil : "a refusal changes the list" }
        let problems = sent(commit, of: list).map { problem(with: commit, from: $0.submission, commits, before) }
        return problems.contains(nil) ? nil : problems.last ?? nil
    }

    /// Checks a commit against one submission. Also returns nil if more than one commit came between: then there is no
    /// naive merge to compare with, as transforming step by step is not merging all at once.
    private func problem(
        with commit: Commit, from submission: Submission, _ commits: [Commit], _ before: [NaiveList]
    ) -> String? {
        guard submission.base == commit.base || submission.lag > 0 else { return nil }
        let (made, latest) = (submission.delta, before[before.count - 1])
        let result = try? latest.applying(commit.delta).items.map(MergedItem.init)
        switch commit.revision - 1 - submission.base {
        case 0:
            guard made.reach <= latest.count else { return "an edit that does not fit was committed" }
            return result == (try? latest.applying(made).items.map(MergedItem.init)) ? nil : "not what was submitted"
        case 1:
            let base = before[before.count - 2]
            guard made.reach <= base.count, let earlier = commits.last?.delta else { return nil }
            let merged = NaiveView.merge(
                earlier: NaiveView(earlier, count: base.count), later: NaiveView(made, count: base.count),
                on: base.items)
            let expected = merged.outcome(on: base.items).map(MergedItem.init)
            return result == expected ? nil : "not the merge with the commit before it"
        default: return nil
        }
    }
}

extension Delta {
    /// The levels that the delta gives to items, by the naive reading.
    func levels(on items: [Item]) -> [ItemID: UInt8] {
        var levels = Dictionary(insertedItems.map { ($0.id, $0.level) }) { $1 }
        for (item, change) in zip(items, NaiveView(self, count: items.count).changes) {
            if let level = change.level { levels[item.id] = level }
        }
        return levels
    }
}

/// The part of an item that merging decides. The faces of cards are the server's choice.
private struct MergedItem: Equatable {
    let id: ItemID
    let level: UInt8
    let content: Content?

    init(_ item: Item) {
        (id, level) = (item.id, item.level)
        if case .card = item.content { content = nil } else { content = item.content }
    }
}

extension SingleEdit {
    /// Whether this edit is carried over another edit as just a few numbers.
    fileprivate func passes(_ other: SingleEdit?) -> Bool {
        guard let other else { return false }
        return kind != .reword || other.kind != .reword || index != other.index
    }
}
