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
    /// The client id for the store. It is different for each user, so that nobody can continue as another user with
    /// that user's client id.
    package let client: ClientID
    /// The user whose account is charged; nil for a user who is not counted.
    package let user: String?

    package init(access: Access, client: ClientID, user: String? = nil) {
        self.access = access
        self.client = client
        self.user = user
    }
}

extension UpMessage {
    /// What a message is about, and the least role that may send it.
    package enum Reach: Equatable, Sendable {
        /// A message that requires no role, or that only concerns what the sender may see anyway.
        case nothing
        case server(Role)
        case list(named: String, Role)
        /// A list that the sender follows, by its number.
        case followed(ListNumber, Role)
    }

    /// A new message does not compile without its line here.
    package var reach: Reach {
        switch self {
        // A deleted list has no name. Whether the sender may undelete it is checked when it is found.
        case .hello, .ping, .unsubscribe, .lists, .deletedLists, .undelete: .nothing
        // The role on a list that is asked for by its log id is checked when the list is found.
        case .subscribe(let subscribe): subscribe.name.isEmpty ? .nothing : .list(named: subscribe.name, .read)
        case .submit(let submission): .followed(submission.list, submission.delta.neededRole)
        case .presence(let list, _): .followed(list, .read)
        case .create: .server(.write)
        case .delete(_, let name), .rename(_, let name, _): .list(named: name, .admin)
        case .history(_, let name, _, _): .list(named: name, .read)
        case .fetch(_, let name, _): .list(named: name, .read)
        case .excerpt(let asked): .list(named: asked.name, .read)
        }
    }

    /// The request that an answer names; 0 for messages without one.
    var request: RequestNumber {
        switch self {
        case .subscribe(let subscribe): subscribe.request
        case .excerpt(let asked): asked.request
        case .create(let request, _, _), .delete(let request, _), .lists(let request, _),
            .history(let request, _, _, _), .fetch(let request, _, _), .rename(let request, _, _),
            .undelete(let request, _, _, _), .deletedLists(let request, _):
            request
        case .hello, .unsubscribe, .submit, .presence, .ping: 0
        }
    }
}

extension Delta {
    /// An insertion requires the role append, if it leaves the other items as they are, in their order. Any other edit
    /// requires the role write.
    fileprivate var neededRole: Role {
        let onlyInserts = components.allSatisfy {
            switch $0 {
            case .keep, .insert: true
            case .edit, .delete, .pick, .drop: false
            }
        }
        return onlyInserts ? .append : .write
    }
}

extension ServerMachine {
    /// Returns whether a message may be handled. If not, its sender is told.
    func isAllowed(_ message: UpMessage, from connection: Connection) -> Bool {
        // The usual cases come first: a user who may do everything, and an edit by a user who may make any edit.
        if connection.access.everywhere >= .admin { return true }
        if case .submit(let submission) = message, let hosted = connection.cursors[submission.list]?.hosted,
            connection.access.role(on: hosted.list) >= .write
        {
            return true
        }
        switch message.reach {
        case .nothing: return true
        case .server(let role):
            if connection.access.everywhere >= role { return true }
            note(.denied(connection, what: message.name, list: nil))
            let mine = connection.access.everywhere
            refuse(connection, message.request, .notAllowed, "your role on this server is \(mine); that needs \(role)")
        case .list(let name, let role):
            let mine = connection.access.role(onListNamed: name)
            if mine >= role { return true }
            note(.denied(connection, what: message.name, list: name))
            if mine == .none {
                // A user who guesses names learns nothing.
                refuse(connection, message.request, .noSuchList(name))
            } else {
                refuse(
                    connection, message.request, .notAllowed, "your role on '\(name)' is \(mine); that needs \(role)")
            }
        case .followed(let list, let role):
            guard let hosted = connection.cursors[list]?.hosted else { return true }
            if connection.access.role(on: hosted.list) >= role { return true }
            note(.denied(connection, what: message.name, list: hosted.list.name))
            if case .submit(let submission) = message {
                reject(.notAllowed, list: list, submission.sequence, to: connection)
            }
        }
        return false
    }

    /// Tells a client which name and roles its user has.
    func tellGrants(_ connection: Connection) {
        guard connection.author != nil, !connection.isEnding,
            let granted = connection.access.granted(to: connection.person)
        else { return }
        send(.granted(granted), to: connection)
    }

    /// Call this when roles or tokens have changed, and after `Effect.called`. Looks up again the access of all clients
    /// that have said hello, even of those that have not been welcomed yet.
    ///
    /// - Parameter access: returns the access of a client with the token of that id, or without one; nil if the client
    ///   may no longer stay.
    package func accessChanged(at time: Moment, _ access: (String?, any ByteStream) -> Access?) {
        self.time = time
        for connection in Array(connections) where connection.client != nil && !connection.isEnding {
            guard let access = access(connection.access.tokenID, connection.stream) else {
                fail(connection, .notAuthenticated, "your token is not valid any longer")
                continue
            }
            // Under another name, the client is another author.
            if access.isMarked != connection.access.isMarked {
                fail(connection, .shuttingDown, "your name has changed: connect again", retryAfter: 100)
                continue
            }
            let former = connection.access
            connection.access = access
            if access != former { tellGrants(connection) }
            for index in connection.cursors.indices.reversed() {
                let cursor = connection.cursors[at: index]
                guard access.role(on: cursor.hosted.list) < .read else { continue }
                unsubscribe(connection, from: cursor.hosted.list.number)
                refuse(
                    connection, cursor.request, .notAllowed, "you may not read '\(cursor.hosted.list.name)' any longer")
            }
        }
    }
}
