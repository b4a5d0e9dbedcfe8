import HandCore
import HandSync
import HandWire

/// An author is stored as soon as a server asks for the author's number: otherwise servers would have to agree on the
/// number later. Storing an author does not wait for the disk: the commits that name the author are written later.
extension PostgresStore {
    package func author(for client: ClientID, person: String) throws -> (author: Author, isNew: Bool) {
        let (key, person) = (PostgresValue.bytes(client.hashed.bytes), PostgresValue.text(person))
        let find = """
            SELECT authors.number, authors.client FROM clients JOIN authors ON client = clients.number
            WHERE id = $1 AND person = $2
            """
        func author(_ rows: PostgresRows) throws -> Author? {
            try rows.first.map { Author(number: try $0.number(0), client: try $0.number(1)) }
        }
        if let known = try ask(find, key, person, then: author) { return (known, false) }
        let making = [
            PostgresCall("SELECT set_config('synchronous_commit', 'off', true)"),
            // If two servers meet a client at the same time, the second server waits here.
            PostgresCall(
                "INSERT INTO clients (id, number) VALUES ($1, nextval('author_numbers')) ON CONFLICT (id) DO NOTHING",
                [key]),
            // The first author of a client has the client's number.
            PostgresCall(
                """
                INSERT INTO authors (number, client, person)
                SELECT CASE WHEN EXISTS (SELECT 1 FROM authors WHERE authors.number = clients.number)
                    THEN nextval('author_numbers') ELSE clients.number END, clients.number, $2
                FROM clients WHERE id = $1 ON CONFLICT (client, person) DO NOTHING
                """, [key, person]),
            PostgresCall(find, [key, person]),
        ]
        let made = try translating {
            let deadline = Deadline(in: timeout)
            return try writers.with(by: deadline) { try author(try $0.run(making, by: deadline)[3]) }
        }
        guard let made else { throw StoreError.damaged("\(place): an author that was just written is missing") }
        return (made, false)
    }

    /// Adds authors who got their numbers elsewhere.
    func keep(_ newcomers: [Newcomer]) throws {
        guard !newcomers.isEmpty else { return }
        try write { session in
            for newcomer in newcomers {
                let (number, client) = (newcomer.author.number, newcomer.author.client)
                try session.run(
                    "INSERT INTO clients (id, number) VALUES ($1, $2) ON CONFLICT DO NOTHING",
                    .bytes(newcomer.client.hashed.bytes), .init(client))
                try session.run(
                    "INSERT INTO authors (number, client, person) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
                    .init(number), .init(client), .text(newcomer.person))
            }
        }
    }

    package func people(_ authors: [AuthorID]) throws -> [DownMessage.Person] {
        let sql = "SELECT number, person FROM authors WHERE number = ANY ($1)"
        let numbers = PostgresValue.numbers(authors)
        let found = try ask(sql, numbers) { try $0.map { (try $0.number(0) as AuthorID, try $0.text(1)) } }
        let names = Dictionary(uniqueKeysWithValues: found)
        return authors.compactMap { author in names[author].map { DownMessage.Person(author: author, name: $0) } }
    }

    package func clients(of authors: [AuthorID]) throws -> [AuthorID: AuthorID] {
        let sql = "SELECT number, client FROM authors WHERE number = ANY ($1)"
        let numbers = PostgresValue.numbers(authors)
        return Dictionary(
            uniqueKeysWithValues: try ask(sql, numbers) { try $0.map { (try $0.number(0), try $0.number(1)) } })
    }
}

extension ClientID {
    /// The id as 16 bytes.
    var bytes: [UInt8] {
        [high, low].flatMap { half in withUnsafeBytes(of: half.bigEndian) { [UInt8]($0) } }
    }

    /// - Throws: `StoreError.damaged` unless there are 16 bytes.
    init(bytes: UnsafeRawBufferPointer) throws {
        guard bytes.count == 16 else { throw StoreError.damaged("a client's id has \(bytes.count) bytes") }
        self.init(
            high: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
            low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
    }
}
