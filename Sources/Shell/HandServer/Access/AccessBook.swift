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
        public let role: Role
        /// The list that it is for; nil for all.
        public let list: String?
        public let created: Date
        public let expires: Date?

        public func isValid(at time: Date) -> Bool { expires.map { time < $0 } ?? true }

        var access: Access {
            guard let list else { return Access(name: name, everywhere: role) }
            return Access(name: name, everywhere: .none, lists: [list: role])
        }
    }

    public var guests = Guests(local: .admin, remote: .none)
    public private(set) var tokens: [Token] = []

    public init() {}

    /// Makes a token for somebody. Returns the secret, which is kept nowhere.
    public mutating func add(
        name: String, role: Role, list: String? = nil, expires: Date? = nil, at time: Date
    ) -> (token: Token, secret: String) {
        let secret = "hand-" + Self.randomText(26)
        var id = Self.randomText(6)
        while tokens.contains(where: { $0.id == id }) { id = Self.randomText(6) }
        // Files keep whole seconds.
        let created = Date(timeIntervalSince1970: time.timeIntervalSince1970.rounded(.down))
        let end = expires.map { Date(timeIntervalSince1970: $0.timeIntervalSince1970.rounded(.up)) }
        let token = Token(
            id: id, name: name, hash: Fingerprint.sha256(secret), role: role, list: list, created: created, expires: end
        )
        tokens.append(token)
        return (token, secret)
    }

    /// Takes a token back; false if there is none of that id.
    public mutating func revoke(_ id: String) -> Bool {
        let count = tokens.count
        tokens.removeAll { $0.id == id }
        return tokens.count < count
    }

    /// Five bits a character, from the system's source of secrets.
    private static func randomText(_ count: Int) -> String {
        let alphabet = Array("0123456789abcdefghjkmnpqrstvwxyz")
        var random = SystemRandomNumberGenerator()
        return String((0..<count).map { _ in alphabet[Int.random(in: 0..<alphabet.count, using: &random)] })
    }

    // MARK: Asking

    /// What a client gets that has that secret, or comes without one.
    func grant(to client: ClientID, secret: String?, isLocal: Bool, at time: Date) -> Grant? {
        guard let secret else {
            return access(again: nil, isLocal: isLocal, at: time).map { Grant(id: nil, access: $0, client: client) }
        }
        let hash = Fingerprint.sha256(secret)
        guard let token = tokens.first(where: { $0.hash == hash && $0.isValid(at: time) }) else { return nil }
        return Grant(id: token.id, access: token.access, client: client.belonging(to: token.name))
    }

    func access(again id: String?, isLocal: Bool, at time: Date) -> Access? {
        if let id { return tokens.first { $0.id == id && $0.isValid(at: time) }?.access }
        let role = isLocal ? guests.local : guests.remote
        return role == .none ? nil : Access(everywhere: role)
    }

    /// Whether somebody's time ran out between two times.
    func hasExpired(after start: Date, until end: Date) -> Bool {
        tokens.contains { $0.isValid(at: start) && !$0.isValid(at: end) }
    }
}

extension ClientID {
    /// Another client for each name. Going by the name, it stays the same when somebody gets a new token.
    fileprivate func belonging(to name: String) -> ClientID {
        let digits = Fingerprint.sha256("\(high) \(low) \(name)")
        let half = digits.index(digits.startIndex, offsetBy: 16)
        let end = digits.index(half, offsetBy: 16)
        return ClientID(
            high: UInt64(digits[..<half], radix: 16) ?? high, low: UInt64(digits[half..<end], radix: 16) ?? low)
    }
}
