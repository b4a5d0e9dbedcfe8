import HandCore
import HandWire

// Requests whose answers come in pages: what to ask next, and what has arrived.

/// The commits of a list from one revision through another.
package struct CommitPages: Sendable {
    private let name: String
    private let last: Int
    private var next: Int
    private var isAtEnd = false
    package private(set) var commits: [Commit] = []

    /// The most commits of a page.
    private static let page = 1_000

    package init(of name: String, from first: Int, through last: Int = .max) {
        (self.name, self.last, next) = (name, last, max(1, first))
    }

    /// The next request; nil if all commits have arrived.
    package var request: (@Sendable (UInt64) -> UpMessage)? {
        guard !isAtEnd, next <= last else { return nil }
        let (name, next, limit) = (name, next, min(Self.page, last - next + 1))
        return { .history(request: $0, name: name, from: next, limit: limit) }
    }

    package mutating func take(_ answer: ClientMachine.Answer) {
        guard case .history(let page, _) = answer, let newest = page.last, newest.revision >= next else {
            isAtEnd = true
            return
        }
        commits += page
        next = newest.revision + 1
    }
}

/// Some items of a list, at a revision or at present.
package struct ExcerptPages: Sendable {
    private let name: String
    private let revision: Int?
    /// The selections that are not answered as a whole, and the position from which the first of them are asked for.
    private var waiting: ArraySlice<Excerpt.Selection>
    private var start = 0
    private let isDivided: Bool
    private var isComplete = false
    /// The items that have arrived; nil before the first answer.
    package private(set) var excerpt: Excerpt?

    package init(of name: String, at revision: Int? = nil, _ selections: [Excerpt.Selection]) {
        (self.name, self.revision, waiting) = (name, revision, selections[...])
        isDivided = selections.count > Limits.selections
    }

    /// The next request; nil if all items have arrived.
    package var request: (@Sendable (UInt64) -> UpMessage)? {
        if isComplete { return nil }
        let (name, revision, start) = (name, excerpt?.revision ?? revision, start)
        let selections = Array(waiting.prefix(Limits.selections))
        return { .excerpt(.init(request: $0, name: name, revision: revision, from: start, selections)) }
    }

    package mutating func take(_ answer: ClientMachine.Answer) {
        guard case .excerpt(var part) = answer else {
            isComplete = true
            return
        }
        if part.isCut, let last = part.entries.last {
            start = last.position + 1
        } else {
            (start, waiting) = (0, waiting.dropFirst(Limits.selections))
            isComplete = waiting.isEmpty
        }
        part.entries = (excerpt?.entries ?? []) + part.entries
        if isComplete, isDivided { part.sortEntries() }
        part.isCut = false
        excerpt = part
    }
}

extension Excerpt {
    /// Brings the entries into the order of their positions, each once.
    fileprivate mutating func sortEntries() {
        var ordered: [Entry] = []
        for entry in entries.sorted(by: { $0.position < $1.position }) where ordered.last?.position != entry.position {
            ordered.append(entry)
        }
        entries = ordered
    }
}

/// What an `UndoReconstruction` asks for to fulfil a wish, page by page.
package struct UndoRequests: Sendable {
    private var past: UndoReconstruction
    private let wish: UndoReconstruction.Wish
    private let name: String
    private var part = Part.none

    private enum Part: Sendable {
        case none
        case commits(CommitPages)
        case items(Commit, ExcerptPages)
    }

    package init(_ wish: UndoReconstruction.Wish, _ past: UndoReconstruction, of name: String) {
        (self.wish, self.past, self.name) = (wish, past, name)
    }

    package enum Next: Sendable {
        case ask(@Sendable (UInt64) -> UpMessage)
        /// What to do: `make`, `nothing` or `forgotten`. Later wishes continue from the reconstruction.
        case end(UndoReconstruction.Advice, UndoReconstruction)
    }

    package mutating func next() -> Next {
        while true {
            switch part {
            case .none: break
            case .commits(let pages):
                if let request = pages.request { return .ask(request) }
                past.prepend(pages.commits)
            case .items(let commit, let pages):
                if let request = pages.request { return .ask(request) }
                if let excerpt = pages.excerpt { past.learn(commit, on: excerpt.hand) }
            }
            switch past.next(for: wish) {
            case .read(let revisions):
                part = .commits(CommitPages(of: name, from: revisions.lowerBound, through: revisions.upperBound))
            case .look(let commit):
                part = .items(
                    commit, ExcerptPages(of: name, at: commit.revision - 1, commit.delta.selections))
            case let advice: return .end(advice, past)
            }
        }
    }

    package mutating func take(_ answer: ClientMachine.Answer) {
        switch part {
        case .none: break
        case .commits(var pages):
            pages.take(answer)
            part = .commits(pages)
        case .items(let commit, var pages):
            pages.take(answer)
            part = .items(commit, pages)
        }
    }
}
