import Foundation
import Glibc
import HandClient
import HandCore
import HandTestSupport
import Testing

/// A client's files are removed, replaced, made read-only, or given to root. Commands do their work or name the file
/// that prevents it; nothing waits forever; and pending edits are sent once the file is repaired, and only once.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ClientFilesTests {
    private static let rights: Set<FileEvent> = [.readOnly, .unreadable, .foreign]

    struct File: CustomTestStringConvertible {
        let name: String
        var events = Set(FileEvent.allCases)
        var testDescription: String { name }
    }

    /// The files as `kill -9` leaves them: the pending edit is in the log, which is not removed here
    /// (`Sources/Lab/README.md`).
    private static let journal = [
        File(name: "/0.sqlite"),
        File(name: "/0.sqlite-wal", events: rights.union([.replacedByFolder, .replacedByPipe])),
        File(name: "/0.sqlite-shm", events: rights.union([.removed, .emptied, .overwritten, .replacedByPipe])),
        File(name: "/0.sqlite.lock"),
        File(name: "", events: rights),
    ]

    private let folder: TemporaryFolder
    private let server: RunningServer

    init() throws {
        folder = try TemporaryFolder(isInMemory: true)
        let settings = folder.path + "/serve.toml"
        try "".write(toFile: settings, atomically: true, encoding: .utf8)
        for path in [folder.path, settings] where Stranger.isThere {
            guard chown(path, Stranger.number, Stranger.number) == 0 else { throw POSIXError(.EPERM) }
        }
        server = try RunningServer(
            folder, ["--config", settings], launcher: Stranger.isThere ? Stranger.launcher : [])
        #expect(try hand("create", "list").status == 0)
    }

    private var clients: String {
        folder.path + "/state/hand/clients/"
            + server.address.description.map { $0.isLetter || $0.isNumber || $0 == "." ? $0 : "_" }
    }

    /// Gives files that this process has made to the user as whom the commands run.
    private func giveAway(_ path: String) throws {
        guard Stranger.isThere else { return }
        let all = try FileManager.default.subpathsOfDirectory(atPath: path).map { path + "/" + $0 }
        for path in [path] + all where lchown(path, Stranger.number, Stranger.number) != 0 { throw POSIXError(.EPERM) }
    }

    private func hand(_ arguments: String...) throws -> Binary.Outcome {
        let environment = [
            "HAND_URL": "hand+unix://\(server.socket)/list", "USER": "ada",
            "XDG_STATE_HOME": folder.path + "/state", "XDG_CONFIG_HOME": folder.path + "/config",
        ]
        let command = (Stranger.isThere ? Stranger.launcher : []) + [Binary.path] + arguments
        return try Binary.run(Array(command.dropFirst()), environment: environment, program: command[0])
    }

    private func happens(_ file: File, _ body: (FileEvent) async throws -> Void) async throws {
        for event in FileEvent.allCases where file.events.contains(event) {
            if event.isOfRights && !Stranger.isHeldToModes || event == .foreign && !Stranger.isThere { continue }
            try await body(event)
        }
    }

    /// The command either does its work, or names the file that prevents it.
    @discardableResult
    private func expectDone(_ outcome: Binary.Outcome, orSays path: String, _ what: String) -> Bool {
        if outcome.status == 0 { return true }
        #expect([1, 2].contains(outcome.status), "\(what): \(outcome)")
        let said = outcome.messages.split(separator: "\n").last.map(String.init) ?? ""
        #expect(said.hasPrefix("hand: ") && said.contains(path), "\(what): \(outcome.messages)")
        return false
    }

    private func keepEdit(_ text: String) async throws {
        try? FileManager.default.removeItem(atPath: folder.path + "/state")
        try FileManager.default.createDirectory(
            atPath: (clients as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        let origin = try TemporaryFolder(isInMemory: true)
        let client = try HandClient(
            ClientConfiguration(
                server: .unix(path: origin.path + "/nobody.sock"), person: "ada", program: "test",
                journalPath: origin.path + "/0.sqlite"))
        var random = SystemRandomNumberGenerator()
        let item = Item(id: .random(using: &random), content: .note(text))
        try await client.open("list").edit { Delta.inserting([item], at: $0.view.count, .before) }
        try FileManager.default.copyItem(atPath: origin.path, toPath: clients)
        await client.close()
        try giveAway(folder.path + "/state")
    }

    @Test(arguments: journal) func damageToTheJournal(_ file: File) async throws {
        try await happens(file) { event in
            let what = "\(file.name) \(event)"
            try await keepEdit("waits, \(what)")
            let undo = try event.strike(clients + file.name)
            for command in ["ls", "lists", "log"] {
                expectDone(try hand(command), orSays: clients, "\(what), \(command)")
            }
            let kept = try hand("ls", "--offline")
            let isGone = file.name == "/0.sqlite" && [.removed, .replacedByLink].contains(event)
            if isGone {
                #expect(kept.status == 3, "\(what)")
            } else {
                expectDone(kept, orSays: clients, "\(what), --offline")
            }
            let isAdded = expectDone(try hand("add", "added, \(what)", "--queue"), orSays: clients, "\(what), add")
            expectDone(try hand("sync"), orSays: clients, "\(what), sync")
            try undo()
            let sent = try hand("sync")
            #expect(sent.status == 0, "\(what): \(sent.messages)")
            let lines = try hand("ls").output.split(separator: "\n")
            #expect(lines.count { $0.hasSuffix("waits, \(what)") } == 1, "\(what): a pending edit is lost or doubled")
            #expect(lines.count { $0.hasSuffix("added, \(what)") } == (isAdded ? 1 : 0), "\(what)")
        }
    }

    @Test func damageToTheConfiguration() async throws {
        let path = folder.path + "/config/hand/config.toml"
        try FileManager.default.createDirectory(
            atPath: folder.path + "/config/hand", withIntermediateDirectories: true)
        try "name = \"ben\"\n".write(toFile: path, atomically: true, encoding: .utf8)
        try giveAway(folder.path + "/config")
        try await happens(File(name: path)) { event in
            let undo = try event.strike(path)
            let isThere = expectDone(try hand("add", "\(event)"), orSays: path, "\(event)")
            // Without it, the person would have another name, so only an empty file, or something other than a file,
            // counts as none.
            #expect(isThere == [.removed, .emptied, .replacedByLink, .readOnly].contains(event), "\(event)")
            try undo()
            #expect(try hand("add", "behind \(event)").status == 0)
            #expect(try hand("log", "-n", "1").output.contains("ben"))
        }
    }

    /// A pipe is written to, and the command waits for its reader, like every program.
    @Test func damageToAnExport() async throws {
        let path = folder.path + "/own/list.md"
        mkdir(folder.path + "/own", 0o700)
        try giveAway(folder.path + "/own")
        #expect(try hand("add", "exported").status == 0)
        let whole = "- [ ] exported\n"
        try await happens(File(name: path, events: Set(FileEvent.allCases).subtracting([.replacedByPipe]))) { event in
            #expect(try hand("export", path).status == 0)
            let undo = try event.strike(path)
            let written = event == .replacedByLink ? FileEvent.missing(beside: path) : path
            let isDone = expectDone(try hand("export", path), orSays: written, "\(event)")
            // A file that is not an export of a list is replaced only on request.
            #expect(isDone == [.removed, .emptied, .readOnly].contains(event), "\(event)")
            if isDone { #expect(try String(contentsOfFile: path, encoding: .utf8) == whole, "\(event)") }
            let left = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/own")
            #expect(left.allSatisfy { $0.hasPrefix("list.md") && !$0.hasSuffix(".new") }, "\(event): \(left)")
            try undo()
            #expect(try String(contentsOfFile: path, encoding: .utf8) == whole, "\(event)")
        }
    }
}
