import Foundation
import Glibc
import HandTestSupport
import Testing

/// A server's files are removed, replaced, made read-only, or given to root, while it runs and before it starts.
/// Acknowledged edits are present once the file is back, nobody gains rights in the meantime, nothing waits forever,
/// and refusals say what to do.
@Suite(.serialized, .timeLimit(.minutes(10))) struct WorldTests {
    /// The message with which the next server refuses to start, or nil if it starts.
    typealias Refusals = [FileEvent: String?]

    private static let rights: Refusals = [
        .readOnly: "mode is", .unreadable: "mode is 0", .foreign: "belongs to root, its mode is 600",
    ]
    private static let noFile: Refusals = [.replacedByFolder: "Move it away", .replacedByPipe: "Move it away"]

    private static func with(_ all: Refusals...) -> Refusals { all.reduce([:]) { $0.merging($1) { $1 } } }

    struct File: CustomTestStringConvertible {
        let name: String
        let refusals: Refusals
        /// Whether only its rights are removed while the server runs: `RemovedStoreTests` cover the rest.
        var isOpen = false
        var testDescription: String { name }
    }

    private static let files = [
        File(
            name: "data/hand.sqlite",
            refusals: with(
                rights, noFile,
                [
                    .removed: "its log", .emptied: "its log", .replacedByLink: "its log",
                    .overwritten: "not a hand store",
                ]),
            isOpen: true),
        File(name: "data/hand.sqlite-wal", refusals: with(rights, noFile), isOpen: true),
        File(
            name: "data/hand.sqlite-shm",
            refusals: with(rights, noFile, [.removed: nil, .emptied: nil, .overwritten: nil]),
            isOpen: true),
        File(
            name: "data/access.json",
            refusals: with(
                rights, noFile,
                [
                    .removed: nil, .replacedByLink: nil, .readOnly: nil, .emptied: "is damaged",
                    .overwritten: "is damaged",
                ])),
        File(
            name: "data/lock",
            refusals: with(
                rights,
                [.removed: nil, .emptied: nil, .overwritten: nil, .replacedByPipe: nil, .replacedByFolder: "data/lock"])
        ),
        File(
            name: "data/access.json.lock",
            refusals: Dictionary(uniqueKeysWithValues: FileEvent.allCases.map { ($0, nil) })),
        File(
            name: "data/durability",
            refusals: with(
                rights,
                [
                    .removed: nil, .emptied: nil, .overwritten: nil, .readOnly: nil, .replacedByPipe: "data/durability",
                    .replacedByFolder: "data/durability",
                ])),
        File(
            name: "data/admin.sock",
            refusals: [
                .removed: nil, .overwritten: "Move it away", .replacedByFolder: "Move it away",
                .replacedByPipe: "Move it away", .foreign: "belongs to root",
            ]),
        File(
            name: "own/audit",
            refusals: with(
                rights,
                [
                    .removed: nil, .emptied: nil, .overwritten: nil, .replacedByFolder: "own/audit",
                    .replacedByPipe: "to which nobody listens",
                ])),
        File(
            name: "own/cert.pem",
            refusals: with(
                rights, noFile,
                [.readOnly: nil, .removed: "own/cert.pem", .emptied: "own/cert.pem", .overwritten: "own/cert.pem"])),
        File(
            name: "own/cert.key",
            refusals: with(
                rights, noFile,
                [.readOnly: nil, .removed: "own/cert.key", .emptied: "own/cert.key", .overwritten: "own/cert.key"])),
        File(
            name: "own/serve.toml",
            refusals: with(
                rights, noFile, [.readOnly: nil, .emptied: nil, .removed: "cannot be read", .overwritten: "line 1"])),
        File(name: "data", refusals: rights, isOpen: true),
    ]

    @Test(arguments: files) func damageToAServersFile(to file: File) throws {
        let world = try FileWorld()
        defer { world.server.kill() }
        for event in FileEvent.allCases {
            guard let refusal = file.refusals[event], !event.isOfRights || Stranger.isHeldToModes,
                event != .foreign || Stranger.isThere, isChosen()
            else { continue }
            let what = "\(file.name) \(event)"
            let isUnderIt = !file.isOpen || event.isOfRights
            if !isUnderIt {
                // The log, which is emptied at the start, is not empty.
                try world.add(what)
                world.server.kill()
            }
            let undo = try event.strike(world.path(file.name))
            if isUnderIt { try world.expectServed(what) }
            world.server.kill()
            try world.server.start()
            try world.expectStart(what, refused: refusal)
            world.server.kill()
            try undo()
            try world.server.start()
            try world.expectAll(what)
        }
        try world.expectRights("\(file.name), at the end")
    }

    /// Without their file, the person would have another name and another server; without the rules, a backup would be
    /// open to everybody.
    @Test(arguments: [FileEvent.replacedByFolder, .replacedByPipe]) func unreadableCommandFilesAreReported(
        _ event: FileEvent
    ) throws {
        let folder = try TemporaryFolder()
        let (data, config) = (folder.path + "/data", folder.path + "/config/hand")
        let server = try RunningServer(folder)
        server.kill()
        for path in [data + "/access.json", config + "/config.toml"] {
            try FileManager.default.createDirectory(
                atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
            try "".write(toFile: path, atomically: true, encoding: .utf8)
            _ = try event.strike(path)
        }
        let environment = ["XDG_CONFIG_HOME": folder.path + "/config", "XDG_STATE_HOME": folder.path]
        for arguments in [["lists"], ["backup", folder.path + "/backup", "--data", data]] {
            let outcome = try Binary.run(arguments, environment: environment)
            #expect(outcome.status == 1, "\(arguments)")
            #expect(outcome.messages.hasPrefix("hand: cannot read \(folder.path)"), "\(outcome.messages)")
            #expect(outcome.messages.contains("Move it away"), "\(outcome.messages)")
        }
    }

    /// Two servers on one store would each number their own commits.
    @Test(arguments: [FileEvent.removed, .overwritten, .replacedByPipe]) func aDamagedLockStillProtectsTheStore(
        _ event: FileEvent
    ) throws {
        let world = try FileWorld()
        defer { world.server.kill() }
        _ = try event.strike(world.path("data/lock"))
        let data = ["--data", world.path("data")]
        let second = try Binary.run(["serve", "--listen", world.path("second.sock")] + data)
        #expect(second.status == 1 && second.messages.contains("in use by another process"), "\(second.messages)")
        #expect(try Binary.run(["recover", "--replace", world.path("data/hand.sqlite")] + data).status == 1)
        try FileManager.default.removeItem(atPath: world.path("data/admin.sock"))
        let changed = try Binary.run(["token", "guests", "--remote", "none"] + data)
        #expect(changed.status == 0 && changed.messages.contains("cannot tell whether"), "\(changed.messages)")
        try world.expectAll("\(event)")
    }
}

/// A server with its own user, if possible, and with rules by which guests may do nothing.
private final class FileWorld {
    let folder: TemporaryFolder
    let server: RunningServer
    private let ada, revoked: String
    private var acknowledged: [String] = []

    func path(_ name: String) -> String { folder.path + "/" + name }
    private var log: String { (try? String(contentsOfFile: path("log"), encoding: .utf8)) ?? "" }

    init() throws {
        folder = try TemporaryFolder(isInMemory: true)
        for name in ["data", "own"] { mkdir(folder.path + "/" + name, 0o700) }
        let certificates = try Certificates(folder)
        let (certificate, key) = try certificates.make("cert", for: "IP:127.0.0.1")
        for file in [certificate, key] {
            let name = (file as NSString).lastPathComponent
            try FileManager.default.moveItem(atPath: file, toPath: folder.path + "/own/" + name)
        }
        try "max-items = 500\n".write(toFile: folder.path + "/own/serve.toml", atomically: true, encoding: .utf8)
        if Stranger.isThere {
            for name in ["", "/data", "/own", "/own/cert.pem", "/own/cert.key", "/own/serve.toml"] {
                guard chown(folder.path + name, Stranger.number, Stranger.number) == 0 else { throw POSIXError(.EPERM) }
            }
        }
        let data = ["--data", folder.path + "/data"]
        func token(_ arguments: [String]) throws -> String {
            try Binary.run(["token"] + arguments + data).output.trimmingCharacters(in: .whitespacesAndNewlines)
        }
        ada = try token(["create", "ada", "--role", "admin"])
        revoked = try token(["create", "ben", "--role", "admin"])
        let id = try #require(try token(["list"]).firstMatch(of: #/(\w{6})  ben/#)?.1)
        _ = try token(["revoke", String(id)])
        _ = try token(["guests", "--local", "none"])
        server = try RunningServer(
            folder,
            [
                "--config", folder.path + "/own/serve.toml", "--audit", folder.path + "/own/audit", "--listen",
                "127.0.0.1:0",
                "--tls-cert", folder.path + "/own/cert.pem", "--tls-key", folder.path + "/own/cert.key",
            ], logPath: folder.path + "/log", launcher: Stranger.isThere ? Stranger.launcher : [])
        #expect(try hand(["create", "list"]).status == 0)
        try add("first")
    }

    @discardableResult
    private func hand(_ arguments: [String], as token: String? = nil) throws -> Binary.Outcome {
        var environment = [
            "XDG_STATE_HOME": path("state"), "XDG_CONFIG_HOME": path("config"), "HAND_NAME": "ada",
            "HAND_URL": "hand+unix://\(server.socket)/list",
        ]
        environment["HAND_TOKEN"] = token ?? ada
        if token == "" { environment["HAND_TOKEN"] = nil }
        return try Binary.run(arguments, environment: environment)
    }

    func add(_ text: String) throws {
        let outcome = try hand(["add", text])
        if outcome.status == 0 { acknowledged.append(text) }
    }

    func expectRights(_ what: String) throws {
        #expect(try hand(["lists"], as: "").status == 5, "\(what): a guest")
        #expect(try hand(["lists"], as: revoked).status == 5, "\(what): a revoked token")
    }

    /// Checks that the server continues, whoever else is admitted.
    func expectServed(_ what: String) throws {
        server.hangUp()
        try add(what)
        try expectRights(what + ", served")
        let changed = try hand(["token", "guests", "--remote", "none", "--data", path("data")])
        if changed.status != 0 {
            #expect(changed.status == 1 && changed.messages.contains("hand: "), "\(what): \(changed)")
        }
    }

    /// Checks that admitted clients find everything, or that the server says why it does not start.
    func expectStart(_ what: String, refused refusal: String?) throws {
        if let refusal {
            #expect(server.greeting.isEmpty, "\(what): it starts")
            guard server.greeting.isEmpty else { return }
            #expect([1, 2, 3].contains(server.waitForEnd()), "\(what): \(log)")
            let said = log.split(separator: "\n").last.map(String.init) ?? ""
            #expect(said.hasPrefix("hand: ") && said.contains(refusal), "\(what): \(said)")
        } else {
            #expect(!server.greeting.isEmpty, "\(what): \(log)")
            try expectRights(what + ", started")
        }
    }

    func expectAll(_ what: String) throws {
        #expect(!server.greeting.isEmpty, "\(what), undone: \(log)")
        let found = try hand(["ls"])
        #expect(found.status == 0, "\(what), undone: \(found.messages)")
        for text in acknowledged { #expect(found.output.contains(text), "\(what), undone: \(text) is lost") }
    }
}
