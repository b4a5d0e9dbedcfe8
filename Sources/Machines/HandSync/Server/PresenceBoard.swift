import HandCore
import HandWire

/// Who is on one list, and on which item: kept in memory only, changes conflated until they are taken.
public struct PresenceBoard: Sendable {
    private struct Person {
        var name: String
        var item: ItemID?
        /// Connections of the same author; a second one comes before the first has gone.
        var connections = 1
    }

    private var people: [UInt64: Person] = [:]
    private var changed: Set<UInt64> = []

    public init() {}

    public var hasChanges: Bool { !changed.isEmpty }

    public mutating func join(_ author: UInt64, name: String) {
        if people[author] == nil {
            people[author] = Person(name: name)
        } else {
            people[author]?.connections += 1
            people[author]?.name = name
        }
        changed.insert(author)
    }

    public mutating func leave(_ author: UInt64) {
        guard var person = people[author] else { return }
        person.connections -= 1
        people[author] = person.connections == 0 ? nil : person
        changed.insert(author)
    }

    public mutating func move(_ author: UInt64, to item: ItemID?) {
        guard people[author] != nil, people[author]?.item != item else { return }
        people[author]?.item = item
        changed.insert(author)
    }

    /// Everybody who is here.
    public var everybody: Set<UInt64> { Set(people.keys) }

    /// Who has changed since the last call, however often.
    public mutating func takeChanges() -> Set<UInt64> {
        defer { changed = [] }
        return changed
    }

    /// Where these people are now, those who have gone included.
    public func entries(of authors: Set<UInt64>) -> [DownMessage.Presence] {
        authors.sorted().map(entry)
    }

    private func entry(_ author: UInt64) -> DownMessage.Presence {
        guard let person = people[author] else { return DownMessage.Presence(author: author, place: .gone) }
        return DownMessage.Presence(author: author, place: .here(person: person.name, item: person.item))
    }
}
