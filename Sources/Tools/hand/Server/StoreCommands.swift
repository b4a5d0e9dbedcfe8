import ArgumentParser
import Foundation
import HandCore
import HandFormats
import HandServer
import HandStore
import HandSync

/// A server's store, and how to report on it.
struct StoreOptions: ParsableArguments {
    @Option(
        help: .init(
            "The folder of the store (default: $HAND_DATA, then ~/.local/state/hand/server).", valueName: "folder"))
    var data: String?

    @Flag(help: "Print JSON.") var json = false
    @Flag(name: .shortAndLong, help: "Print no progress and no summary.") var quiet = false

    var folder: String {
        get throws { try data ?? Settings.dataFolder }
    }

    /// Replays the whole store.
    func verify(_ path: String) throws -> StoreReport {
        let report = try StoreVerifier(path: path).verify { name, revision, last in
            if !quiet, last > 100_000 { Output.progress("\(Printable.clean(name)): \(revision) of \(last)") }
        }
        Output.progress("")
        return report
    }
}

struct Verify: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check a store or a backup: replay every commit and compare every digest.",
        discussion: """
            Reads a snapshot of the store; a server may keep using it. Prints the first wrong revision of each list. The exit \
            code is 1 if anything is wrong.
            """)

    @OptionGroup var store: StoreOptions
    @Argument(help: "A backup to check instead of the store.") var file: String?

    func run() throws {
        let report = try store.verify(file ?? store.folder)
        if store.json { Output.json(Self.json(report)) } else { print(report) }
        if !report.isSound { Output.exit(.error) }
    }

    private func print(_ report: StoreReport) {
        for list in report.lists {
            let name = Printable.clean(list.name) + (list.isDeleted ? " (deleted)" : "")
            if let problem = list.problem {
                Output.line("\(name): DAMAGED\(problem.revision.map { " at revision \($0)" } ?? ""): \(problem.text)")
            } else if !store.quiet {
                let range = list.floor > 0 ? "revisions \(list.floor) to \(list.revision)" : "revision \(list.revision)"
                Output.line(
                    "\(name): \(range), \(Words.count(list.count, "item")), \(Words.count(list.snapshots, "snapshot")): sound"
                )
            }
        }
        for problem in report.problems { Output.line("DAMAGED: \(problem.text)") }
        if !store.quiet {
            Output.line(
                "\(Words.count(report.lists.count, "list")), \(Words.count(report.commits, "commit")) replayed: "
                    + (report.isSound ? "everything is sound" : "not everything is sound"))
        }
    }

    static func json(_ report: StoreReport) -> JSONValue {
        func problem(_ problem: StoreReport.Problem) -> JSONValue {
            ["revision": JSONValue(orNull: problem.revision), "text": .string(problem.text)]
        }
        let lists: [JSONValue] = report.lists.map { list in
            [
                "name": .string(list.name), "deleted": .bool(list.isDeleted), "floor": JSONValue(list.floor),
                "revision": JSONValue(list.revision), "count": JSONValue(list.count),
                "digest": .string(String(list.digest, radix: 16)), "snapshots": JSONValue(list.snapshots),
                "problem": list.problem.map(problem) ?? .null,
            ]
        }
        return [
            "sound": .bool(report.isSound), "lists": .array(lists), "problems": .array(report.problems.map(problem)),
        ]
    }
}

struct Backup: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Copy a store into one file, even while a server uses it.",
        discussion: """
            The copy is a complete snapshot of the store, and is checked. 'hand recover' puts it back.

              hand backup lists.backup
            """)

    @OptionGroup var store: StoreOptions
    @Argument(help: "The file to write; it must not exist.") var file: String

    func run() throws {
        let folder = try store.folder
        try StoreBackup.write(folder, to: file, rules: AccessFile(folder: folder).bytes())
        let report = try store.verify(file)
        if store.json { Output.json(Verify.json(report)) }
        guard report.isSound else {
            throw Failure(.error, "\(file) is written, but the store is damaged: see 'hand verify \(file)'")
        }
        if !store.json, !store.quiet {
            Output.line(
                "wrote \(file): \(Words.count(report.lists.count, "list")), \(Words.count(report.commits, "commit")), everything is sound"
            )
        }
    }
}

struct Recover: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Replace a store by a backup.",
        discussion: """
            The backup is checked first. No server may be running on the store. An existing store is replaced only with \
            --replace, and moved aside, not deleted. Clients that reconnect keep their unsent edits; what was committed after \
            the backup is gone from the lists.
            """)

    @OptionGroup var store: StoreOptions
    @Flag(help: "Replace an existing store; it is moved aside.") var replace = false
    @Argument(help: "The backup.") var file: String

    func run() throws {
        let report = try store.verify(file)
        guard report.isSound else { throw Failure(.error, "\(file) is damaged: see 'hand verify \(file)'") }
        let folder = try store.folder
        var random = SystemRandomNumberGenerator()
        let recovery: StoreBackup.Recovery
        do {
            recovery = try StoreBackup.restore(
                file, to: folder, replaces: replace, stamp: Int(Date().timeIntervalSince1970),
                accessFile: AccessFile(folder: folder).path, random: &random)
        } catch StoreError.failed(let reason) where !replace && reason.contains("already") {
            throw Failure(.error, "\(reason). To replace it (it is moved aside): hand recover --replace \(file)")
        }
        if let aside = recovery.aside, !store.quiet { Output.message("what was there is now \(aside)") }
        if let text = Self.text(recovery.access) { Output.message(text) }
        if store.json { return Output.json(Verify.json(report)) }
        if !store.quiet {
            Output.line(
                "\(folder) has \(Words.count(report.lists.count, "list")), \(Words.count(report.commits, "commit")) again"
            )
        }
    }

    /// The message if the access rules have changed.
    private static func text(_ access: StoreBackup.Recovery.Access) -> String? {
        switch access {
        case .kept: nil
        case .lost: "the access rules are missing: nobody will be let in. " + TokenCommand.wayOut
        case .fromBackup:
            "the access rules are those of the backup: tokens that were revoked since hold again, see 'hand token list'"
        case .none:
            "there are no access rules: whoever is on this machine may do everything, see 'hand token guests --help'"
        }
    }
}
