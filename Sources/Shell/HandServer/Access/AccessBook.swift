import Foundation
import HandSync
import HandWire
import TLS

/// Who may do what on a server: the tokens that were given out, and what guests may. Kept in one file, which holds no secret.
public struct AccessBook: Codable, Equatable, Sendable {
    /// What those without a token may.
    public struct Guests: Codable, Equatable, Sendable {
        /// On this machine: over loopback and Unix sockets.
        public var local: Role
        public var remote: Role
    }

    public struct Token: Codable, Equatable, Sendable {
        /// What it is called in lists; no secret.
        public let id: String
        /// Whose it is, as others see them.
        public let name: String
        /// SHA-256 of the secret.
        public let hash: String
        /// On every list.
        public fileprivate(set) var role: Role
        /// On some lists more than that.
        public fileprivate(set) var lists: [String: Role]
        public let created: Date
        public let expires: Date?

        public func isValid(at time: Date) -> Bool { expires.map { time < $0 } ?? true }

        var access: Access { Access(name: name, everywhere: role, lists: lists) }
    }

    public var guests = Guests(local: .admin, remote: .none)
    /// By their ids.
    private var tokens: [String: Token] = [:]
    /// Lists that are being renamed, by their old names: where a server ended in between, the next one looks what became of it.
    private var renaming: [String: String]?

    public init() {}

    /// What holds if the rules got lost: nobody may do anything.
    static let closed: AccessBook = {
        var book = AccessBook()
        book.guests = Guests(local: .none, remote: .none)
        return book
    }()

    public var count: Int { tokens.count }

    /// All tokens, the oldest first.
    public var all: [Token] {
        tokens.values.sorted { ($0.created, $0.id) < ($1.created, $1.id) }
    }

    /// Makes a token for somebody: with a role on some lists, or on all if none is named. Returns the secret, which is kept
    /// nowhere.
    ///
    /// - Parameter name: nil for a guest, who is called by the token's id: guests are different people.
    public mutating func add(
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
    public mutating func change(_ id: String, to role: Role, lists: [String] = []) -> Token? {
        guard tokens[id] != nil else { return nil }
        if lists.isEmpty { tokens[id]?.role = role }
        for list in lists { tokens[id]?.lists[list] = role == .none ? nil : role }
        return tokens[id]
    }

    // MARK: Renaming

    /// A list is to get another name. This is to be kept before it gets it.
    package mutating func willRename(_ list: String, to new: String) {
        renaming = (renaming ?? [:]).merging([list: new]) { $1 }
    }

    /// It has the new name, and the roles on it go with it; or it has the old one still. Who had a role on the new name before
    /// has the greater of both.
    package mutating func didRename(_ list: String, to new: String, isDone: Bool) {
        renaming?[list] = nil
        if renaming?.isEmpty == true { renaming = nil }
        guard isDone else { return }
        for id in tokens.keys {
            guard var lists = tokens[id]?.lists, let role = lists.removeValue(forKey: list) else { continue }
            lists[new] = max(role, lists[new] ?? .none)
            tokens[id]?.lists = lists
        }
    }

    /// What was begun and not ended.
    package var unfinishedRenamings: [(list: String, new: String)] {
        (renaming ?? [:]).sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    // MARK: Ending

    /// Takes a token back; false if there is none of that id.
    public mutating func revoke(_ id: String) -> Bool {
        tokens.removeValue(forKey: id) != nil
    }

    /// Five bits a character, from the system's source of secrets.
    private static func randomText(_ count: Int) -> String {
        let alphabet = Array("0123456789abcdefghjkmnpqrstvwxyz")
        var random = SystemRandomNumberGenerator()
        return String((0..<count).map { _ in alphabet[Int.random(in: 0..<alphabet.count, using: &random)] })
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
        return role == .none ? nil : Access(name: caller.systemName, everywhere: role)
    }

    /// Whether somebody's time ran out between two times.
    package func hasExpired(after start: Date, until end: Date) -> Bool {
        tokens.values.contains { $0.isValid(at: start) && !$0.isValid(at: end) }
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
