import HandCore
import HandWire

/// Who a user is to a server, and what they may do.
package struct Access: Equatable, Sendable {
    private var extra = Extra.nothing
    /// The role on every list.
    package var everywhere: Role
    /// Whether others see that nobody vouches for the name that the client has chosen. If some users have tokens, the
    /// chosen name must not look like the name of one of these users.
    package var isMarked = false
    /// Details that few users have. They are stored apart, so that the idle connections of all others take little
    /// memory.
    private struct Details: Equatable {
        var tokenID: String?
        var name: String?
        var lists: [String: Role] = [:]
        /// The roles on existing lists, by `LogID.list`, because another list may have the name by now.
        var bound: [UInt32: Role] = [:]
        var boundNames: Set<String> = []
        var deleted: [UInt32: Role] = [:]
    }

    private indirect enum Extra: Equatable {
        case nothing
        case details(Details)
    }

    private var details: Details {
        get { if case .details(let details) = extra { details } else { Details() } }
        set { extra = newValue == Details() ? .nothing : .details(newValue) }
    }

    package init(
        tokenID: String? = nil, name: String? = nil, everywhere: Role, lists: [String: Role] = [:],
        deleted: [UInt32: Role] = [:]
    ) {
        self.everywhere = everywhere
        details = Details(tokenID: tokenID, name: name, lists: lists, deleted: deleted)
    }

    /// The id of the token that gives the access; nil for a guest.
    package var tokenID: String? {
        get { details.tokenID }
        set { details.tokenID = newValue }
    }
    /// The name that others see; nil if the client may choose it.
    package var name: String? { details.name }

    /// Higher roles on some lists, by the last known or future names of the lists.
    package var lists: [String: Role] {
        get { details.lists }
        set { details.lists = newValue }
    }

    /// Roles on deleted lists, by `LogID.list`.
    package var deleted: [UInt32: Role] {
        get { details.deleted }
        set { details.deleted = newValue }
    }

    /// The access to a server without access rules.
    package static let everything = Access(everywhere: .admin)

    /// Returns the name that others see if the client has chosen the name `said`.
    func person(saying said: String) -> String {
        if let name { return name }
        let said = said.isEmpty ? "somebody" : said
        guard isMarked else { return said }
        var person = DownMessage.Granted.guestMark + said
        while person.utf8.count > Limits.personBytes { person.removeLast() }
        return person
    }

    /// Adds a role on an existing list.
    package mutating func add(_ role: Role, on list: UInt32, named name: String) {
        details.bound[list] = role
        details.boundNames.insert(name)
        details.lists[name] = role
    }

    package func role(on list: StoredList) -> Role {
        guard everywhere < .admin, case .details(let details) = extra else { return everywhere }
        let awaited = details.boundNames.contains(list.name) ? nil : details.lists[list.name]
        return max(everywhere, details.bound[LogID.list(list.logID)] ?? awaited ?? .none)
    }

    /// Returns the role on the list that was last known by that name. When the list is found, the role on it is checked
    /// again.
    package func role(onListNamed name: String) -> Role { max(everywhere, lists[name] ?? .none) }

    /// Returns the names of readable lists that come after `name`, in the order of their bytes.
    func readable(after name: String) -> [String] {
        func isBefore(_ left: String, _ right: String) -> Bool { left.utf8.lexicographicallyPrecedes(right.utf8) }
        return lists.filter { $0.value >= .read && isBefore(name, $0.key) }.keys.sorted(by: isBefore)
    }

    /// What the user is told of this access, with the roles on single lists in the order of the lists' names. Nil if
    /// there are more than `limit` such roles: then it is best to try.
    func granted(to person: String, limit: Int = 1_000) -> DownMessage.Granted? {
        let lists = self.lists.filter { $0.value > everywhere }.sorted { $0.key < $1.key }
        guard lists.count <= limit else { return nil }
        return DownMessage.Granted(
            person: person, everywhere: everywhere, lists: lists.map { .init(name: $0.key, role: $0.value) })
    }

    /// The deleted lists that the user may undelete, by `LogID.list`; nil for all.
    var restorableLists: [UInt32]? {
        everywhere >= .admin ? nil : deleted.filter { $0.value >= .admin }.keys.sorted()
    }
}

/// What is known about a client that says hello.
package struct Grant: Equatable, Sendable {
    package let access: Access
    /// The user whose account is charged; nil for a user who is not counted.
    package let user: String?

    package init(access: Access, user: String? = nil) {
        self.access = access
        self.user = user
    }
}
