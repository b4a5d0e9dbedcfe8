import HandCore
import HandWire

/// What others have changed in a list, and its person has not seen yet: new items, and items with another content or
/// level. Items that are gone or were only moved are no news.
package struct News: Equatable, Sendable {
    private var entries: [ItemID: Entry] = [:]

    /// What happened to an item, and the revision after which it had happened.
    private struct Entry: Equatable {
        let mark: Delta.Mark
        let revision: Int
    }

    /// If others change more items than this, the rest is not marked.
    package static let maxItems = 10_000

    package init() {}

    package var isEmpty: Bool { entries.isEmpty }
    package var count: Int { entries.count }
    package func contains(_ item: ItemID) -> Bool { entries[item] != nil }

    /// Whether an item is new (`inserted`) or was changed (`edited`); nil if it is no news.
    package subscript(item: ItemID) -> Delta.Mark? { entries[item]?.mark }

    /// The places of the news in the list, in order. O(n).
    package func places(in hand: Hand) -> [Int] { hand.positions(of: entries.keys) }

    /// Follows a change of the list. O(items that the change touches).
    ///
    /// - Parameter isOwn: whether the person made the change. Who changes an item knows it.
    package mutating func follow(_ delta: Delta, from old: Hand, to new: Hand, revision: Int, isOwn: Bool) {
        if isOwn && isEmpty { return }
        for step in delta.placed {
            guard let mark = step.mark else { continue }
            if mark == .deleted {
                if !isEmpty { forget(old.items(in: step.old).lazy.map(\.id)) }
            } else if isOwn {
                forget(new.items(in: step.new).lazy.map(\.id))
            } else if let news = step.news {
                for item in new.items(in: step.new.prefix(max(0, Self.maxItems - count))) {
                    // An item that is new stays new when it is edited.
                    let isNew = entries[item.id]?.mark == .inserted
                    entries[item.id] = Entry(mark: isNew ? .inserted : news, revision: revision)
                }
            }
        }
    }

    /// The person has seen these items.
    package mutating func forget(_ items: some Sequence<ItemID>) {
        for item in items { entries[item] = nil }
    }

    /// Takes into account what the person had seen of the list before this program began to follow it.
    package mutating func recall(_ seen: Seen?, in hand: Hand) {
        entries = entries.filter { $0.value.revision > seen?.revision ?? .max }
        guard let seen, !seen.unseen.isEmpty else { return }
        for place in hand.positions(of: seen.unseen.keys) {
            let item = hand[place].id
            if let mark = seen.unseen[item], entries[item] == nil {
                entries[item] = Entry(mark: mark, revision: seen.revision)
            }
        }
    }

    /// Adds news that were found in the history through a revision. An item that is new stays new.
    package mutating func mark(_ found: [(item: ItemID, mark: Delta.Mark)], at revision: Int) {
        for (item, mark) in found.prefix(max(0, Self.maxItems - count)) where entries[item]?.mark != .inserted {
            entries[item] = Entry(mark: mark, revision: revision)
        }
    }

    /// What the person has seen of the list at a revision of its history.
    package func seen(of log: UInt64, at revision: Int) -> Seen {
        Seen(logID: log, revision: revision, unseen: entries.mapValues(\.mark))
    }
}

/// How much of a list its person has seen: all of it at a revision, except for some items.
package struct Seen: Equatable, Sendable {
    package let logID: UInt64
    package let revision: Int
    package let unseen: [ItemID: Delta.Mark]

    package init(logID: UInt64, revision: Int, unseen: [ItemID: Delta.Mark] = [:]) {
        (self.logID, self.revision, self.unseen) = (logID, revision, unseen)
    }
}

extension Seen {
    /// The unseen items as bytes, for the journal.
    package var unseenBytes: [UInt8] {
        var writer = WireWriter()
        for (item, mark) in unseen.sorted(by: { $0.key < $1.key }) {
            writer.word(item.rawValue)
            writer.byte(mark == .inserted ? 1 : 0)
        }
        return writer.bytes
    }

    /// Reads unseen items from their bytes.
    package static func unseen(_ bytes: UnsafeRawBufferPointer) throws(WireError) -> [ItemID: Delta.Mark] {
        var reader = WireReader(bytes)
        var unseen: [ItemID: Delta.Mark] = [:]
        while reader.remaining > 0 {
            let item = ItemID(rawValue: try reader.word("unseen item"))
            unseen[item] = try reader.byte("mark") == 1 ? .inserted : .edited
        }
        return unseen
    }
}

