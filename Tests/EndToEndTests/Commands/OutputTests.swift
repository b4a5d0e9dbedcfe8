import FaultyNetwork
import Foundation
import HandCore
import HandTestSupport
import Testing

/// Destinations of data: standard output that is full, closed or a pipe, and special files.
@Suite(.serialized, .timeLimit(.minutes(5))) struct OutputTests {
    static let items = 4_000

    let server: RunningServer
    let environment: [String: String]
    var folder: String { server.folder.path }

    init() async throws {
        server = try RunningServer(try TemporaryFolder(), ["--listen", "127.0.0.1:0"])
        environment = [
            "HAND_URL": "hand+unix://\(server.socket)/list", "HAND_NAME": "ada", "HAND": Binary.path,
            "XDG_STATE_HOME": server.folder.path + "/state", "XDG_CONFIG_HOME": server.folder.path + "/config",
        ]
        let client = try server.client()
        try await client.create("list")
        let list = try await client.open("list")
        let items = tasks(Self.items)
        try await list.edit { _ in Delta.inserting(items, at: 0, .after) }
        _ = try await list.settled()
        await client.close()
    }

    /// Runs a shell script in the folder; `$HAND` is the command.
    private func shell(_ script: String) throws -> Binary.Outcome {
        try Binary.run(["-c", "cd \(folder) && \(script)"], environment: environment, program: "/bin/sh")
    }

    @Test func failedWritesAreReported() throws {
        for command in ["ls", "ls --json", "export", "log", "lists", "--help"] {
            let full = try shell("$HAND \(command) > /dev/full")
            #expect(full.status == 1, "\(command)")
            #expect(full.messages == "hand: cannot write to standard output: no space left on device\n", "\(command)")
            let closed = try shell("$HAND \(command) >&-")
            #expect(closed.status == 1, "\(command)")
            #expect(closed.messages == "hand: cannot write to standard output: bad file descriptor\n", "\(command)")
        }
        // No file that the command opened took the place of the closed output.
        #expect(try shell("$HAND add x <&- >&- 2>&-").status == 0)
        #expect(try shell("$HAND ls").output.split(separator: "\n").count == Self.items + 1)
    }

    /// A command whose result cannot be written says what it has done all the same.
    @Test func whatIsDoneIsSaidWithoutOutput() throws {
        let full = "hand: cannot write to standard output: no space left on device. Yet it is done: "
        let data = folder + "/data"
        for (command, action) in [
            ("add x --json", "revision 2\n"), ("rename list new --json -q", "'list' is now called 'new'\n"),
            ("backup copy --data \(data)", "wrote copy: 1 list, 2 commits, everything is sound\n"),
            ("token create ada --data \(data)", "there is a new token. To end it: hand token revoke "),
        ] {
            let outcome = try shell("$HAND \(command) > /dev/full")
            #expect(outcome.status == 1 && outcome.messages.contains(full + action), "\(outcome)")
        }
        #expect(try shell("$HAND lists").output == "new\t\(Self.items + 1) items\trevision 2\n")
    }

    /// A reader of the output may take longer than the server may.
    @Test func aReaderMayTakeLong() throws {
        let proxy = try FaultyProxy(to: try server.tcpAddress(), seed: 1)
        proxy.change { $0.down.isSilent = true }
        let outcome = try shell(
            """
            { $HAND log --timeout 1; echo $? >&2; } |
                { $HAND ls --timeout 1.5 --url hand://127.0.0.1:\(proxy.address.port)/list 2>/dev/null; cat; }
            """)
        #expect(outcome.messages == "0\n")
        #expect(outcome.output.split(separator: "\n").count == Self.items + 1)
    }

    @Test func aReaderMayLeave() throws {
        let outcome = try shell("{ $HAND ls; echo $? >&2; } | head -n 1")
        #expect(outcome.messages == "0\n")
        #expect(outcome.output.split(separator: "\n").count == 1)
    }

    /// A watcher with nothing to write also notices that nobody reads any longer.
    @Test func aReaderOfAWatcherMayLeave() throws {
        let outcome = try shell("{ $HAND watch --json; echo $? >&2; } | head -n 1 | cut -c1-20")
        #expect(outcome.messages == "0\n" && outcome.output.hasPrefix("{\"revision\":1"))
    }

    /// Each write is a packet of its own here.
    @Test func dataIsWrittenInLargePieces() throws {
        for command in [["ls"], ["ls", "--json"], ["export"], ["log"]] {
            var ends: [Int32] = [0, 0]
            #expect(socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &ends) == 0)
            let process = Process()
            process.executableURL = URL(fileURLWithPath: Binary.path)
            process.arguments = command
            process.environment = outerEnvironment.merging(environment) { $1 }
            process.standardOutput = FileHandle(fileDescriptor: ends[1])
            try process.run()
            close(ends[1])
            var sizes: [Int] = []
            var buffer = [UInt8](repeating: 0, count: 1 << 20)
            while case let count = recv(ends[0], &buffer, buffer.count, 0), count > 0 { sizes.append(count) }
            close(ends[0])
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
            let sum = sizes.reduce(0, +)
            #expect(sum > 60_000, "\(command)")
            #expect(sizes.count <= sum / (64 << 10) + 1, "\(command): \(sizes)")
        }
    }

    /// A nonblocking reader gets as much at a time as there is room for.
    @Test func dataReadInPartsIsComplete() throws {
        var ends: [Int32] = [0, 0]
        #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        var room: Int32 = 5_000
        #expect(setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &room, socklen_t(MemoryLayout.size(ofValue: room))) == 0)
        #expect(fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: Binary.path)
        process.arguments = ["ls"]
        process.environment = outerEnvironment.merging(environment) { $1 }
        process.standardOutput = FileHandle(fileDescriptor: ends[1])
        try process.run()
        close(ends[1])
        var (taken, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 3_001))
        while case let count = recv(ends[0], &buffer, buffer.count, 0), count > 0 { taken += buffer[..<count] }
        close(ends[0])
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(try String(decoding: taken, as: UTF8.self) == shell("$HAND ls").output)
    }

    @Test func theHomeFolderComesFromTheEnvironment() throws {
        let home = folder + "/home"
        var environment = outerEnvironment.merging(environment) { $1 }
        environment["HOME"] = home
        environment["XDG_STATE_HOME"] = nil
        environment["XDG_CONFIG_HOME"] = nil
        environment["HAND_URL"] = nil
        try FileManager.default.createDirectory(atPath: home + "/.config/hand", withIntermediateDirectories: true)
        try "url = \"hand+unix://\(server.socket)/list\"\n".write(
            toFile: home + "/.config/hand/config.toml", atomically: true, encoding: .utf8)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: Binary.path)
        process.arguments = ["add", "x"]
        process.environment = environment
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(FileManager.default.fileExists(atPath: home + "/.local/state/hand/clients"))
    }

    // MARK: Files

    private func text(_ file: String) throws -> String {
        try String(contentsOfFile: folder + "/" + file, encoding: .utf8)
    }

    @Test func anExportKeepsTheKindOfItsFile() throws {
        #expect(try shell("$HAND export plain.md -q && chmod 640 plain.md && ln -s plain.md link.md").status == 0)
        let first = try text("plain.md")
        #expect(first.split(separator: "\n").count == Self.items)
        // It is written through the link, and keeps its mode.
        #expect(try shell("$HAND add more -q && $HAND export link.md -q").status == 0)
        #expect(try text("plain.md").split(separator: "\n").count == Self.items + 1)
        #expect(try shell("readlink link.md; stat -c %a plain.md").output == "plain.md\n640\n")
        // A link whose target does not exist yet.
        #expect(try shell("mkdir sub && ln -s sub/new.md hanging.md && $HAND export hanging.md -q").status == 0)
        #expect(try text("sub/new.md") == text("plain.md"))
        // A pipe is written to, not replaced.
        let pipe = try shell(
            "mkfifo pipe.md && { cat pipe.md > copy.md & } && $HAND export pipe.md -q && wait && test -p pipe.md")
        #expect(pipe.status == 0)
        #expect(try text("copy.md") == text("plain.md"))
        if try shell("mknod full.md c 1 7").status == 0 {
            let full = try shell("$HAND export full.md; s=$?; test -c full.md && exit $s")
            #expect(full.status == 1)
            #expect(full.messages == "hand: cannot write full.md: no space left on device\n")
        }
        #expect(try shell("$HAND export sub").messages == "hand: cannot write sub: is a directory\n")
        #expect(try shell("ls -a").output.contains(".new") == false)
    }

    @Test func otherFilesAreNotOverwritten() throws {
        #expect(try shell("printf 'Dear Ada,\\n\\nkeep this.\\n' > letter.txt").status == 0)
        let refused = try shell("$HAND export letter.txt")
        #expect(refused.status == 1 && refused.messages.contains("--force"))
        #expect(try text("letter.txt") == "Dear Ada,\n\nkeep this.\n")
        #expect(try shell("$HAND export letter.txt --force -q").status == 0)
        // An export and an empty file may be overwritten.
        #expect(try shell("$HAND export letter.txt -q && : > empty.jsonl && $HAND export empty.jsonl -q").status == 0)
        #expect(try text("empty.jsonl").split(separator: "\n").count == Self.items)
        #expect(try shell("$HAND export empty.jsonl --format markdown -q").status == 1)
    }

    @Test func anUnknownFileEndingIsRefused() throws {
        let outcome = try shell("$HAND export foo.abc")
        #expect(outcome.status == 2)
        let formats = "jsonl (.jsonl), markdown (.md), todotxt (.txt), csv (.csv)"
        #expect(outcome.messages.contains(formats), "\(outcome.messages)")
        #expect(try shell("$HAND export foo.abc --format todotxt -q && $HAND export a.b/../plain -q").status != 2)
        #expect(try shell("mkdir -p a.b && $HAND export a.b/plain -q && head -c 1 a.b/plain").output == "{")
    }

    // MARK: Terminals

    /// On a terminal, `ls` has colours and marks line breaks, and `lists` has columns. In a pipe, both are plain.
    @Test func terminalsGetColoursAndColumns() throws {
        let user = try CommandUser()
        for name in ["list", "買い物", "Summer trip"] { try user.hand("create", name) }
        try user.hand("add", "milk", "call @bob due:2020-01-01 for @ada", "two\nlines", "-q")
        try user.hand("add", "--heading", "Food", "-q")
        try user.hand("done", "1", "-q")
        func shown(_ command: String, _ more: [String: String] = [:]) throws -> [String] {
            let environment = user.environment.merging(["TERM": "xterm", "NO_COLOR": ""]) { $1 }.merging(more) { $1 }
            return try Binary.run(
                ["-qec", "\(Binary.path) \(command)", "/dev/null"], environment: environment, program: "/usr/bin/script"
            ).output.split(separator: "\r\n").map {
                String($0).replacing(#/^(\d) +(\u{1B}\[2m)?@?[0-9a-z]+(\u{1B}\[0m)?/#) { "\($0.1)  id" }
            }
        }
        let end = "\u{1B}[0m"
        #expect(
            try shown("ls") == [
                "1  id  \u{1B}[2m[x] milk\(end)",
                "2  id  [ ] call \u{1B}[35m@bob\(end) \u{1B}[1;31mdue:2020-01-01\(end) for \u{1B}[1;35m@ada\(end)",
                "3  id  [ ] two\u{1B}[2m↵\(end) lines", "4  id  \u{1B}[1m## Food\(end)",
            ])
        let plain = [
            "1  id  [x] milk", "2  id  [ ] call @bob due:2020-01-01 for @ada", "3  id  [ ] two lines", "4  id  ## Food",
        ]
        for setting in [["NO_COLOR": "1"], ["TERM": "dumb"]] { #expect(try shown("ls", setting) == plain) }
        #expect(try user.lines() == plain.map { String($0.dropFirst(7)) })
        #expect(
            try shown("lists") == [
                "Summer trip  0 items  revision 0", "list         4 items  revision 3", "買い物       0 items  revision 0",
            ])
        #expect(try user.hand("lists").contains("\nlist\t4 items\trevision 3\n"))
    }
}
