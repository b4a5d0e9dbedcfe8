import ArgumentParser
import HandStore

/// The database of servers that share their lists.
struct SharedStoreOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A PostgreSQL database that several servers share, instead of the folder: postgres://USER@HOST:PORT/DATABASE; "
                + "separate several hosts with commas. Its password comes from --store-password, $PGPASSWORD or $PGPASSFILE.",
            valueName: "address")) var store: String?

    @Option(help: .init("A file whose first line is the database's password.", valueName: "file"), completion: .file())
    var storePassword: String?

    func validate() throws {
        guard storePassword == nil || store != nil else { throw ValidationError("--store-password needs --store.") }
        // libpq accepts addresses and lists of settings, such as 'host=db dbname=hand'.
        guard store?.contains("://") ?? true || store?.contains("=") ?? true else {
            throw ValidationError(
                "--store: expected the address of a PostgreSQL database, such as postgres://USER@HOST/DATABASE. "
                    + "A folder goes into --data.")
        }
        // Before anything prints the address, as 'hand unit' does: it may have a password in it.
        do { _ = try store.map { try PostgresAddress($0) } } catch let error as PostgresError {
            if error.state == PostgresError.wrongAddress { throw ValidationError("--store: \(error)") }
        }
    }

    /// Opens the database; nil without an address.
    ///
    /// - Parameter creates: whether an empty database becomes a store.
    func open(creates: Bool = false) throws -> PostgresStore? {
        try store.map { try Self.open($0, storePassword, creates: creates) }
    }

    static func open(_ address: String, _ passwordFile: String?, creates: Bool) throws -> PostgresStore {
        if let passwordFile { try Settings.requireFile(passwordFile, "the database's password") }
        return try PostgresStore(address, passwordFile: passwordFile, creates: creates)
    }

    /// Opens the database, which must be named here or in the settings of 'hand serve'.
    func opened() throws -> PostgresStore {
        guard let store = try withDefaults().open() else {
            throw Failure(.usage, "--all needs the servers' database: --store postgres://USER@HOST/DATABASE")
        }
        return store
    }

    /// These options; without an address, those that 'hand serve' would use.
    func withDefaults() throws -> Self {
        if store != nil { return self }
        let layers = try ServeLayers([])
        var options = self
        (options.store, options.storePassword) = (layers.text(of: "store"), layers.text(of: "store-password"))
        return options
    }
}
