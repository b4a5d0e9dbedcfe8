import Foundation
import HandCore
import HandSync
import HandWire
import TLS

/// Who may do what on a server: the tokens that were given out, and what guests may. Kept in one file, which holds no secret.
package struct AccessBook: Codable, Equatable, Sendable {
    /// What those without a token may.
    package struct Guests: Codable, Equatable, Sendable {
        /// On this machine: over loopback and Unix sockets.
        package var local: Role
        package var remote: Role
    }

    package struct Token: Codable, Equatable, Sendable {
        /// What it is called in lists; no secret.
        package let id: String
        /// Whose it is, as others see them.
        package let name: String
        /// SHA-256 of the secret.
        package let hash: String
        /// On every list.
        package fileprivate(set) var role: Role
        /// On lists more than that which were not there when it was given: it is for the next list of that name.
        fileprivate var lists: [String: Role]
        /// On lists that are there, or were: whatever they are called, and never on others that have their names.
        fileprivate var bound: [ListRole]?
        package let created: Date
        package let expires: Date?

        package func isValid(at time: Date) -> Bool { expires.map { time < $0 } ?? true }

        /// Its roles on some lists, by their names.
        package var listRoles: [ListRole] {
            let awaited = lists.map { ListRole(name: $0, role: $1, list: nil, isDeleted: false) }
            return (awaited + (bound ?? [])).sorted { ($0.name, $0.list ?? 0) < ($1.name, $1.list ?? 0) }
        }

        var access: Access {
            var access = Access(name: name, everywhere: role, lists: lists)
            for role in bound ?? [] {
                if let list = role.list, role.isDeleted {
                    access.deleted[list] = role.role
                } else {
                    access.lists[role.name] = role.role
                }
            }
            return access
        }
    }

    /// A role on one list.
    package struct ListRole: Codable, Equatable, Sendable {
        /// What the list is called, or was when it was deleted.
        package fileprivate(set) var name: String
        package fileprivate(set) var role: Role
        /// Which list it is (`LogID.list`); nil if there is none of that name yet.
        package let list: UInt32?
        package fileprivate(set) var isDeleted: Bool
    }

    package var guests = Guests(local: .admin, remote: .none)
    /// By their ids.
    private var tokens: [String: Token] = [:]

    package init() {}

    /// What holds if the rules got lost: nobody may do anything.
    static let closed: AccessBook = {
        var book = AccessBook()
        book.guests = Guests(local: .none, remote: .none)
        return book
    }()

    package var count: Int { tokens.count }

    /// All tokens, the oldest first.
    package var all: [Token] {
        tokens.values.sorted { ($0.created, $0.id) < ($1.created, $1.id) }
    }

    /// Makes a token for somebody: with a role on some lists, or on all if none is named. Returns the secret, which is kept
    /// nowhere.
    ///
    /// - Parameter name: nil for a guest, who is called by the token's id: guests are different people.
    package mutating func add(
        name: String?, role: Role, lists: [String] = [], expires: Date? = nil, at time: Date
    ) -> (token: Token, secret: String) {
        let secret = "hand-" + Self.randomText(26)
        var id = Self.randomText(6)
        while tokens[id] != nil { id = Self.randomText(6) }
        // Files keep whole seconds.
        let created = Date(timeIntervalSince1970: time.timeIntervalSince1970.rounded(.down))
        let end = expires.map { Date(timeIntervalSince1970: $0.timeIntervalSince1970.rounded(.up)) }
        let token = Token(
            id: id, name: name ?? "guest \(id)", hash: Fingerprint.sha256(secret), role: lists.isEmpty ? role : .none,
            lists: Dictionary(lists.map { ($0, role) }) { $1 }, created: created, expires: end)
        tokens[id] = token
        return (token, secret)
    }

    /// Gives a token another role, on some lists or on all if none is named. Returns the token; nil if there is none of that id.
    package mutating func change(_ id: String, to role: Role, lists: [String] = []) -> Token? {
        guard tokens[id] != nil else { return nil }
        if lists.isEmpty { tokens[id]?.role = role }
        for list in lists { tokens[id]?.change(list, to: role) }
        return tokens[id]
    }

    // MARK: Lists

    /// Has roles that were given for a name hold for the list that has it, and names them all as the lists are called now. Returns
    /// whether anything is otherwise than before.
    ///
    /// - Parameters:
    ///   - find: which list has a name.
    ///   - name: what a list is called; nil if it is deleted.
    package mutating func bind(
        _ find: (String) throws -> UInt32?, _ name: (UInt32) throws -> String?
    ) rethrows -> Bool {
        let before = tokens
        for id in tokens.keys {
            for called in tokens[id]?.lists.keys.sorted() ?? [] {
                if let list = try find(called) { tokens[id]?.bind(called, to: list) }
            }
            for index in tokens[id]?.bound?.indices ?? 0..<0 {
                if let list = tokens[id]?.bound?[index].list { tokens[id]?.bound?[index].called(try name(list)) }
            }
        }
        return tokens != before
    }

    /// A list is called that from now on; nil: it is deleted. Returns whether any role is on it.
    package mutating func called(_ list: UInt32, _ name: String?) -> Bool {
        let before = tokens
        for id in tokens.keys {
            if let name { tokens[id]?.bind(name, to: list) }
            for index in tokens[id]?.bound?.indices ?? 0..<0 where tokens[id]?.bound?[index].list == list {
                tokens[id]?.bound?[index].called(name)
            }
        }
        return tokens != before
    }

    // MARK: Ending

    /// Takes a token back; false if there is none of that id.
    package mutating func revoke(_ id: String) -> Bool {
        tokens.removeValue(forKey: id) != nil
    }

    /// Five bits a character, from the system's source of secrets.
    private static func randomText(_ count: Int) -> String {
        var random = SystemRandomNumberGenerator()
        let digits = (0..<count).map { _ in Int.random(in: 0..<32, using: &random) }
        return String(decoding: digits.map { ItemID.alphabet[$0] }, as: UTF8.self)
    }

    // MARK: Asking

    /// What a client gets that has that secret, or comes without one.
    package func grant(to client: ClientID, secret: String?, from caller: Caller, at time: Date) -> Grant? {
        guard let secret else {
            guard let access = access(again: nil, from: caller, at: time) else { return nil }
            // Who may be named by others is kept apart from them; addresses change, and guests from afar have no other name.
            let isNamed = access.name != nil
            let client = isNamed ? client.belonging(to: caller.account ?? "") : client
            return Grant(id: nil, access: access, client: client, user: caller.account)
        }
        let hash = Fingerprint.sha256(secret)
        guard let token = tokens.values.first(where: { $0.hash == hash }), token.isValid(at: time) else { return nil }
        let user = "token \(token.name)"
        return Grant(id: token.id, access: token.access, client: client.belonging(to: user), user: user)
    }

    package func access(again id: String?, from caller: Caller, at time: Date) -> Access? {
        if let id { return tokens[id].flatMap { $0.isValid(at: time) ? $0.access : nil } }
        let role = caller.isLocal ? guests.local : guests.remote
        if role == .none { return nil }
        var access = Access(name: caller.systemName, everywhere: role)
        access.isMarked = caller.systemName == nil && !tokens.isEmpty
        return access
    }

    /// Whether somebody's time ran out between two times.
    package func hasExpired(after start: Date, until end: Date) -> Bool {
        tokens.values.contains { $0.isValid(at: start) && !$0.isValid(at: end) }
    }
}

extension AccessBook.Token {
    /// What was given for a name is for that list from now on.
    fileprivate mutating func bind(_ name: String, to list: UInt32) {
        guard let role = lists.removeValue(forKey: name) else { return }
        bound =
            (bound ?? []).filter { $0.list != list }
            + [AccessBook.ListRole(name: name, role: role, list: list, isDeleted: false)]
    }

    /// Another role on the list of that name, or on the next one that has it; none also on those that had it.
    fileprivate mutating func change(_ name: String, to role: Role) {
        if role == .none {
            lists[name] = nil
            bound?.removeAll { $0.name == name }
        } else if let index = bound?.firstIndex(where: { $0.name == name && !$0.isDeleted }) {
            bound?[index].role = role
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

extension ClientID {
    /// Another client for each user. Going by the name, it stays the same when somebody gets a new token.
    fileprivate func belonging(to user: String) -> ClientID {
        let digits = Fingerprint.sha256("\(high) \(low) \(user)")
        let half = digits.index(digits.startIndex, offsetBy: 16)
        let end = digits.index(half, offsetBy: 16)
        return ClientID(
            high: UInt64(digits[..<half], radix: 16) ?? high, low: UInt64(digits[half..<end], radix: 16) ?? low)
    }
}
