import Foundation
import HandClient
import HandCore
import HandTestSupport
import Testing

/// The rights of other users on a server's files.
@Suite(.serialized) struct ModesTests {
    private let folder: TemporaryFolder
    private var data: String { folder.path + "/data" }

    init() throws { folder = try TemporaryFolder() }

    /// Returns files and folders below the test's own to which other users have any access.
    private func open() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { name in
            let facts = try FileManager.default.attributesOfItem(atPath: folder.path + "/" + name)
            return (facts[.posixPermissions] as? Int ?? 0) & 0o077 != 0
        }
    }

    private func shell(_ command: String) throws {
        let environment = [
            "XDG_STATE_HOME": folder.path + "/state", "XDG_CONFIG_HOME": folder.path + "/config", "HAND_DATA": data,
            "HAND_URL": "hand+unix://\(folder.path)/hand.sock/list",
        ]
        let outcome = try Binary.run(
            ["-c", "umask 0; hand() { \(Binary.path) \"$@\"; }; " + command], environment: environment,
            program: "/bin/sh")
        #expect(outcome.status == 0, "\(outcome.messages)")
    }

    /// A backup that has no room says which disk is full, and leaves nothing there.
    @Test(.enabled(if: OfflineCommandTests.canMount, "needs root")) func aFullDiskIsNamed() throws {
        let server = try RunningServer(folder)
        defer { server.kill() }
        try shell("hand create list && hand add milk && mkdir \(folder.path)/small")
        let (small, backup) = ("\(folder.path)/small", "'\(Binary.path)' backup --data \(data)")
        let outcome = try Binary.run(
            ["-m", "sh", "-c", "mount -t tmpfs -o size=16k none \(small) && \(backup) \(small)/b; ls -A \(small)"],
            program: "/usr/bin/unshare")
        #expect(outcome.output == "" && outcome.messages.hasPrefix("hand: \(small)/b.partial: "), "\(outcome)")
    }

    /// Under a umask that gives everybody all rights.
    @Test func newFilesAreForTheirOwner() throws {
        let server = try RunningServer(folder, ["--audit", folder.path + "/audit"], launcher: RunningServer.laxUmask)
        defer { server.kill() }
        try shell("hand create list && hand add milk && hand token create ada")
        try shell("hand backup \(folder.path)/copy && hand admin backup \(folder.path)/second && hand ls")
        #expect(try open() == [])
        server.kill()
        try shell("hand add --queue --timeout 1 eggs; hand recover --replace \(folder.path)/copy")
        #expect(try open() == [])
        try FileManager.default.removeItem(atPath: data)
        try shell("hand recover \(folder.path)/second")
        #expect(try open() == [])
    }

    /// Access that an older version gave to everybody is removed; the folder's owner is told who can write to it.
    @Test func openFilesAreMadePrivate() throws {
        let log = folder.path + "/log"
        let server = try RunningServer(folder, ["--log-level", "warning"], logPath: log)
        defer { server.kill() }
        try shell("hand create list && hand add milk && hand token guests --remote none")
        server.kill()
        try shell(
            "chmod 666 \(data)/*lite* \(folder.path)/state/hand/clients/*/*; chmod 777 \(data); chmod 604 \(data)/access.json"
        )
        try server.start()
        try shell("hand ls")
        #expect(try open().filter { !$0.hasSuffix("log") } == ["data"])
        #expect(try String(contentsOfFile: log, encoding: .utf8).contains("chmod go-w"))
    }
}

/// A store whose files are removed or replaced while it is served. Acknowledged edits are saved, and nothing more is
/// acknowledged.
@Suite(.serialized) struct RemovedStoreTests {
    private let server: RunningServer
    private let folder: TemporaryFolder
    private var data: String { folder.path + "/data" }
    private var log: String { (try? String(contentsOfFile: folder.path + "/log", encoding: .utf8)) ?? "" }

    init() throws {
        folder = try TemporaryFolder()
        server = try RunningServer(folder, logPath: folder.path + "/log")
    }

