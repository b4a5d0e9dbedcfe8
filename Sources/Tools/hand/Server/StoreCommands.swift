import ArgumentParser
import FoundationEssentials
import HandFormats
import HandServer
import HandStore
import HandSync
import HandWire

/// The store of one server, or the database of several.
struct StoreOptions: ParsableArguments {
    @Option(
        help: .init("The folder of the store (default: as for 'hand serve').", valueName: "folder"),
        completion: .directory)
    var data: String?

    @OptionGroup var shared: SharedStoreOptions

    func validate() throws {
        if data != nil, shared.store != nil {
            throw ValidationError("Name a folder with --data or a database with --store, not both.")
        }
    }

    var folder: String {
        get throws { try data ?? ServeLayers([]).data }
    }

    /// The database of servers that share their lists, unless a folder is named.
    ///
    /// - Parameter creates: whether an empty database becomes a store.
    func database(creates: Bool = false) throws -> PostgresStore? {
        data == nil ? try shared.withDefaults().open(creates: creates) : nil
    }
}

/// How to report on a store.
struct ReportOptions: ParsableArguments {
    @Flag(help: "Print JSON.") var json = false
    @Flag(name: .shortAndLong, help: "Print no progress and no summary.") var quiet = false

    /// Refuses the name that other commands have for standard input and output.
    static func check(file: String?) throws {
        if file == "-" { throw ValidationError("a backup is a file: name it, or ./- for a file of that name") }
    }

    /// Replays the whole store of a folder or a backup.
    func verify(_ path: String) throws -> StoreReport {
        try showingProgress { try StoreVerifier(path: path).verify(progress: $0) }
    }

    /// Runs `body` and shows its progress with long lists.
    func showingProgress<Result>(
        _ body: (@escaping (String, Int, Int) -> Void) throws -> Result
    ) throws -> Result {
        defer { Output.progress("") }
        return try body { [quiet] name, revision, last in
            if !quiet, last > 100_000 { Output.progress("\(name): \(revision) of \(last)") }
        }
    }

    /// Checks a backup that was written, and prints the report.
    func check(backup file: String) throws {
        let report = try verify(file)
        if !report.isSound, json { Output.json(Verify.json(report)) }
        guard report.isSound else {
            throw Failure(
                .error, "\(file) is written, but the store is damaged: see 'hand verify \(ShellWord.quoted(file))'")
        }
        confirm(report) { "wrote \(file): \($0), everything is sound" }
    }

    /// Prints the report of what a command has written.
    func confirm(
        _ report: StoreReport, _ losses: [StoreSalvage.Loss] = [], _ text: (_ amount: String) -> Printable
    ) {
        let words = text("\(Amount.count(report.lists.count, "list")), \(Amount.count(report.commits, "commit"))")
        Output.note(done: words)
        if json { return Output.json(Verify.json(report, losses)) }
        if !quiet { Output.line(words) }
    }
}

struct Verify: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Check a store or a backup: replay every commit and compare every digest.",
        discussion: """
            Reads a snapshot of the store; a server may be using it. Prints the first wrong revision of each list. The exit \
            code is 1 if anything is wrong. --store checks the database of several servers.
            """)

    @OptionGroup var store: StoreOptions
    @OptionGroup var output: ReportOptions
    @Argument(help: "A backup to check instead of the store.", completion: .file()) var file: String?

    func validate() throws { try ReportOptions.check(file: file) }

    func run() throws {
        let report =
            if file == nil, let database = try store.database() {
                try output.showingProgress { try database.verify(progress: $0) }
            } else { try output.verify(file ?? store.folder) }
        if output.json { Output.json(Self.json(report)) } else { print(report) }
        if !report.isSound { Output.exit(.error) }
    }

    private func print(_ report: StoreReport) {
        for list in report.lists {
            let name = list.name + (list.isDeleted ? " (deleted)" : "")
            if let problem = list.problem {
                Output.line("\(name): DAMAGED\(problem.revision.map { " at revision \($0)" } ?? ""): \(problem.text)")
            } else if !output.quiet {
                let range = list.floor > 0 ? "revisions \(list.floor) to \(list.revision)" : "revision \(list.revision)"
                Output.line(
                    "\(name): \(range), \(Amount.count(list.count, "item")), \(Amount.count(list.snapshots, "snapshot")): sound"
                )
            }
        }
        for problem in report.problems { Output.line("DAMAGED: \(problem.text)") }
        if !output.quiet {
            Output.line(
                "\(Amount.count(report.lists.count, "list")), \(Amount.count(report.commits, "commit")) replayed: "
                    + (report.isSound ? "everything is sound" : "not everything is sound"))
        }
    }

    /// - Parameter losses: what a salvage has lost.
    static func json(_ report: StoreReport, _ losses: [StoreSalvage.Loss] = []) -> JSONValue {
        func problem(_ problem: StoreReport.Problem) -> JSONValue {
            JSONValue(fields: ["revision": JSONValue(orNull: problem.revision), "text": problem.text])
        }
        let lists = report.lists.map { list in
            JSONValue(fields: [
                "name": list.name, "deleted": list.isDeleted, "floor": list.floor, "revision": list.revision,
                "count": list.count, "digest": Hex.text(list.digest), "snapshots": list.snapshots,
                "problem": JSONValue(orNull: list.problem.map(problem)),
            ])
        }
        let lost = losses.map { loss in
            JSONValue(fields: [
                "name": loss.name, "from": JSONValue(orNull: loss.kept?.lowerBound),
                "to": JSONValue(orNull: loss.kept?.upperBound), "wasTo": loss.stored.upperBound,
            ])
        }
        return JSONValue(fields: [
            "sound": report.isSound, "lists": lists, "problems": report.problems.map(problem), "lost": lost,
        ])
    }
}

