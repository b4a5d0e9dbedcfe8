import ArgumentParser
import Disk
import HandFormats
import HandServer
import HandStore

struct StoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store", abstract: "Copy lists between a single server and servers that share a database.",
        subcommands: [CopyStore.self])
}

private struct CopyStore: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "copy", abstract: "Copy all lists from a folder to a database, or from a database to a folder.",
        discussion: """
            Copies the lists with their whole history, deleted lists, authors and access rules, and replays all commits. The target \
            must be empty. If anything goes wrong, nothing is copied.

            Stop the servers of the source first: the copy lacks edits that they accept while it runs. Their clients can continue \
            at the servers of the target where they were, with their unsent edits.
            """)

    @Argument(help: "A server's folder, a backup, or the address of a database.", completion: .file()) var from: String
    @Argument(help: "The address of a database, or a folder.", completion: .directory) var to: String

    @Option(help: .init("A file whose first line is the database's password.", valueName: "file"), completion: .file())
    var storePassword: String?
    @OptionGroup var output: ReportOptions

    /// The milliseconds after which a server that says nothing counts as stopped. It says something once a second.
    private static let maxSilence = 10_000

    private static func isDatabase(_ place: String) -> Bool {
        ["postgres://", "postgresql://"].contains { place.hasPrefix($0) }
    }

    func validate() throws {
        switch (Self.isDatabase(from), Self.isDatabase(to)) {
        case (true, false), (false, true): break
        case (true, true):
            throw ValidationError("Both are databases. Copy to a folder first, and from there to the other one.")
        case (false, false):
            throw ValidationError(
                "Neither is a database, such as postgres://USER@HOST/DATABASE. 'hand backup' and 'hand recover' copy folders."
            )
        }
    }

    func run() throws {
        let report = Self.isDatabase(to) ? try toDatabase() : try toFolder()
        output.confirm(report) { "copied \($0), everything is sound" }
    }

    private func toDatabase() throws -> StoreReport {
        if SQLiteStore.isInUse(folder: from) {
            throw Failure(
                .error,
                "a server is running on \(from). Stop it: the copy would lack the edits that it accepts in the meantime"
            )
        }
        let rules = try rules()
        let database = try SharedStoreOptions.open(to, storePassword, creates: true)
        return try output.showingProgress { try database.take(from, rules: rules, progress: $0) }
    }

    private func rules() throws -> [UInt8]? {
        let remembered = try SQLiteStore.accessRules(in: from)
        guard PrivateFile.isFolder(from) else { return remembered }
        let file = AccessFile(folder: from)
        if let bytes = try file.bytes() { return bytes }
        if remembered != nil { throw Failure(.error, "\(file.path) is missing. " + TokenCommand.wayOut) }
        return nil
    }

    private func toFolder() throws -> StoreReport {
        if try PrivateFile.exists(to + "/hand.sqlite") {
            throw Failure(.error, "there is a store in \(to) already. Name a new folder")
        }
        let database = try SharedStoreOptions.open(from, storePassword, creates: false)
        if let server = try database.servers().first(where: { $0.silence < Self.maxSilence }) {
            throw Failure(
                .error,
                "the server at \(server.address) is running on this database. Stop it: the copy would lack the edits "
                    + "that it accepts in the meantime. A server that was killed counts for 10 s")
        }
        try PrivateFile.makeFolder(to)
        let copy = to + "/copy.backup"
        try output.showingProgress { try database.backUp(to: copy, progress: $0) }
        defer { try? PrivateFile.remove(copy) }
        let report = try output.verify(copy)
        guard report.isSound else {
            throw Failure(.error, "\(from) is damaged: see 'hand verify --store \(ShellWord.quoted(from))'")
        }
        var random = SystemRandomNumberGenerator()
        _ = try StoreBackup.restore(
            copy, to: to, replaces: false, renews: false, stamp: 0, accessFile: AccessFile(folder: to).path,
            random: &random)
        return report
    }
}
