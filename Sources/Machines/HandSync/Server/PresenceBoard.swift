import HandCore
import HandWire

/// Who is on one list, on which item, and whether they edit it: kept in memory only.
///
/// Presence is a state, not a log: of each person only the newest change counts. Changes are numbered, and whoever is told of them
/// remembers one number. So a reader who does not read costs no memory, however many people come and go meanwhile.
package struct PresenceBoard: Sendable {
    /// Where somebody is who is at another server.
    package struct Visitor: Equatable, Sendable {
        package let name: String
        package let focus: Focus?

        package init(name: String, focus: Focus?) {
            self.name = name
            self.focus = focus
        }
    }

    private struct Person {
        var name: String
        var focus: Focus?
        /// Connections of the same author; a second one comes before the first has gone.
        var connections = 1
    }

    fileprivate struct Change {
        let number: Int
        let author: UInt64
    }

    private var people: [UInt64: Person] = [:]
    /// Those at other servers. Who is here as well is where they say here.
    private var visitors: [UInt64: Visitor] = [:]
    /// How often something has changed here, other servers aside.
    package private(set) var ownChanges = 0
    /// In the order of their numbers; of each author the newest counts, and those before it are removed in time.
    private var changes: [Change] = []
    /// The newest change of each author who is here, or of whom it is remembered that they have gone.
    private var newest: [UInt64: Int] = [:]
    /// The number of the last change.
    package private(set) var last = 0
    /// The last change that was taken, for all to be told.
    package private(set) var taken = 0
    /// The last change that is forgotten: somebody who has gone. Whoever was told of less would show people who are not there.
    package private(set) var floor = 0

    /// People who have gone and are remembered, or as many as are here if those are more; sometimes twice as many.
    static let mostGone = 1_000

    package init() {}

    package var hasChanges: Bool { taken < last }

    package mutating func join(_ author: UInt64, name: String) {
        if people[author] == nil {
            people[author] = Person(name: name)
        } else {
            people[author]?.connections += 1
            people[author]?.name = name
            // The new connection has not said yet where it is.
            people[author]?.focus = nil
        }
        ownChange(author)
    }

    package mutating func leave(_ author: UInt64) {
        guard var person = people[author] else { return }
        person.connections -= 1
        people[author] = person.connections == 0 ? nil : person
        ownChange(author)
    }

    package mutating func move(_ author: UInt64, to focus: Focus?) {
        guard people[author] != nil, people[author]?.focus != focus else { return }
        people[author]?.focus = focus
        ownChange(author)
    }

    /// Everybody who is at other servers, in the place of those who were. O(visitors).
    package mutating func setVisitors(_ now: [UInt64: Visitor]) {
        let former = visitors
        visitors = now
        let authors = Set(former.keys).union(now.keys)
        for author in authors.sorted() where people[author] == nil && former[author] != now[author] { change(author) }
    }

    private mutating func ownChange(_ author: UInt64) {
        ownChanges += 1
        change(author)
    }

    private mutating func change(_ author: UInt64) {
        last += 1
        newest[author] = last
        changes.append(Change(number: last, author: author))
        if changes.count > 2 * newest.count + 64 || newest.count - atMostHere > 2 * goneKept { tidy() }
    }

    /// How many are on the list: those who are at two servers count twice.
    private var atMostHere: Int { people.count + visitors.count }
    private var goneKept: Int { max(Self.mostGone, atMostHere) }

    /// Removes what does not count any more, and the oldest of those who have gone.
    private mutating func tidy() {
        changes.removeAll { newest[$0.author] != $0.number }
        var surplus = newest.count - atMostHere - goneKept
        guard surplus > 0 else { return }
        changes.removeAll { change in
            guard surplus > 0, people[change.author] == nil, visitors[change.author] == nil else { return false }
            surplus -= 1
            newest[change.author] = nil
            floor = change.number
            return true
        }
    }

    /// Everybody who is at this server.
    package var everybody: Set<UInt64> { Set(people.keys) }

    /// The same, as another server is to hear it.
    package var ownEntries: [DownMessage.Presence] { people.keys.sorted().map(entry) }

    /// Takes all changes for everybody to be told. Returns the last that had been taken before.
    package mutating func takeChanges() -> Int {
        defer { taken = last }
        return taken
    }

    /// Where those are now who have changed since `start` and until `end`, about `limit` of them, and up to which change that is.
    ///
    /// - Parameter known: those who went by then, or before, need not be told of: nobody knows of them, or that they went is known.
    package func entries(
        after start: Int, through end: Int, knownGone known: Int = 0, atMost limit: Int
    ) -> (entries: [DownMessage.Presence], end: Int) {
        var found: [DownMessage.Presence] = []
        let first = changes.partitioningIndex { $0.number > start }
        for change in changes[first...] where newest[change.author] == change.number {
            if change.number > end { break }
            if found.count == limit { return (found, change.number - 1) }
            let isHere = people[change.author] != nil || visitors[change.author] != nil
            if isHere || change.number > known { found.append(entry(change.author)) }
        }
        return (found, end)
    }

    private func entry(_ author: UInt64) -> DownMessage.Presence {
        let place: DownMessage.Presence.Place =
            if let person = people[author] {
                .here(person: person.name, person.focus)
            } else if let visitor = visitors[author] {
                .here(person: visitor.name, visitor.focus)
            } else { .gone }
        return DownMessage.Presence(author: author, place: place)
    }
}
