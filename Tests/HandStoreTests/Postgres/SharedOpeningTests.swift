import Foundation
import HandCore
import HandSimulation
import HandStore
import HandSync
import HandTestSupport
import HandWire
import PostgresServer
import Testing

/// Databases that are accepted or refused, and the messages.
@Suite(needsPostgres) struct SharedOpeningTests {
    private let folder: TemporaryFolder
    private let server: PostgresServer

    init() throws {
        folder = try TemporaryFolder()
        server = try PostgresServer.shared.get()
    }

    private func tables() throws -> String {
        try server.query(
            """
            SELECT count(*) FROM pg_class JOIN pg_namespace AS spaces ON relnamespace = spaces.oid
            WHERE nspname = '\(folder.schema)'
            """)
    }

    /// Returns the complaint on opening a store, or nil if it opens.
    private func complaint(_ address: String? = nil, schema: String? = nil) -> String? {
        do {
            try PostgresStore(
                address ?? server.address(), schema: schema ?? folder.schema, timeout: .seconds(2)
            ).close()
            return nil
        } catch {
            return "\(error)"
        }
    }

    @Test func manyMayOpenAtOnce() throws {
        let folder = folder
        try inParallel(6) { _ in try PostgresStore.shared(folder).close() }
        #expect(try server.query("SELECT version FROM \(folder.schema).format") == "5")
        let count = try tables()
        try PostgresStore.shared(folder).close()
        #expect(try tables() == count)
    }

    @Test func otherFormatsAreRefusedAndLeftAlone() throws {
        try PostgresStore.shared(folder).close()
        try server.query("DROP TABLE \(folder.schema).snapshots")
        let tables = try tables()
        let place = "hand at \(server.folder):5432, schema \(folder.schema)"
        for (version, expected) in [(99, StoreError.newer(path: place, found: 99, known: 5)), (4, .older(path: place))]
        {
            try server.query("UPDATE \(folder.schema).format SET version = \(version)")
            #expect(throws: expected) { try PostgresStore.shared(folder) }
        }
        #expect(try self.tables() == tables)
    }

    /// Whatever stops it halfway: the next attempt starts from the beginning.
    @Test func anUnfinishedCreationLeavesNothing() throws {
        try server.query("CREATE SCHEMA \(folder.schema); CREATE DOMAIN \(folder.schema).authors AS int")
        #expect(try #require(complaint()).contains("\"authors\" already exists"))
        #expect(try tables() == "0")
        try server.query("DROP DOMAIN \(folder.schema).authors")
        #expect(complaint() == nil)
    }

    @Test func aSchemaOfSomethingElseIsRefused() throws {
        try server.query("CREATE SCHEMA \(folder.schema); CREATE TABLE \(folder.schema).format (x int)")
        #expect(complaint() != nil)
        try server.query("DROP TABLE \(folder.schema).format; CREATE TABLE \(folder.schema).mine (x int)")
        #expect(try #require(complaint()).contains("there are tables of something else in it. Use another database."))
        #expect(try tables() == "1")
        #expect(try #require(complaint(schema: "x; DROP")).contains("is not a schema name"))
    }

    @Test func anotherEncodingIsRefused() throws {
        try server.query(
            "CREATE DATABASE latin_\(folder.schema) ENCODING 'LATIN1' TEMPLATE template0", on: "postgres")
        #expect(try #require(complaint(server.address(of: "latin_\(folder.schema)"))).contains("ENCODING 'UTF8'"))
    }

    // MARK: Addresses

    /// Everybody who lists the processes can see a password in an address; the message must not even repeat it.
    @Test(arguments: [
        "postgres://hand:s3cret@127.0.0.1/hand", "host=127.0.0.1 password=s3cret", "postgres:///hand?password=s3cret",
        "postgres://h/hand?sslpassword=s3cret", "postgres//hand:s3cret@127.0.0.1/hand", "postgres://h:s3cret@[/hand",
    ])
    func aPasswordInTheAddressIsRefused(address: String) throws {
        let text = try #require(complaint(address))
        #expect(!text.contains("s3cret"), "\(text)")
        // A malformed address may have one too.
        #expect(text.contains("PGPASSFILE") || text.contains("is malformed"))
    }

    @Test func thePasswordComesFromAFile() throws {
        let role = "role_\(folder.schema)"
        let file = folder.path + "/password"
        let real = try PostgresServer(settings: ["fsync=off"])
        try real.query("CREATE ROLE \(role) LOGIN SUPERUSER PASSWORD 's3cret'")
        let rules = real.folder + "/data/pg_hba.conf"
        try "local all hand trust\nlocal all all scram-sha-256\n".write(
            toFile: rules, atomically: false, encoding: .utf8)
        try real.query("SELECT pg_reload_conf()")
        let address = "postgres:///hand?host=\(real.folder)&user=\(role)"
        func open() throws {
            try PostgresStore(address, schema: folder.schema, passwordFile: file, timeout: .seconds(20)).close()
        }
        #expect { try open() } throws: { "\($0)".contains("Write the database's password into it") }
        try "wr0ng\n".write(toFile: file, atomically: true, encoding: .utf8)
        // The error is reported at once: another attempt would be refused as well.
        try eventually("the rules are in force") {
            do { try open() } catch {
                return "\(error)".contains("password authentication failed") && !"\(error)".contains("wr0ng")
            }
            return false
        }
        try "s3cret\n".write(toFile: file, atomically: true, encoding: .utf8)
        try open()
    }

    /// A dead host, one that does not exist, and one that is read-only, before the right one.
    @Test func theFirstWritableHostIsUsed() throws {
        let reader = try PostgresServer()
        try reader.query("ALTER SYSTEM SET default_transaction_read_only = on", on: "hand")
        try reader.query("SELECT pg_reload_conf()", on: "hand")
        let hosts = ["127.0.0.1", "/nowhere", reader.folder, server.folder].joined(separator: ",")
        let store = try PostgresStore(
            "host=\(hosts) port=1,5432,5432,5432 dbname=hand user=hand", schema: folder.schema, timeout: .seconds(20))
        let list = try store.newList()
        #expect(try server.query("SELECT number FROM \(folder.schema).lists") == "\(list)")
        store.close()
        let dead = "host=127.0.0.1,/nowhere,\(reader.folder) port=1,5432,5432 dbname=hand user=hand"
        let text = try #require(complaint(dead))
        for part in ["port 1 failed", "/nowhere", "read-only"] { #expect(text.contains(part), "\(text)") }
        #expect(try #require(complaint("host=a,b,c port=1,2")).contains("3 hosts and 2 ports"))
        #expect(try #require(complaint(server.address(of: "nothing"))).contains("\"nothing\" does not exist"))
    }

    /// An acknowledgement is a promise, whatever else the database is used for.
    @Test func databaseSettingsWeakenNoPromise() throws {
        let database = "lax_\(folder.schema)"
        try server.query("CREATE DATABASE \(database)", on: "postgres")
        for setting in [
            "synchronous_commit = off", "default_transaction_isolation = 'serializable'", "enable_seqscan = on",
        ] { try server.query("ALTER DATABASE \(database) SET \(setting)", on: "postgres") }
        let store = try PostgresStore(server.address(of: database), timeout: .seconds(20))
        let words = try store.settings(["synchronous_commit", "default_transaction_isolation", "enable_seqscan"])
        #expect(words == ["on", "read committed", "off"])
        store.close()
    }
}
