import FoundationEssentials
import Glibc
import HandClient
import HandFormats
import HandSync

/// Whether this machine's copies of lists, and the edits that wait in them, can be read.
enum JournalCheck {
    static func all(_ options: ServerOptions) -> [Diagnosis] {
        let folder = Settings.stateFolder + "/clients"
        let files = ((try? FileManager.default.subpathsOfDirectory(atPath: folder)) ?? []).filter {
            $0.hasSuffix(".sqlite")
        }
        var sound = 0
        var running: Set<String> = []
        var waiting: [String: Set<String>] = [:]
        var problems: [Diagnosis] = []
        for file in files.sorted() {
            let path = "\(folder)/\(file)"
            do {
                // The question whether the journal is in use comes first: if the command ends before the check, it has
                // sent its edits, or they wait.
                let isRunning = ClientJournal.isInUse(at: path)
                let lists = try ClientJournal.check(at: path)
                let server = URL(filePath: path).deletingLastPathComponent().path
                if isRunning {
                    running.formUnion(lists)
                } else if !lists.isEmpty {
                    waiting[server, default: []].formUnion(lists)
                }
                sound += 1
            } catch StoreError.inUse {
                // A running command has the journal open, so it has read the journal.
                sound += 1
            } catch {
                problems.append(.problem("kept lists", Failure(error).message, do: advice(path, error)))
            }
        }
        let warnings = waiting.sorted { $0.key < $1.key }.map { warning($1.sorted(), in: $0, options.user) }
        let count = Amount.count(sound, "file") + ", sound"
        let held =
            running.isEmpty
            ? "no edits wait to be sent"
            : "a running command sends its edits of \(running.sorted().joined(separator: ", ")) itself"
        let finding = warnings.isEmpty || !running.isEmpty ? "\(count); \(held)" : count
        let soundness = sound == 0 && !problems.isEmpty ? [] : [Diagnosis.ok("kept lists", finding)]
        return soundness + warnings + refused(options) + problems
    }

    /// What to do, unless the error says it.
    private static func advice(_ path: String, _ error: any Error) -> String? {
        if access(path, R_OK | W_OK) != 0 {
            return errno == EROFS
                ? "make its disk writable, or set $XDG_STATE_HOME to a folder that can be written"
                : "make it readable and writable: chmod u+rw \(path)"
        }
        if !hasRoom(path) { return "make room on its disk, then look again: the file may be sound" }
        return nil
    }

    /// Whether the disk of a file has room for a few changes. SQLite calls a full disk an I/O error, too.
    private static func hasRoom(_ path: String) -> Bool {
        var facts = statvfs()
        return statvfs(path, &facts) != 0 || UInt64(facts.f_bavail) * UInt64(facts.f_frsize) >= 1 << 20
    }

    /// Edits of this person that the server in use refused.
    private static func refused(_ options: ServerOptions) -> [Diagnosis] {
        guard let kept = Shelf.refused(options, of: nil) else { return [] }
        return [.warning("kept lists", kept.finding, do: "see them, and retry or drop them: \(kept.command)")]
    }

    // MARK: Waiting edits

    private static func warning(_ lists: [String], in folder: String, _ user: UserOptions) -> Diagnosis {
        let names = lists.joined(separator: ", ")
        let (server, command) = sending(from: folder, user)
        return .warning("kept lists", "edits of \(names) wait to be sent to \(server)", do: "send them: \(command)")
    }

    /// The server that a folder's edits are for, and the command that sends them. A folder's name does not identify its
    /// server exactly, but a server's address determines its folder.
    private static func sending(from folder: String, _ user: UserOptions) -> (server: String, command: String) {
        func isFor(_ address: HandAddress?) -> Bool { address.map { Identity.folder($0.server) == folder } ?? false }
        if let here = try? Settings.place(flag: user.url, list: nil), isFor(here) {
            return ("\(here.server)", Suggestion.command("sync"))
        }
        for name in Contexts.names() {
            guard let context = try? Contexts.existing(name), isFor(context.address) else { continue }
            return ("\(context.address.server)", "hand -c \(name) sync")
        }
        let name = URL(filePath: folder).lastPathComponent
        for scheme in ["hand", "hands"] {
            let parts = name.split(separator: "_")
            guard parts.count == 3, parts[0] == scheme else { continue }
            let address = "\(scheme)://\(parts[1]):\(parts[2])"
            if isFor(try? HandAddress(address)) { return (address, "hand sync --url \(ShellWord.quoted(address))") }
        }
        return ("another server, in \(folder)", "hand sync --url ADDRESS, with the address of that server")
    }
}
