import Disk
import HandSync

/// Copies the store of several servers to and from a file as `StoreBackup` writes it.
extension PostgresStore {
    /// The timeout for the end of a large transaction, which waits for the disk.
    static let copyTimeout = Duration.seconds(600)

    /// Writes the whole store, as it is at one moment, into a file, also while servers write to the store. The file
    /// gets its name when it is complete and flushed.
    ///
    /// - Throws: `StoreError`, also if the store is damaged or the file exists already.
    package func backUp(to file: String, progress: @escaping (String, Int, Int) -> Void) throws {
        let rules = try setting(SharedSettingKey.access, after: 0)?.value
        try StoreBackup.write(to: file) { partial in
            try StoreFile.translating(file) {
                let database = try SQLiteDatabase(partial)
                try readOnce {
                    let source = PostgresSource(session: $0)
                    try StoreTransfer.fill(database, from: source, rules: rules, progress)
                    if let problem = try source.problems().first { throw StoreError.damaged("\(place): \(problem)") }
                }
                try database.close()
            }
        }
    }

    /// Reads everything and replays every commit. O(history).
    package func verify(progress: @escaping (String, Int, Int) -> Void) throws -> StoreReport {
        try StoreFile.translating("the copy") {
            try readOnce { try verify($0, rules: nil, progress) }
        }
    }

    private func verify(
        _ session: PostgresSession, rules: [UInt8]?, _ progress: @escaping (String, Int, Int) -> Void
    ) throws -> StoreReport {
        let source = PostgresSource(session: session)
        let copy = try SQLiteDatabase("")
        var damaged: [StoreReport.List] = []
        let damage = StoreTransfer.Damage.skip { list, revision, error in
            let stored = list.stored
            damaged.append(
                StoreReport.List(
                    name: list.name, isDeleted: list.deletion != nil, floor: stored.floor, revision: stored.revision,
                    count: stored.count, digest: list.digest ?? 0, snapshots: 0,
                    problem: StoreReport.Problem(revision: revision, text: "\(error)")))
        }
        try StoreTransfer.fill(copy, from: source, damage, rules: rules, progress)
        var report = try StoreVerifier(copy, path: place).verify()
        report.lists += damaged
        for problem in try source.problems() { report.note(problem) }
        return report
    }

    /// Copies the store of a folder, or a backup, into an empty database: all of it or nothing. Before the transaction
    /// commits, the copy is read back and compared.
    ///
    /// - Parameters:
    ///   - path: a backup, or a folder that nobody else has open.
    ///   - rules: the access rules.
    ///   - logID: returns the new log id of a list's history, given the old one.
    /// - Returns: the report on the copy that was read back.
    /// - Throws: `StoreError`. If the connection is lost at the very end, the copy may have been committed all the
    ///   same.
    package func take(
        _ path: String, rules: [UInt8]?, logID: @escaping (UInt64) -> UInt64 = { $0 },
        progress: @escaping (String, Int, Int) -> Void
    ) throws -> StoreReport {
        let expected = try StoreVerifier(path: path).verify()
        guard expected.isSound else { throw StoreError.damaged("\(path) is damaged: see 'hand verify'") }
        return try SQLiteStore.withAll(of: path) { source in
            try write(timeout: Self.copyTimeout) { session in
                let target = PostgresTarget(session: session)
                try target.begin(place)
                var transfer = StoreTransfer(source: source, target: target, progress: progress)
                transfer.logID = logID
                try transfer.run(rules: rules)
                let found = try verify(session, rules: rules, progress)
                guard found == expected else {
                    throw StoreError.failed("the copy in \(place) differs from \(path); nothing was copied")
                }
                return found
            }
        }
    }
}

extension StoreTransfer {
    /// Creates a store in an empty database, and fills it.
    fileprivate static func fill(
        _ database: SQLiteDatabase, from source: PostgresSource, _ damage: Damage = .throwError, rules: [UInt8]?,
        _ progress: @escaping (String, Int, Int) -> Void
    ) throws {
        try database.write { database in
            try Schema.create(database)
            let target = SQLiteTarget(database: database)
            try StoreTransfer(source: source, target: target, damage: damage, progress: progress).run(rules: rules)
        }
    }
}

extension SQLiteStore {
    /// Runs `body` with the whole store of a folder, or a whole backup.
    fileprivate static func withAll<Result>(
        of path: String, _ body: (SQLiteSource) throws -> Result
    ) throws -> Result {
        guard StoreVerifier.file(at: path) != path else {
            return try StoreVerifier(path: path).reading { try body(SQLiteSource(database: $0)) }
        }
        try StoreFile.expectThere(StoreVerifier.file(at: path), of: path)
        let store = try SQLiteStore(folder: path, durability: .fsync)
        defer { try? store.close() }
        return try store.read { try body(SQLiteSource(database: $0)) }
    }
}
