import Foundation
import HandCore
import HandServer
import HandStore
import HandSync
import HandTestSupport
import HandWire
import PostgresServer
import Testing

/// Access rules that are stored in a database.
@Suite(.enabled(if: PostgresServer.isThere)) struct SharedAccessTests {
    /// By the time that a server reads a role, its list may have another name, and another list its name. So the role
    /// is bound earlier.
    @Test func rolesAreBoundWhenTheyAreGiven() throws {
        let database = try PostgresServer()
        let store = try PostgresStore(database.address())
        defer { store.close() }
        let access = SharedAccess(store)
        func create(_ name: String, _ number: UInt64) throws -> StoredList {
            try store.create(name, rules: Rules(), logID: number, deckSeed: nil)
        }
        let list = try create("list", 1)
        let id = try access.change { $0.add(name: "ada", role: .read, lists: ["list", "later"], at: .now).token.id }
        try store.rename("list", to: "other")
        _ = try create("list", 2)
        func bound() throws -> [String: UInt32?] {
            let token = try #require(try access.read().all.first { $0.id == id })
            return Dictionary(uniqueKeysWithValues: token.listRoles.map { ($0.name, $0.list) })
        }
        #expect(try bound() == ["list": LogID.list(list.logID), "later": nil])
        // A role on a list that does not exist yet is bound at a later check.
        let later = try create("later", 3)
        try access.bind()
        #expect(try bound() == ["other": LogID.list(list.logID), "later": LogID.list(later.logID)])
    }
}