    enum Loss: String, CaseIterable {
        case database = "rm hand.sqlite"
        case log = "rm hand.sqlite-wal"
        case everything = "rm hand.sqlite hand.sqlite-wal hand.sqlite-shm"
        case folder = "cd .. && rm -r data"
        case another = "cp hand.sqlite other && mv other hand.sqlite"
    }

    private static func insertion(_ text: String) -> Delta {
        var random = SystemRandomNumberGenerator()
        return Delta.inserting([Item(id: .random(using: &random), content: .note(text))], at: 0, .after)
    }

    private func lose(_ loss: Loss) throws {
        #expect(try Binary.run(["-c", "cd \(data) && \(loss.rawValue)"], program: "/bin/sh").status == 0)
    }

    private func expectAllSaved(_ count: Int) throws {
        #expect(server.waitForEnd() == 1)
        let file = try #require(log.firstMatch(of: #/saved in (\S+\.saved-[0-9]+):/#)?.1, "\(log)")
        #expect(try Binary.run(["verify", String(file)]).status == 0)
        let recovered = try Binary.run(["recover", "--replace", String(file), "--data", data])
        #expect(recovered.status == 0, "\(recovered.messages)")
        let stored = try server.stored("list")
        #expect(stored.hand.count >= count)
    }

    @Test(arguments: Loss.allCases) func aLossIsNoticedByAWrite(_ loss: Loss) async throws {
        defer { server.kill() }
        let ada = try server.client("ada")
        try await ada.create("list")
        let list = try await ada.open("list")
        for number in 0..<5 {
            try await list.edit { _ in Self.insertion("\(number)") }
            #expect(try await list.settled().rejections.isEmpty)
        }
        try lose(loss)
        // The server may end by itself before it receives the edit; it must not acknowledge it.
        try? await list.edit { _ in Self.insertion("late") }
        try expectAllSaved(5)
        #expect(try await list.state().pendingCount == 1)
        await ada.close()
    }

    @Test(arguments: Loss.allCases) func aLossIsNoticedWithoutWrites(_ loss: Loss) throws {
        defer { server.kill() }
        for arguments in [["create", "list"], ["add", "-l", "list", "milk"]] {
            let outcome = try Binary.run(
                arguments + ["--url", "hand+unix://\(server.socket)"], environment: ["XDG_STATE_HOME": folder.path])
            #expect(outcome.status == 0, "\(outcome.messages)")
        }
        try lose(loss)
        try expectAllSaved(1)
    }

    /// Nothing is acknowledged that went into the log of another database, and that log is not applied to the copy.
    @Test(arguments: ["cat backup > hand.sqlite", "cat old > hand.sqlite", ": > hand.sqlite"])
    func aDatabaseThatIsOverwrittenEndsTheServer(_ command: String) throws {
        defer { server.kill() }
        func hand(_ arguments: String...) throws -> Binary.Outcome {
            try Binary.run(
                arguments,
                environment: [
                    "XDG_STATE_HOME": folder.path, "HAND_DATA": data, "HAND_URL": "hand+unix://\(server.socket)",
                ])
        }
        #expect(try hand("create", "list").status == 0)
        #expect(try hand("add", "milk").status == 0)
        #expect(try hand("admin", "backup", data + "/backup").status == 0)
        server.signal(SIGTERM)
        #expect(server.waitForEnd() == 0)
        #expect(try Binary.run(["-c", "cp \(data)/hand.sqlite \(data)/old"], program: "/bin/sh").status == 0)
        try server.start()
        #expect(try hand("add", "eggs").status == 0)
        #expect(try Binary.run(["-c", "cd \(data) && \(command)"], program: "/bin/sh").status == 0)
        #expect(try hand("add", "--timeout", "2", "late").status != 0)
        #expect(server.waitForEnd() == 1)
        let kept = try #require(log.firstMatch(of: #/may be in (\S+overwritten-[0-9]+)\./#)?.1, "\(log)")
        #expect(FileManager.default.fileExists(atPath: String(kept)))
        guard !command.hasPrefix(":") else { return }
        try server.start()
        let next = try hand("add", "bread")
        #expect(next.status == 0, "\(next.messages)")
        #expect(try hand("show").output.contains(/milk[^\0]*bread/))
        #expect(try !hand("show").output.contains("late"))
    }
}
