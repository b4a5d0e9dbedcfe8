import HandCore
import HandWire

/// What happened to one item of a list: read from the newest commit backwards, until the commit that inserted it.
///
/// The item's place is followed back through each commit, so that no earlier list is needed.
package struct ItemHistory: PagedRequest {
    package struct Step: Equatable, Sendable {
        package let revision: Int
        package let author: AuthorID
        /// Milliseconds since 1970.
        package let time: UInt64
        package let action: Action
        /// The item's places before and after the commit.
        package let from: Int?
        package let to: Int

        package enum Action: Equatable, Sendable {
            case inserted(Item)
            case edited(Change)
            case moved(Change?)
        }

        package var mark: Delta.Mark {
            switch action {
            case .inserted: .inserted
            case .edited: .edited
            case .moved: .moved
            }
        }

        /// What the commit did, in a word.
        package var verb: String {
            switch action {
            case .inserted: "added"
            case .moved(nil): "moved"
            case .moved(let change?), .edited(let change):
                change.fields == .done && change.done != nil ? change.done == true ? "ticked" : "unticked" : "edited"
            }
        }

        /// What the commit changed in the item; nil if it inserted or only moved the item.
        package var change: Change? {
            switch action {
            case .inserted: nil
            case .edited(let change): change
            case .moved(let change): change
            }
        }
    }

    /// The steps that were found, newest first.
    package private(set) var steps: [Step] = []
    /// The names of the authors of the commits.
    package private(set) var people: [AuthorID: String] = [:]
    /// The newest commit that was not looked at yet.
    package private(set) var next = 0
    /// Whether there may be earlier steps, among commits that were not asked for.
    package private(set) var isCut = false
    /// Whether the server has forgotten earlier commits.
    package private(set) var isForgotten = false
    /// Whether the list has the item.
    package private(set) var isFound = false
    private let name: String
    private let item: ItemID
    private let limit: Int
    /// The item's place after the commit `next`.
    private var place = 0
    /// The newest commit of all.
    private var head = 0
    /// The part of the history that is being read, and its first revision.
    private var commits: CommitPages?
    private var first = 1
    private var isAtEnd = false

    /// The commits of a part of the history.
    private static let part = 1_000

    /// - Parameter limit: how many commits to read at most.
    package init(of item: ItemID, in name: String, limit: Int = .max) {
        (self.item, self.name, self.limit) = (item, name, limit)
    }

    /// Whether the commit was found that inserted the item.
    package var isWhole: Bool { if case .inserted = steps.last?.action { true } else { false } }

    package var request: (@Sendable (RequestNumber) -> UpMessage)? {
        if isAtEnd { return nil }
        if let commits { return commits.request }
        let (name, item) = (name, item)
        return { .excerpt(.init(request: $0, name: name, revision: nil, from: 0, [.ids(item...item)])) }
    }

    package mutating func take(_ answer: ClientMachine.Answer) {
        switch answer {
        case .excerpt(let excerpt):
            guard let entry = excerpt.entries.first(where: { $0.item.id == item }) else {
                isAtEnd = true
                return
            }
            (isFound, place, next, head) = (true, entry.position, excerpt.revision, excerpt.revision)
            readOn()
        case .history(_, let people):
            for person in people { self.people[person.author] = person.name }
            commits?.take(answer)
            if let commits, commits.request == nil { take(commits.commits) }
        default: isAtEnd = true
        }
    }

    private mutating func take(_ part: [Commit]) {
        for commit in part.reversed() where !isWhole { pass(commit) }
        // Older commits may have been forgotten.
        isForgotten = part.first?.revision != first
        next = (part.first?.revision ?? next + 1) - 1
        isCut = !isWhole && !isForgotten && next > 0 && head - next >= limit
        if !isWhole && !isForgotten && !isCut { readOn() }
    }

    private mutating func readOn() {
        first = max(1, next - min(Self.part, limit - (head - next)) + 1)
        commits = CommitPages(of: name, from: first, through: next)
    }

    private mutating func pass(_ commit: Commit) {
        let (delta, to) = (commit.delta, place)
        let from = delta.origin(of: to)
        let found = delta.placed.first { $0.new.contains(to) }
        let action: Step.Action? =
            switch found?.component {
            case .insert(let items, _): .inserted(items[to - (found?.new.lowerBound ?? 0)])
            case .edit(let change): .edited(change)
            case .drop(_, _, let change): .moved(change)
            case .keep, .delete, .pick, nil: nil
            }
        if let action {
            steps.append(
                Step(
                    revision: commit.revision, author: commit.author, time: commit.time, action: action, from: from,
                    to: to))
        }
        place = from ?? to
    }

    /// The item before and after each step, the oldest step first.
    ///
    /// - Parameter first: the item before the oldest step; nil if that step inserted it.
    package func states(from first: Item?) -> [(step: Step, before: Item?, after: Item)] {
        var item = first
        return steps.reversed().compactMap { step in
            let before = item
            if case .inserted(let new) = step.action { item = new }
            if let change = step.change { item = item.flatMap { try? $0.applying(change) } }
            return item.map { (step, before, $0) }
        }
    }
}
