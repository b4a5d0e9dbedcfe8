import HandCore
import HandSync
import HandWire

extension PostgresStore {
    package func create(
        _ name: String, rules: Rules, logID: UInt64, deckSeed: UInt64?, owner: String?
    ) throws -> StoredList {
        try write { session in
            let made = try session.run(
                """
                WITH named AS (
                    INSERT INTO names (name, list) VALUES ($1, nextval('list_numbers')) ON CONFLICT (name) DO NOTHING RETURNING list
                )
                INSERT INTO lists (number, log_id, rules, deck_seed, owner)
                SELECT list, $2, $3, $4, $5 FROM named RETURNING number
                """, .text(name), .init(bits: logID), .bytes(rules.stored), .init(bits: deckSeed), .init(owner))
            guard let number: ListNumber = try made.first?.number(0) else { throw StoreError.listExists(name) }
            return StoredList(number: number, name: name, logID: logID, rules: rules, revision: 0, count: 0)
        }
    }

    package func rename(_ list: StoredList, to new: String) throws {
        try write { session in
            let (name, number) = (PostgresValue.text(list.name), PostgresValue(list.number))
            let isThere = try !session.run("SELECT 1 FROM names WHERE name = $1 AND list = $2", name, number).isEmpty
            if list.name == new, isThere { throw StoreError.listExists(new) }
            do {
                let sql = "UPDATE names SET name = $3 WHERE name = $1 AND list = $2"
                guard try session.run(sql, name, number, .text(new)).changed == 1 else {
                    throw StoreError.noSuchList(list.name)
                }
            } catch let error as PostgresError where error.state == PostgresError.uniqueViolation {
                throw StoreError.listExists(new)
            }
        }
    }

    package func list(named name: String) throws -> StoredList? {
        try ask(PostgresListRow.named, .text(name)) { try $0.first.map { try PostgresListRow($0).list } }
    }

    package func lists(after name: String, limit: Int) throws -> [StoredList] {
        try ask(PostgresListRow.after, .text(name), .init(limit)) { try $0.map { try PostgresListRow($0).list } }
    }

    package func name(of list: UInt32) throws -> String? {
        let sql = "SELECT name FROM lists JOIN names ON list = number WHERE (log_id & 4294967295) = $1"
        return try ask(sql, .integer(Int64(list))) { try $0.first?.text(0) }
    }

    package func listCount(of owner: String?) throws -> Int {
        guard let owner else { return try ask("SELECT count(*) FROM lists") { try $0[0].integer(0) } }
        return try ask("SELECT count(*) FROM lists WHERE owner = $1", .text(owner)) { try $0[0].integer(0) }
    }

    /// Returns the bytes of commits and snapshots, not the disk space, which a database never gives back. O(lists +
    /// parts of snapshots).
    package func size() throws -> Int {
        let sql = """
            SELECT coalesce((SELECT sum(bytes) FROM lists), 0)::bigint
                + coalesce((SELECT sum(octet_length(items)) FROM snapshots), 0)::bigint
            """
        return try ask(sql) { try $0[0].integer(0) }
    }
}
