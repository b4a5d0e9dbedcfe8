import HandCore
import HandWire

/// Who is on one list, on which item, and whether they edit it: kept in memory only.
///
/// Presence is a state, not a log: only the newest change of each person counts. Changes are numbered, and for each
/// reader one number is remembered. So a reader who does not read costs no memory, however many people come and go in
/// the meantime.
package struct PresenceBoard: Sendable {
    /// The place of somebody who is connected to another server.
    package struct RemotePerson: Equatable, Sendable {
        package let name: String
        package let focus: Focus?

        package init(name: String, focus: Focus?) {
            self.name = name
            self.focus = focus
        }
    }

    private struct Entry {
        var name: String
        var focus: Focus?
        /// The number of connections of the author; a second connection can come before the first has gone.
        var connections: Int
    }

    fileprivate struct Change {
        let number: Int
        let author: AuthorID
    }

    private var people: [AuthorID: Entry] = [:]
    /// People at other servers. For people who are here as well, the place that they give here counts.
    private var remotePeople: [AuthorID: RemotePerson] = [:]
    /// How often something has changed here, other servers aside.
    package private(set) var ownChanges = 0
    /// Sorted by number. Only the newest change of each author counts; older ones are removed from time to time.
    private var changes: [Change] = []
    /// The number of the newest change of each author who is here, or whose leaving is remembered.
    private var newest: [AuthorID: Int] = [:]
    package private(set) var last = 0
    /// The number of the last change that was taken to be told to everybody.
    package private(set) var taken = 0
    /// The number of the last forgotten change: somebody's leaving. Whoever was told only of earlier changes would
    /// still show people who are gone.
    package private(set) var floor = 0

    /// How many people who have gone are remembered: this many, or as many as are here if that is more; at times, twice
    /// as many.
    static let maxGone = 1_000

    package init() {}

    package var hasChanges: Bool { taken < last }

    package mutating func join(_ author: AuthorID, name: String) {
        // A new connection has not said yet where it is.
        people[author] = Entry(name: name, connections: (people[author]?.connections ?? 0) + 1)
        ownChange(author)
    }

    package mutating func leave(_ author: AuthorID) {
        guard var person = people[author] else { return }
        person.connections -= 1
        people[author] = person.connections == 0 ? nil : person
        ownChange(author)
    }

    package mutating func move(_ author: AuthorID, to focus: Focus?) {
        guard people[author] != nil, people[author]?.focus != focus else { return }
        people[author]?.focus = focus
        ownChange(author)
    }

    /// Replaces the people who are at other servers. O(people there).
    package mutating func setPeers(_ now: [AuthorID: RemotePerson]) {
        let former = exchange(&remotePeople, with: now)
        let authors = Set(former.keys).union(now.keys)
        for author in authors.sorted() where people[author] == nil && former[author] != now[author] { change(author) }
    }

    private mutating func ownChange(_ author: AuthorID) {
        ownChanges += 1
        change(author)
    }

    private mutating func change(_ author: AuthorID) {
        last += 1
        newest[author] = last
        changes.append(Change(number: last, author: author))
        if changes.count > 2 * newest.count + 64 || newest.count - atMostHere > 2 * goneKept { tidy() }
    }

    /// An upper bound of the people on the list: those who are at two servers count twice.
    private var atMostHere: Int { people.count + remotePeople.count }
    private var goneKept: Int { max(Self.maxGone, atMostHere) }

    /// Removes changes that do not count any more, and the oldest changes of people who have gone.
    private mutating func tidy() {
        changes.removeAll { newest[$0.author] != $0.number }
        var surplus = newest.count - atMostHere - goneKept
        guard surplus > 0 else { return }
        changes.removeAll { change in
            guard surplus > 0, people[change.author] == nil, remotePeople[change.author] == nil else { return false }
            surplus -= 1
            newest[change.author] = nil
            floor = change.number
            return true
        }
    }

    package var everybody: Set<AuthorID> { Set(people.keys) }

    /// Everybody who is at this server, as another server is to hear it.
    package var ownEntries: [DownMessage.Presence] { people.keys.sorted().map(entry) }

    /// Takes all changes, to be told to everybody. Returns the number of the last change that had been taken before.
    package mutating func takeChanges() -> Int { exchange(&taken, with: last) }

    /// Returns the present places of the people who have changed after `start` and up to `end`, at most `limit` places,
    /// and the number of the last change that these places cover.
    ///
    /// - Parameter known: people who left at this change or before are left out: the client never knew of them, or
    ///   knows that they have left.
    package func entries(
        after start: Int, through end: Int, knownGone known: Int = 0, atMost limit: Int
    ) -> (entries: [DownMessage.Presence], end: Int) {
        var found: [DownMessage.Presence] = []
        let first = changes.partitioningIndex { $0.number > start }
        for change in changes[first...] where newest[change.author] == change.number {
            if change.number > end { break }
            if found.count == limit { return (found, change.number - 1) }
            let entry = entry(change.author)
            if entry.place != .gone || change.number > known { found.append(entry) }
        }
        return (found, end)
    }

    private func entry(_ author: AuthorID) -> DownMessage.Presence {
        let here = people[author].map { ($0.name, $0.focus) } ?? remotePeople[author].map { ($0.name, $0.focus) }
        return DownMessage.Presence(author: author, place: here.map { .here(person: $0.0, $0.1) } ?? .gone)
    }
}
