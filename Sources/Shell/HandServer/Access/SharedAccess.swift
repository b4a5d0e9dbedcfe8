import EventLoop
import HandSync

/// The access rules of servers that share a store. They are stored with the lists, so that all servers apply the same
/// rules.
package struct SharedAccess: Sendable {
    private let store: any SharedSettings

    package init(_ store: any SharedSettings) {
        self.store = store
    }

    struct Reading {
        let book: AccessBook
        let version: Int
        let fingerprint: String
    }

    /// Returns the rules, or nil if their version is still `version` or there never were any.
    func reading(after version: Int) throws -> Reading? {
        guard let (bytes, version) = try store.setting(SharedSettingKey.access, after: version) else { return nil }
        return Reading(
            book: try Self.book(bytes), version: version,
            fingerprint: Fingerprint.sha256(String(decoding: bytes, as: UTF8.self)))
    }

    /// Returns the rules, or the default rules if there never were any.
    package func read() throws -> AccessBook { try reading(after: 0)?.book ?? AccessBook() }

    /// Changes the rules. Roles that are granted for names are bound at once to the lists that have these names now:
    /// when a server reads the new rules, another list may have the name.
    package func change<Result>(_ body: (inout AccessBook) throws -> Result) throws -> Result {
        var result: Result?
        try store.change(SharedSettingKey.access) { bytes in
            let former = try bytes.map(Self.book)
            var book = former ?? AccessBook()
            result = try body(&book)
            _ = try book.bind(to: store)
            return book == former ? nil : try book.json()
        }
        guard let result else { preconditionFailure("the store has called the body") }
        return result
    }

    /// Binds roles for names to lists that have been created since, and stores the lists' present names.
    package func bind() throws {
        guard var book = try reading(after: 0)?.book, try book.bind(to: store) else { return }
        try change { _ in }
    }

    private static func book(_ bytes: [UInt8]) throws -> AccessBook {
        do { return try AccessBook(json: bytes) } catch {
            throw StoreError.damaged("the access rules cannot be read: \(error)")
        }
    }
}
