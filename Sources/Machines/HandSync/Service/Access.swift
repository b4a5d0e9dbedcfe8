import HandCore
import HandWire

/// What somebody may do with a list. Each role includes the roles before it.
package enum Role: String, Comparable, CaseIterable, Sendable, Codable {
    /// Nothing: the list might as well not exist.
    case none
    /// Follow it, look at its history, be seen on it.
    case read
    /// Insert items.
    case append
    /// Make all other edits; as a role on all lists, also make lists.
    case write
    /// Delete the list, bring it back, and give it another name if one may also make lists.
    case admin

    package static func < (left: Role, right: Role) -> Bool { left.rank < right.rank }

    /// Asked with each edit, so no list of all is made for it.
    private var rank: Int {
        switch self {
        case .none: 0
        case .read: 1
        case .append: 2
        case .write: 3
        case .admin: 4
        }
    }
}

/// Who somebody is to a server, and what they may do.
package struct Access: Equatable, Sendable {
    /// What others see; nil if the client may say it.
    package var name: String?
    /// Whether others see that nobody vouches for the name that the client says: where others have tokens, it may not look like
    /// one of theirs.
    package var isMarked = false
    /// On every list.
    package var everywhere: Role
    /// On some lists more than that, by the names that they were last known to have, or are to have.
    package var lists: [String: Role]
    /// The same on those of them that are there, by `LogID.list`: a name may meanwhile be another list's.
    private var bound: [UInt32: Role] = [:]
    private var boundNames: Set<String> = []
    /// On lists that are deleted, by `LogID.list`.
    package var deleted: [UInt32: Role]

    package init(
        name: String? = nil, everywhere: Role, lists: [String: Role] = [:], deleted: [UInt32: Role] = [:]
    ) {
        self.name = name
        self.everywhere = everywhere
        self.lists = lists
        self.deleted = deleted
    }

    /// For a server that knows no difference.
    package static let everything = Access(everywhere: .admin)

    /// What stands before a name that nobody vouches for. In front, where no name is cut off, however long it is.
    package static let guestMark = "(guest) "

    /// What others see of somebody who says that name.
    func person(saying said: String) -> String {
        if let name { return name }
        let said = said.isEmpty ? "somebody" : said
        guard isMarked else { return said }
        var person = Self.guestMark + said
        while person.utf8.count > Limits.personBytes { person.removeLast() }
        return person
    }

    /// Adds a role on a list that is there.
    package mutating func add(_ role: Role, on list: UInt32, named name: String) {
        bound[list] = role
        boundNames.insert(name)
        lists[name] = role
    }

    package func role(on list: StoredList) -> Role {
        if everywhere == .admin { return .admin }
        let awaited = boundNames.contains(list.name) ? nil : lists[list.name]
        return max(everywhere, bound[LogID.list(list.logID)] ?? awaited ?? .none)
    }

    /// On the list that was last known by that name. Which one has it by now is seen when it is found.
    package func role(onListNamed name: String) -> Role { max(everywhere, lists[name] ?? .none) }

    /// The lists on which one has a role, by the names that come after `name`, in the order of their bytes.
    func readable(after name: String) -> [String] {
        func isBefore(_ left: String, _ right: String) -> Bool { left.utf8.lexicographicallyPrecedes(right.utf8) }
        return lists.filter { $0.value >= .read && isBefore(name, $0.key) }.keys.sorted(by: isBefore)
    }

    /// The deleted lists that one may bring back, by `LogID.list`; nil: all.
    var bringableBack: [UInt32]? {
        everywhere >= .admin ? nil : deleted.filter { $0.value >= .admin }.keys.sorted()
    }
}

/// What a world says of somebody who says hello.
package struct Grant: Equatable, Sendable {
    /// By which the same can be asked again; nil for a guest.
    package let id: String?
    package let access: Access
    /// Whom the store knows the client as: another for each name, so that nobody can go on as somebody else, even with that
    /// one's client id.
    package let client: ClientID
    /// Under whom it is counted what they take; nil for who is not counted.
    package let user: String?

    package init(id: String?, access: Access, client: ClientID, user: String? = nil) {
        self.id = id
        self.access = access
        self.client = client
        self.user = user
    }
}

extension UpMessage {
    /// What a message reaches, and the least role that may send it.
    package enum Reach: Equatable, Sendable {
        /// Nothing that belongs to anybody, or no more than one may see anyway.
        case nothing
        case server(Role)
        case list(named: String, Role)
        /// A list that is followed, by its number.
        case followed(UInt64, Role)
    }

    /// Every message has its line here: a new one does not compile without.
    package var reach: Reach {
        switch self {
        // A list that is deleted has no name: who may bring it back is seen when it is found.
        case .hello, .ping, .unsubscribe, .lists, .deletedLists, .undelete: .nothing
        // Which list it is that is asked for by its log id is seen when it is found.
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

    /// The request that an answer names; 0 for those that have none.
    var request: UInt64 {
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
    /// Who may only append inserts items and leaves the others as they are, in their order.
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

extension Service {
    /// Whether a message may be handled; if not, its sender is told.
    func isAllowed(_ message: UpMessage, from connection: Connection) -> Bool {
        // Most people may everything, and most messages are edits: whether they only insert need not be known then.
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
            world.note(.denied(connection, what: message.name, list: nil))
            refuse(connection, message.request, .notAllowed, "you may not do that on this server")
        case .list(let name, let role):
            let mine = connection.access.role(onListNamed: name)
            if mine >= role { return true }
            world.note(.denied(connection, what: message.name, list: name))
            if mine == .none {
                // Whoever guesses names learns nothing.
                refuse(connection, message.request, .noSuchList(name))
            } else {
                refuse(
                    connection, message.request, .notAllowed, "your role on '\(name)' is \(mine); that takes \(role)")
            }
        case .followed(let list, let role):
            guard let hosted = connection.cursors[list]?.hosted else { return true }
            if connection.access.role(on: hosted.list) >= role { return true }
            world.note(.denied(connection, what: message.name, list: hosted.list.name))
            if case .submit(let submission) = message {
                reject(.notAllowed, list: list, submission.sequence, to: connection)
            }
        }
        return false
    }

    /// Roles or tokens have changed: everybody who has said hello is looked at anew, also those whose welcome waits for the store.
    package func accessChanged() {
        for connection in Array(connections) where connection.client != nil && !connection.isEnding {
            guard let access = world.access(again: connection.grantID, from: connection.stream) else {
                fail(connection, .notAuthenticated, "your token is not valid any longer")
                continue
            }
            // Under another name they are another author.
            if access.isMarked != connection.access.isMarked {
                fail(connection, .shuttingDown, "you are called otherwise from now on: connect again", retryAfter: 100)
                continue
            }
            connection.access = access
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
