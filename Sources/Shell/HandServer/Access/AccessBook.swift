import EventLoop
import FoundationEssentials
import HandCore
import HandSync
import HandWire

/// A server's access rules: the tokens, and the roles of guests. They are kept in one file, which contains no secrets.
package struct AccessBook: Codable, Equatable, Sendable {
    /// The roles of users without a token.
    package struct Guests: Codable, Equatable, Sendable {
        /// The role on this machine: over loopback and Unix sockets.
        package var local: Role
        package var remote: Role
    }

    package struct Token: Codable, Equatable, Sendable {
        /// Identifies the token; not secret.
        package let id: String
        /// The owner's name, as others see it.
        package let name: String
        /// The SHA-256 of the secret.
        package let hash: String
        package fileprivate(set) var role: Role
        /// Additional roles by the names of lists that do not exist yet. Each applies to the next list of that name.
        fileprivate var lists: [String: Role]
        /// Additional roles on lists that exist or existed. They follow a list through renaming, and never apply to
        /// another list.
        fileprivate var bound: [ListRole] = []
        package let created: Date
        package let expires: Date?

        package func isValid(at time: Date) -> Bool { expires.map { time < $0 } ?? true }

        /// The token's roles on single lists, sorted by name.
        package var listRoles: [ListRole] {
            let awaited = lists.map { ListRole(name: $0, role: $1, list: nil, isDeleted: false) }
            return (awaited + bound).sorted { ($0.name, $0.list ?? 0) < ($1.name, $1.list ?? 0) }
        }

        /// All roles, in words.
        var roles: String {
            (["\(role.rawValue) on all lists"] + listRoles.map { "\($0.role.rawValue) on '\($0.name)'" })
                .joined(separator: ", ")
        }

        var access: Access {
            var access = Access(tokenID: id, name: name, everywhere: role, lists: lists)
            for role in bound {
                if let list = role.list, role.isDeleted {
                    access.deleted[list] = role.role
                } else if let list = role.list {
                    access.add(role.role, on: list, named: role.name)
                }
            }
            return access
        }
    }

    package struct ListRole: Codable, Equatable, Sendable {
        /// The list's name, or its last name before it was deleted.
        package fileprivate(set) var name: String
        package fileprivate(set) var role: Role
        /// The list's number (`LogID.list`); nil if no list has the name yet.
        package let list: UInt32?
        package fileprivate(set) var isDeleted: Bool
    }

    package var guests = Guests(local: .admin, remote: .none)
    private var tokens: [String: Token] = [:]

    package init() {}

    /// The rules that apply if the file was lost: nobody may do anything.
    static let closed: AccessBook = {
        var book = AccessBook()
        book.guests = Guests(local: .none, remote: .none)
        return book
    }()

    package var count: Int { tokens.count }

    /// All tokens, oldest first.
    package var all: [Token] {
        tokens.values.sorted { ($0.created, $0.id) < ($1.created, $1.id) }
    }

    /// Creates a token with a role on some lists, or on all if none is named. Returns the secret, which is not stored.
    ///
    /// - Parameters:
    ///   - name: nil for a guest. The guest's name then includes the token's id, to distinguish guests.
    ///   - lists: the lists' names, in any form of Unicode.
    package mutating func add(
        name: String?, role: Role, lists: [String] = [], expires: Date? = nil, at time: Date
    ) -> (token: Token, secret: String) {
        let secret = "hand-" + Self.randomText(26)
        var id = Self.randomText(6)
        while tokens[id] != nil { id = Self.randomText(6) }
        // The file stores whole seconds.
        let created = Date(timeIntervalSince1970: time.timeIntervalSince1970.rounded(.down))
        let end = expires.map { Date(timeIntervalSince1970: $0.timeIntervalSince1970.rounded(.up)) }
        let token = Token(
            id: id, name: name ?? "guest \(id)", hash: Fingerprint.sha256(secret), role: lists.isEmpty ? role : .none,
            lists: Dictionary(lists.map { (ListName.composed($0), role) }) { $1 }, created: created, expires: end)
        tokens[id] = token
        return (token, secret)
    }

    /// Changes a token's role on some lists, or on all if none is named. Returns the token, or nil for an unknown id.
    package mutating func change(_ id: String, to role: Role, lists: [String] = []) -> Token? {
        guard tokens[id] != nil else { return nil }
        if lists.isEmpty { tokens[id]?.role = role }
        for list in lists { tokens[id]?.change(ListName.composed(list), to: role) }
        return tokens[id]
    }

    // MARK: Lists

    /// The names of lists that do not exist yet for which there are roles.
    package var awaitedLists: Set<String> { tokens.values.reduce(into: []) { $0.formUnion($1.lists.keys) } }

    /// These rules without the roles for lists that do not exist yet.
    package var ofListsThatAreThere: AccessBook {
        var book = self
        for id in tokens.keys { book.tokens[id]?.lists = [:] }
        return book
    }

    /// Binds roles that were granted for a name to the list of that name, and updates all names of lists. Returns
    /// whether anything changed.
    ///
    /// - Parameters:
    ///   - find: returns the list of a name.
    ///   - name: returns the name of a list, or nil if it is deleted.
    package mutating func bind(
        _ find: (String) throws -> UInt32?, _ name: (UInt32) throws -> String?
    ) rethrows -> Bool {
        let before = tokens
        for id in tokens.keys {
            for called in tokens[id]?.lists.keys.sorted() ?? [] {
                if let list = try find(called) { tokens[id]?.bind(called, to: list) }
            }
            for index in tokens[id]?.bound.indices ?? 0..<0 {
                if let list = tokens[id]?.bound[index].list { tokens[id]?.bound[index].called(try name(list)) }
            }
        }
        return tokens != before
    }

    /// Updates a list's name; nil means that the list was deleted. Returns whether the update changed any role.
    package mutating func called(_ list: UInt32, _ name: String?) -> Bool {
        let before = tokens
        for id in tokens.keys {
            if let name { tokens[id]?.bind(name, to: list) }
            for index in tokens[id]?.bound.indices ?? 0..<0 where tokens[id]?.bound[index].list == list {
                tokens[id]?.bound[index].called(name)
            }
        }
        return tokens != before
    }

    // MARK: Ending

    /// Revokes a token. Returns false for an unknown id.
    package mutating func revoke(_ id: String) -> Bool {
        tokens.removeValue(forKey: id) != nil
    }

    /// Returns random text with five bits per character, from the system's secure generator.
    private static func randomText(_ count: Int) -> String {
        String(decoding: (0..<count).map { _ in ItemID.alphabet[Int.random(in: 0..<32)] }, as: UTF8.self)
    }

    // MARK: Asking

    /// Returns the rights of a client with the given secret, or without one.
    package func grant(secret: String?, from caller: Caller, at time: Date) -> Grant? {
        guard let secret else {
            return access(again: nil, from: caller, at: time).map { Grant(access: $0, user: caller.account) }
        }
        let hash = Fingerprint.sha256(secret)
        guard let token = tokens.values.first(where: { $0.hash == hash }), token.isValid(at: time) else { return nil }
        return Grant(access: token.access, user: "token \(token.name)")
    }

    package func access(again id: String?, from caller: Caller, at time: Date) -> Access? {
        if let id { return tokens[id].flatMap { $0.isValid(at: time) ? $0.access : nil } }
        let role = caller.isLocal ? guests.local : guests.remote
        if role == .none { return nil }
        var access = Access(name: caller.systemName, everywhere: role)
        access.isMarked = caller.systemName == nil && !tokens.isEmpty
        return access
    }

    /// Returns whether a token expired between two times.
    package func hasExpired(after start: Date, until end: Date) -> Bool {
        tokens.values.contains { $0.isValid(at: start) && !$0.isValid(at: end) }
    }
}

extension AccessBook.Token {
    /// Binds the role that was granted for a name to a list.
    fileprivate mutating func bind(_ name: String, to list: UInt32) {
        guard let role = lists.removeValue(forKey: name) else { return }
        bound.removeAll { $0.list == list }
        bound.append(AccessBook.ListRole(name: name, role: role, list: list, isDeleted: false))
    }

    /// Changes the role on the list of a name, or on the next list of that name. `none` also removes the role from
    /// former lists of that name.
    fileprivate mutating func change(_ name: String, to role: Role) {
        if role == .none {
            lists[name] = nil
            bound.removeAll { $0.name == name }
        } else if let index = bound.firstIndex(where: { $0.name == name && !$0.isDeleted }) {
            bound[index].role = role
        } else {
            lists[name] = role
        }
    }
}

extension AccessBook.ListRole {
    fileprivate mutating func called(_ name: String?) {
        isDeleted = name == nil
        self.name = name ?? self.name
    }
}
