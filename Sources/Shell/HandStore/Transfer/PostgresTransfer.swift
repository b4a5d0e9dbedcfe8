import HandCore
import HandSync
import HandWire

/// Reads a whole store from a database, within one transaction.
struct PostgresSource: StoreSource {
    let session: PostgresSession
    var history: any HistoryReader { session }

    func authors(after number: AuthorID, limit: Int) throws -> [AuthorRecord] {
        let sql = """
            SELECT authors.number, client, id, person FROM authors JOIN clients ON clients.number = client
            WHERE authors.number > $1 ORDER BY authors.number LIMIT $2
            """
        return try session.run(sql, .init(number), .init(limit)).map { row in
            AuthorRecord(
                author: Author(number: try row.number(0), client: try row.number(1)),
                client: try row.withBytes(2) { try ClientID(bytes: $0) }, person: try row.text(3))
        }
    }

    func lists() throws -> [ListRecord] {
        try session.run(PostgresListRow.all).map { row in
            let found = try PostgresListRow(row)
            var former = found.list
            var deletion: DeletedList?
            if found.isDeleted {
                guard let number = try row.optionalBits(11) else {
                    throw StoreError.damaged("list \(found.list.number) is deleted, and nothing says when")
                }
                former.name = try row.text(12)
                deletion = DeletedList(
                    deletion: number, list: former, time: try row.bits(13), person: try row.text(14))
            }
            return ListRecord(
                stored: found.list, digest: found.digest, deckSeed: found.deckSeed,
                owner: row.optionalBytes(10).map { String(decoding: $0, as: UTF8.self) }, deletion: deletion)
        }
    }

    func lastNumbers() throws -> LastNumbers {
        func last(_ sequence: String) throws -> UInt64 {
            let row = try session.run("SELECT last_value, is_called FROM \(sequence)")[0]
            return try row.isTrue(1) ? row.bits(0) : 0
        }
        return LastNumbers(
            lists: try last("list_numbers"), authors: try last("author_numbers"),
            deletions: try last("deletion_numbers"))
    }

    /// Returns the orphaned rows and the contradictions between tables.
    func problems() throws -> [String] {
        var problems = try StoreVerifier.orphanProblems { try session.run($0)[0].integer(0) }
        let sql = """
            SELECT lists.number FROM lists LEFT JOIN names ON names.list = lists.number
                LEFT JOIN deleted_lists ON deleted_lists.list = lists.number
            WHERE is_deleted = (names.list IS NOT NULL) OR is_deleted != (deleted_lists.list IS NOT NULL)
            ORDER BY lists.number
            """
        problems += try session.run(sql).map {
            "list \(try $0.integer(0)) has both a name and a deletion, or neither"
        }
        let names = """
            SELECT list FROM names WHERE NOT EXISTS (SELECT 1 FROM lists WHERE lists.number = names.list) ORDER BY list
            """
        problems += try session.run(names).map { "a name refers to list \(try $0.integer(0)), which does not exist" }
        let behind =
            "SELECT list FROM commits JOIN lists ON number = list WHERE last > revision GROUP BY list ORDER BY list"
        problems += try session.run(behind).map { "the commits of list \(try $0.integer(0)) continue after its end" }
        return problems
    }
}

/// Fills the empty tables of a database, within one transaction.
struct PostgresTarget: StoreTarget {
    let session: PostgresSession

    /// Locks the tables until the transaction ends, and expects them to be empty.
    ///
    /// - Throws: `StoreError.failed` if a table is not empty.
    func begin(_ place: String) throws {
        try session.run("SELECT set_config('idle_in_transaction_session_timeout', '0', true)")
        try session.run("LOCK TABLE lists, names, deleted_lists, clients, authors, settings IN ACCESS EXCLUSIVE MODE")
        let tables = ["lists", "names", "deleted_lists", "clients", "authors", "settings", "commits", "snapshots"]
        for table in tables where try !session.run("SELECT 1 FROM \(table) LIMIT 1").isEmpty {
            throw StoreError.failed(
                "\(place) is not empty: there are \(table) in it. Copy to a database that no server has used yet")
        }
    }

    func add(_ authors: [AuthorRecord]) throws {
        try session.pipeline(
            authors.flatMap { record -> [PostgresCall] in
                let (number, client) = (record.author.number, PostgresValue(record.author.client))
                return [
                    PostgresCall(
                        "INSERT INTO clients (id, number) VALUES ($1, $2) ON CONFLICT DO NOTHING",
                        [.bytes(record.client.bytes), client]),
                    PostgresCall(
                        "INSERT INTO authors (number, client, person) VALUES ($1, $2, $3)",
                        [.init(number), client, .text(record.person)]),
                ]
            })
    }

    func atomically(_ body: () throws -> Void) throws { try body() }

    func add(_ hand: Hand, _ head: SnapshotHead, of list: StoredList, at revision: Int) throws {
        try PostgresStore.write(hand, head, of: list.number, at: revision, session)
    }

    func add(_ frames: [StoredFrame], of list: StoredList) throws {
        guard let first = frames.first, let last = frames.last else { return }
        let sql = "INSERT INTO commits (list, last, first, nonce, frames) VALUES ($1, $2, $3, 0, $4)"
        let bytes = Array(frames.map(\.bytes).joined())
        try session.run(sql, .init(list.number), .init(last.revision), .init(first.revision), .bytes(bytes))
    }

    func finish(_ list: ListRecord, _ hand: Hand) throws {
        let (stored, number) = (list.stored, PostgresValue(list.stored.number))
        var calls = [
            PostgresCall(
                """
                INSERT INTO lists
                    (number, log_id, rules, deck_seed, owner, is_deleted, revision, count, digest, floor, bytes)
                SELECT $1, $2, $3, $4, $5, $6::bigint = 1, $7, $8, $9, $10,
                    coalesce((SELECT sum(octet_length(frames)) FROM commits WHERE list = $1), 0)
                """,
                [
                    number, .init(bits: stored.logID), .bytes(stored.rules.stored), .init(bits: list.deckSeed),
                    .init(list.owner), .init(list.deletion == nil ? 0 : 1), .init(stored.revision),
                    .init(stored.count), .init(bits: hand.digest), .init(stored.floor),
                ])
        ]
        if let deletion = list.deletion {
            calls.append(
                PostgresCall(
                    "INSERT INTO deleted_lists (number, list, name, time, person) VALUES ($1, $2, $3, $4, $5)",
                    [
                        .init(bits: deletion.deletion), number, .text(list.name),
                        .integer(Int64(clamping: deletion.time)), .text(deletion.person),
                    ]))
        } else {
            calls.append(PostgresCall("INSERT INTO names (name, list) VALUES ($1, $2)", [.text(list.name), number]))
        }
        try session.pipeline(calls)
    }

    func finish(_ numbers: LastNumbers, rules: [UInt8]?) throws {
        for (sequence, last) in [
            ("list_numbers", numbers.lists), ("author_numbers", numbers.authors),
            ("deletion_numbers", numbers.deletions),
        ] where last > 0 {
            try session.run("SELECT setval('\(sequence)', $1)", .init(bits: last))
        }
        guard let rules else { return }
        try session.run("INSERT INTO settings VALUES ($1, 1, $2)", .text(SharedSettingKey.access), .bytes(rules))
    }
}

extension PostgresSession {
    fileprivate func pipeline(_ calls: [PostgresCall]) throws(PostgresError) {
        if !calls.isEmpty { _ = try connection.run(calls, by: Deadline(in: timeout)) }
    }
}
