import HandCore
import HandWire

/// A question whose answer comes in pages: what to ask next, and what has arrived.
package protocol PagedRequest: Sendable {
    /// The next request; nil if everything has arrived.
    var request: (@Sendable (RequestNumber) -> UpMessage)? { get }
    mutating func take(_ answer: ClientMachine.Answer)
}

/// All lists of a server, in the order of their names.
package struct ListPages: PagedRequest {
    package private(set) var lists: [DownMessage.ListEntry] = []
    private var isAtEnd = false

    package init() {}

    package var request: (@Sendable (RequestNumber) -> UpMessage)? {
        if isAtEnd { return nil }
        let after = lists.last?.name ?? ""
        return { .lists(request: $0, after: after) }
    }

    package mutating func take(_ answer: ClientMachine.Answer) {
        isAtEnd = true
        guard case .lists(let page, let hasMore) = answer else { return }
        lists += page
        isAtEnd = !hasMore
    }
}

/// The commits of a list from one revision through another.
package struct CommitPages: PagedRequest {
    private let name: String
    private let last: Int
    private var next: Int
    private var isAtEnd = false
    package private(set) var commits: [Commit] = []
    /// The names of the authors.
    package private(set) var people: [AuthorID: String] = [:]

    /// The most commits of a page.
    private static let page = 1_000

    package init(of name: String, from first: Int, through last: Int = .max) {
        (self.name, self.last, next) = (name, last, max(1, first))
    }

    package var request: (@Sendable (RequestNumber) -> UpMessage)? {
        guard !isAtEnd, next <= last else { return nil }
        let (name, next, limit) = (name, next, min(Self.page, last - next + 1))
        return { .history(request: $0, name: name, from: next, limit: limit) }
    }

    package mutating func take(_ answer: ClientMachine.Answer) {
        guard case .history(let page, let people) = answer, let newest = page.last, newest.revision >= next else {
            isAtEnd = true
            return
        }
        for person in people { self.people[person.author] = person.name }
        // The server may have forgotten what is between two pages.
        if page[0].revision > next { commits = [] }
        // If it has forgotten all that was asked for, the answer begins with what it has.
        commits += page.prefix { $0.revision <= last }
        next = newest.revision + 1
    }
}

/// The revisions at which items came into a list. The history is read backwards until all of them are found.
package struct ArrivalPages: PagedRequest {
    private let name: String
    /// The number of items that have not been found.
    private var missing: Int
    private var commits: CommitPages
    /// The first revision of the part of the history that is being read.
    private var first: Int
    /// What has been found; 0 for an item that came before the oldest commit that the server has.
    package private(set) var revisions: [ItemID: Int]

    /// The commits of a part of the history.
    private static let part = 1_000

    package init(of name: String, _ items: some Sequence<ItemID>, at revision: Int) {
        revisions = Dictionary(items.map { ($0, 0) }) { $1 }
        (self.name, missing, first) = (name, revisions.count, revision + 1)
        commits = CommitPages(of: name, from: 1, through: 0)
        readOn()
    }

    package var request: (@Sendable (RequestNumber) -> UpMessage)? { commits.request }

    package mutating func take(_ answer: ClientMachine.Answer) {
        commits.take(answer)
        if commits.request != nil { return }
        for commit in commits.commits.reversed() {
            for item in commit.delta.items where revisions[item.id] == 0 {
                revisions[item.id] = commit.revision
                missing -= 1
            }
        }
        // A later first commit is the oldest that the server has.
        if commits.commits.first?.revision == first { readOn() }
    }

    private mutating func readOn() {
        if missing == 0 || first <= 1 { return }
        let last = first - 1
        first = max(1, first - Self.part)
        commits = CommitPages(of: name, from: first, through: last)
    }
}

/// Some items of a list, at a revision or at present.
package struct ExcerptPages: PagedRequest {
    private let name: String
    private let revision: Int?
    /// The selections that are not answered as a whole, and the position from which the first of them are asked for.
    private var waiting: ArraySlice<Excerpt.Selection>
    private var start = 0
    private var isComplete = false
    /// The items that have arrived; nil before the first answer.
    package private(set) var excerpt: Excerpt?

    package init(of name: String, at revision: Int? = nil, _ selections: [Excerpt.Selection]) {
        (self.name, self.revision, waiting) = (name, revision, selections[...])
    }

    package var request: (@Sendable (RequestNumber) -> UpMessage)? {
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
        // Answers to different selections may overlap.
        if isComplete { part.sortEntries() }
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

/// What an `UndoReconstruction` asks for to fulfil a wish.
package struct UndoRequests: PagedRequest {
    /// Later wishes continue from here.
    package private(set) var past: UndoReconstruction
    /// What to do, once everything has arrived: `make`, `nothing` or `forgotten`.
    package private(set) var advice = UndoReconstruction.Advice.nothing
    private let wish: UndoReconstruction.Wish
    private let name: String
    private var commits: CommitPages?
    private var items: ExcerptPages?

    package init(_ wish: UndoReconstruction.Wish, _ past: UndoReconstruction, of name: String) {
        (self.wish, self.past, self.name) = (wish, past, name)
        seek()
    }

    package var request: (@Sendable (RequestNumber) -> UpMessage)? { commits?.request ?? items?.request }

    package mutating func take(_ answer: ClientMachine.Answer) {
        commits?.take(answer)
        items?.take(answer)
        guard request == nil else { return }
        if let commits { past.prepend(commits.commits) }
        if case .look(let commit) = advice {
            guard let excerpt = items?.excerpt, past.learn(commit, on: PartialList(excerpt)) else {
                (items, advice) = (nil, .forgotten(commit.revision))
                return
            }
        }
        seek()
    }

    private mutating func seek() {
        (commits, items) = (nil, nil)
        advice = past.next(for: wish)
        switch advice {
        case .read(let revisions):
            commits = CommitPages(of: name, from: revisions.lowerBound, through: revisions.upperBound)
        case .look(let commit): items = ExcerptPages(of: name, at: commit.revision - 1, commit.delta.selections)
        case .make, .nothing, .forgotten: break
        }
    }
}