struct Backup: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Copy a store into one file, even while a server uses it.",
        discussion: """
            The copy is a complete snapshot of the store, and is checked. 'hand recover' restores it.
            """)

    @OptionGroup var store: StoreOptions
    @OptionGroup var output: ReportOptions
    @Argument(help: "The file to write; it must not exist.", completion: .file()) var file: String

    func validate() throws { try ReportOptions.check(file: file) }

    func run() throws {
        if let database = try store.database() {
            try output.showingProgress { try database.backUp(to: file, progress: $0) }
        } else {
            let folder = try store.folder
            try StoreBackup.write(folder, to: file, rules: AccessFile(folder: folder).bytes())
        }
        try output.check(backup: file)
    }
}

struct Recover: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recover", abstract: "Restore a store from a backup.",
        discussion: """
            The backup is checked first. No server may be running on the store. An existing store is replaced only with \
            --replace, and then moved aside, not deleted. Clients that reconnect keep their unsent edits; commits made after \
            the backup are gone from the lists. With --store the backup is restored into an empty database.

            A damaged backup is refused. With --salvage, what is sound of it is restored, and what is lost is printed. The file \
            may also be a damaged store: FOLDER/hand.sqlite.
            """)

    @OptionGroup var store: StoreOptions
    @OptionGroup var output: ReportOptions
    @Flag(help: "Replace an existing store; it is moved aside.") var replace = false
    @Flag(help: "Restore what is sound of a damaged backup.") var salvage = false
    @Argument(help: "The backup.", completion: .file()) var file: String

    func validate() throws { try ReportOptions.check(file: file) }

    func run() throws {
        var report = StoreReport()
        var isSound = false
        do {
            report = try output.verify(file)
            isSound = report.isSound
        } catch StoreError.damaged where salvage {}
        guard isSound || salvage else {
            let command = Suggestion.command("recover --salvage", file)
            throw Failure(
                .error,
                "\(file) is damaged: see 'hand verify \(ShellWord.quoted(file))'. To restore what is sound of it: \(command)"
            )
        }
        if let database = try store.database(creates: true) { return try recover(report, to: database) }
        let folder = try store.folder
        var random = SystemRandomNumberGenerator()
        let recovery: StoreBackup.Recovery
        do {
            recovery = try StoreBackup.restore(
                file, to: folder, replaces: replace, salvages: !isSound,
                stamp: Int(Date().timeIntervalSince1970), accessFile: AccessFile(folder: folder).path, random: &random)
        } catch StoreError.failed(let reason) where !replace && reason.contains("already") {
            let command = Suggestion.command("recover --replace", file)
            throw Failure(.error, "\(reason). To replace it (it is moved aside): \(command)")
        }
        if let aside = recovery.aside, !output.quiet { Output.message("the former store is now \(aside)") }
        if let text = Self.text(recovery.access) { Output.message(text) }
        if recovery.isRebuilt {
            Output.message(
                "pages of the file could not be read: what was only on them is lost, also where nothing says so")
        }
        for loss in recovery.losses { Output.message(Self.text(loss)) }
        if !isSound { report = try output.verify(folder) }
        output.confirm(report, recovery.losses) { "\(folder) has \($0) again" }
    }

    private func recover(_ report: StoreReport, to database: PostgresStore) throws {
        if salvage {
            throw Failure(
                .usage, "--salvage works only on folders: use --data, and then 'hand store copy' into the database")
        }
        if replace {
            throw Failure(
                .usage,
                "--replace works only on folders. Stop all servers, and rename the schema in the database: ALTER SCHEMA hand RENAME TO hand_before"
            )
        }
        var random = SystemRandomNumberGenerator()
        let rules = try SQLiteStore.accessRules(in: file)
        _ = try output.showingProgress {
            try database.take(file, rules: rules, logID: { LogID.renewed($0, using: &random) }, progress: $0)
        }
        if let text = Self.text(rules == nil ? .none : .fromBackup) { Output.message(text) }
        output.confirm(report) { "\(database.place) has \($0) again" }
    }

    private static func text(_ loss: StoreSalvage.Loss) -> Printable {
        guard let kept = loss.kept else { return "'\(loss.name)' is left out: nothing of it is sound" }
        if kept.upperBound < loss.stored.upperBound {
            return
                "'\(loss.name)' ends at revision \(kept.upperBound) of \(loss.stored.upperBound): the rest is damaged"
        }
        return
            "'\(loss.name)' has all its items, but its history begins at revision \(kept.lowerBound): the rest is damaged"
    }

    /// The message if the access rules have changed.
    private static func text(_ access: StoreBackup.Recovery.Access) -> Printable? {
        switch access {
        case .kept: nil
        case .lost: "the access rules are missing: the server will let nobody in. \(TokenCommand.wayOut)"
        case .fromBackup:
            "the access rules are those of the backup: tokens that were revoked since then are valid again, see "
                + "'\(Suggestion.command("token list"))'"
        case .none:
            "there are no access rules: every user of this machine may do everything, see 'hand token guests --help'"
        }
    }
}
