import HandSync
import TLS

/// The access rules of servers that share a store: they are kept with the lists, so that all servers follow the same.
package struct SharedAccess: Sendable {
    private static let key = "access"

    private let store: any SharedSettings

    package init(_ store: any SharedSettings) {
        self.store = store
    }

    /// The rules at one moment.
    struct Reading {
        let book: AccessBook
        let version: Int
        let fingerprint: String
    }

    /// The rules, unless they are still those of a version; nil also if there never were any.
    func reading(after version: Int) throws -> Reading? {
        guard let (bytes, version) = try store.setting(Self.key, after: version) else { return nil }
        return Reading(
            book: try Self.book(bytes), version: version,
            fingerprint: Fingerprint.sha256(String(decoding: bytes, as: UTF8.self)))
    }

    /// The rules; the default rules if there never were any.
    package func read() throws -> AccessBook { try reading(after: 0)?.book ?? AccessBook() }

    package func change<Result>(_ body: (inout AccessBook) throws -> Result) throws -> Result {
        var result: Result?
        try store.change(Self.key) { bytes in
            let former = try bytes.map(Self.book)
            var book = former ?? AccessBook()
            result = try body(&book)
            return book == former ? nil : try book.json()
        }
        guard let result else { preconditionFailure("the store has called the body") }
        return result
    }

    /// Binds roles that were given for names to the lists of these names, and notes what lists are called by now.
    func bind() throws {
        guard try store.setting(Self.key, after: 0) != nil else { return }
        try change { _ = try $0.bind(to: store) }
    }

    private static func book(_ bytes: [UInt8]) throws -> AccessBook {
        do { return try AccessBook(json: bytes) } catch {
            throw StoreError.damaged("the access rules do not read: \(error)")
        }
    }
}