extension Delta.Placed {
    /// Whether the items are new or changed; nil for moves and deletions, which are no news.
    fileprivate var news: Delta.Mark? {
        switch component {
        case .insert: .inserted
        case .edit: .edited
        case .drop(_, _, let change): change == nil ? nil : .edited
        case .keep, .delete, .pick: nil
        }
    }
}

/// What others have changed since a revision, found from the commits alone, without the list.
package struct NewsOfCommits: PagedRequest {
    /// What the commits did, joined to runs of which each is at least twice as long as the next one: so what is new is
    /// carried over later commits O(log n) times, and not once for each of them.
    private var runs: [Run] = []
    /// The authors of others' commits, in the order of their first commits.
    package private(set) var authors: [AuthorID] = []
    /// The names of all authors of the commits.
    package private(set) var people: [AuthorID: String] = [:]
    package let since: Int
    /// The last commit that was followed.
    package private(set) var revision: Int
    /// Whether the server still has all of the commits.
    package private(set) var isWhole = true
    private let name: String
    /// The person's name. Commits under the same name are the person's own.
    private let person: String
    private let limit: Int
    private var isAtEnd = false

    /// - Parameter limit: how many commits to ask for at most.
    package init(of name: String, since revision: Int, for person: String, limit: Int = .max) {
        (self.name, since, self.revision, self.person) = (name, revision, revision, person)
        self.limit = revision + min(limit, Int.max - revision)
    }

    /// The names of the others who made commits.
    package var names: [String] { authors.map { people[$0] ?? "somebody" } }

    /// The places of what is new or changed, in the list after the last commit. O(changes · log commits).
    package var places: [Int: Delta.Mark] {
        let whole = runs.reversed().reduce(nil as Run?) { later, run in later.map(run.followed) ?? run }
        return whole?.effects.compactMapValues(\.mark) ?? [:]
    }

    /// Whether there may be more commits than were asked for.
    package var isCut: Bool { revision >= limit }

    package var request: (@Sendable (RequestNumber) -> UpMessage)? {
        guard !isAtEnd, revision < limit else { return nil }
        let (name, from, count) = (name, revision + 1, min(1_000, limit - revision))
        return { .history(request: $0, name: name, from: from, limit: count) }
    }

    package mutating func take(_ answer: ClientMachine.Answer) {
        guard case .history(let commits, let people) = answer, let newest = commits.last, newest.revision > revision
        else {
            isAtEnd = true
            return
        }
        // What came before commits that are forgotten cannot be placed any more.
        if commits[0].revision > revision + 1 { (isWhole, runs) = (false, []) }
        for entry in people { self.people[entry.author] = entry.name }
        for commit in commits where commit.revision <= limit { follow(commit) }
        revision = min(newest.revision, limit)
    }

    private mutating func follow(_ commit: Commit) {
        if commit.refusal != nil { return }
        let isOwn = people[commit.author] == person
        if !isOwn, !authors.contains(commit.author) { authors.append(commit.author) }
        var run = Run(commit.delta, isOwn: isOwn)
        while let last = runs.last, last.count <= run.count {
            runs.removeLast()
            run = last.followed(by: run)
        }
        runs.append(run)
    }
}

extension NewsOfCommits {
    /// Successive commits as one.
    fileprivate struct Run {
        /// What was done to an item that is there afterwards.
        enum Effect {
            case inserted, edited
            /// The person did something with it, and thus knows it; afterwards others may have edited it.
            case seen, seenAndEdited

            var mark: Delta.Mark? {
                switch self {
                case .inserted: .inserted
                case .edited, .seenAndEdited: .edited
                case .seen: nil
                }
            }

            func followed(by next: Effect?) -> Effect {
                switch (self, next) {
                case (_, nil): self
                case (.seen, .edited?): .seenAndEdited
                // What is new stays new when somebody edits it.
                case (_, .edited?): self
                case (_, let next?): next
                }
            }
        }

        /// By the places of the items.
        private(set) var effects: [Int: Effect] = [:]
        private var delta: Delta
        private(set) var count = 1

        init(_ delta: Delta, isOwn: Bool) {
            self.delta = delta
            for step in delta.placed where step.mark != nil {
                guard isOwn || step.news != nil else { continue }
                let effect: Effect = isOwn ? .seen : step.news == .inserted ? .inserted : .edited
                for place in step.new { effects[place] = effect }
            }
        }

        func followed(by next: Run) -> Run {
            var both = next
            for (old, new) in next.delta.map(indices: effects.keys) {
                both.effects[new] = effects[old]?.followed(by: next.effects[new])
            }
            (both.delta, both.count) = (delta.composed(with: next.delta), count + next.count)
            return both
        }
    }
}
