import EventLoop
import FaultyNetwork
import Foundation
import HandTestSupport
import Testing

/// A load test always tells what it measured.
@Suite struct LoadCommandTests {
    let user: CommandUser
    private let script: String

    init() throws {
        user = try CommandUser()
        script = "\(user.server.folder.path)/script.load"
        try "loop\nadd \"{client}\" at random\npause 1ms\nend\n".write(
            toFile: script, atomically: true, encoding: .utf8)
    }

    private var folder: String { user.server.folder.path }

    /// Whoever ends a test early sees its result so far, in all files, too; also if several processes play the clients,
    /// and only the first one gets the signal.
    @Test(arguments: [(1, SIGINT), (1, SIGTERM), (3, SIGINT), (2, SIGHUP)])
    func aTestThatIsEndedEarlyTellsItsResult(processes: Int, signal: Int32) throws {
        let files = ["csv", "histogram", "html"].map { "\(folder)/result.\($0)" }
        let options = zip(["--csv", "--histogram", "--html"], files).flatMap { [$0, $1] }
        _ = FileManager.default.createFile(atPath: "\(folder)/out", contents: nil)
        let command = try RunningCommand(
            [
                "load", script, "-l", "load", "--clients", "7", "--duration", "10m", "--processes", "\(processes)",
                "--json",
            ]
                + options,
            user.environment, "\(folder)/said", output: FileHandle(forWritingAtPath: "\(folder)/out"))
        #expect(try eventually { try user.run(["ls", "-l", "load"]).output.split(separator: "\n").count > 20 })
        kill(command.process.processIdentifier, signal)
        let end = try command.end()
        #expect(end.status == 0, "\(end.messages)")
        let summary = try #require(
            String(contentsOfFile: "\(folder)/out", encoding: .utf8).split(separator: "\n").last)
        #expect(summary.contains("\"clients\":7,") && summary.contains("\"agreed\":7"), "\(summary)")
        for file in files { #expect(try !String(contentsOfFile: file, encoding: .utf8).isEmpty) }
    }

    /// What cannot be written is found out before the test.
    @Test(arguments: ["--csv", "--histogram", "--html"])
    func aResultThatCannotBeWrittenIsToldBefore(option: String) throws {
        for (path, reason) in [
            ("\(folder)/missing/result", "no such file or directory"), (folder, "is a directory"),
            ("\(script)/result", "not a directory"),
        ] {
            let said = try user.hand("load", script, "-l", "load", option, path, expecting: 1)
            #expect(said == "hand: cannot write \(path): \(reason)\n")
        }
        #expect(try user.hand("lists") == "")
    }

    /// What fails only at the end does not take the result with it.
    @Test func theResultIsPrintedBeforeItIsWritten() throws {
        let outcome = try user.run([
            "load", script, "-l", "load", "--duration", "100ms", "--csv", "/dev/full", "--json",
        ])
        #expect(outcome.status == 1)
        #expect(outcome.output.contains("\"converged\":true"))
        #expect(outcome.messages == "hand: cannot write /dev/full: no space left on device\n")
    }

    /// If the server's figures cannot be read at the end, nothing else of the result is lost.
    @Test func figuresThatAreGoneAreToldWithTheRest() throws {
        let options = ["load", script, "--clients", "2", "--duration", "10m", "--json", "--server-status"]
        let missing = try user.run(options + ["127.0.0.1:1"])
        #expect(missing.status == 6, "\(missing)")
        #expect(missing.messages.contains("the server's figures at 127.0.0.1:1 cannot be read"), "\(missing)")
        let server = try RunningServer(try TemporaryFolder(), ["--listen", "127.0.0.1:0", "--status", "127.0.0.1:0"])
        let ports = server.greeting.matches(of: /127\.0\.0\.1:([0-9]+)/).compactMap { UInt16($0.output.1) }
        let status = try FaultyProxy(to: try SocketAddress(ip: "127.0.0.1", port: try #require(ports.last)), seed: 1)
        _ = FileManager.default.createFile(atPath: "\(folder)/out", contents: nil)
        let command = try RunningCommand(
            options + ["\(status.address)", "--url", "hand://127.0.0.1:\(ports[0])"], user.environment,
            "\(folder)/said", output: FileHandle(forWritingAtPath: "\(folder)/out"))
        // The figures were read at the beginning.
        #expect(try eventually { try status.traffic.bytes > 1_000 && server.figure("commits") > 0 })
        status.close()
        command.process.interrupt()
        let end = try command.end()
        let out = try String(contentsOfFile: "\(folder)/out", encoding: .utf8)
        let told = try #require(out.split(separator: "\n").last)
        #expect(end.status == 0, "\(end)")
        #expect(told.contains("\"server\":null,\"converged\":true") && told.contains("cannot be read"), "\(told)")
    }

    /// Every client is played once, also if no number of processes divides them.
    @Test(arguments: [(7, 3), (5, 2), (2, 5)])
    func processesShareTheClients(clients: Int, processes: Int) throws {
        try "loop 2\nadd \"{client}\"\nend\n".write(toFile: script, atomically: true, encoding: .utf8)
        let summary = try user.hand(
            "load", script, "-l", "load", "--clients", "\(clients)", "--processes", "\(processes)", "--json")
        #expect(summary.contains("\"clients\":\(clients),") && summary.contains("\"agreed\":\(clients)"), "\(summary)")
        #expect(try user.lines("-l", "load").sorted() == (1...clients).flatMap { ["[ ] \($0)", "[ ] \($0)"] }.sorted())
    }

    /// Clients of both kinds and several processes, with and without TLS, as browsers connect.
    @Test func clientsConnectAsBrowsersDo() throws {
        let certificates = try Certificates(user.server.folder)
        let own = try certificates.make("server", for: "IP:127.0.0.1")
        for options in [[], ["--tls-cert", own.certificate, "--tls-key", own.key]] {
            let folder = try TemporaryFolder()
            let server = try RunningServer(folder, ["--web", "127.0.0.1:0"] + options)
            let found = try #require(server.greeting.firstMatch(of: /(https?):(\/\/127\.0\.0\.1:[0-9]+)/)).output
            let url = (found.1 == "https" ? "hands:" : "hand:") + found.2
            for more in [["--light"], ["--processes", "2"]] {
                let outcome = try Binary.run(
                    ["load", script, "--url", url, "--web", "--clients", "5", "--duration", "500ms", "--json"] + more,
                    environment: ["HAND_CA": certificates.authority])
                #expect(outcome.status == 0 && outcome.output.contains("\"agreed\":5"), "\(outcome)")
                #expect(outcome.output.contains("\"web\":true"))
            }
            #expect(server.terminate() == 0)
        }
    }

    /// An address where no WebSockets are served.
    @Test func aServerWithoutWebSocketsIsTold() throws {
        let server = try RunningServer(try TemporaryFolder(), ["--listen", "127.0.0.1:0", "--status", "127.0.0.1:0"])
        let ports = server.greeting.matches(of: /127\.0\.0\.1:([0-9]+)/).map(\.output.1)
        for port in ports {
            let outcome = try Binary.run(["load", script, "--url", "hand://127.0.0.1:\(port)", "--web"])
            #expect(outcome.status == 6, "\(outcome)")
            #expect(outcome.messages.contains("the server does not go on as a WebSocket"), "\(outcome)")
        }
    }

    @Test func aMissingServerIsToldAsElsewhere() throws {
        user.server.kill()
        let elsewhere = try user.hand("ls", expecting: 6)
        #expect(elsewhere.hasPrefix("hand: no server answers at "))
        #expect(try user.hand("load", script, "-l", "load", expecting: 6) == elsewhere)
        #expect(try user.hand("load", script, "-l", "load", "--processes", "2", expecting: 6) == elsewhere)
    }

    /// A script may come from a pipe.
    @Test func scriptsComeFromPipes() throws {
        let text = "loop 2\nadd \"{client}\"\nend\n"
        let outcome = try user.run(["load", "/dev/stdin", "-l", "load", "--clients", "2", "--json"], input: text)
        #expect(outcome.output.contains("\"commits\":4,"), "\(outcome.messages)")
        #expect(try user.hand("load", folder, expecting: 1) == "hand: cannot read \(folder): is a directory\n")
    }

    // MARK: Comparing

    /// The output of --json is what --compare reads, also if the test was too short to tell a change from noise.
    @Test func twoTestsAreCompared() throws {
        let options = ["load", script, "-l", "load", "--duration", "300ms", "--clients", "2"]
        let old = try user.run(options + ["--json", "--seed", "1"]).output
        let file = "\(folder)/old.json"
        try old.write(toFile: file, atomically: true, encoding: .utf8)
        let outcome = try user.run(options + ["--compare", file, "--threshold", "commits>-100%"])
        let lines = outcome.output.split(separator: "\n")
        #expect(outcome.status == 0, "\(outcome.messages)")
        #expect(lines.first?.hasPrefix("\(script) on 'load' at hand+unix://") == true, "\(outcome.output)")
        #expect(lines.contains("compared with \(file)"))
        #expect(lines.contains { $0.hasPrefix("commits/s ") && $0.hasSuffix(" %  too short") }, "\(outcome.output)")
        #expect(lines.last?.hasPrefix("met  commits>-100% (") == true)
        let missed = try user.run(options + ["--compare", file, "--threshold", "commits>100000%", "--json"])
        #expect(missed.status == 99 && missed.output.contains("\"bound\":\"commits>100000%\",\"met\":false"))
        #expect(missed.output.contains("\"comparison\":{\"with\":\"\(file)\""))
    }

    /// What a comparison needs is found out before the test.
    @Test func aMissingComparisonIsToldBefore() throws {
        let cases: [([String], Int32, String)] = [
            (["--threshold", "commits>-5%"], 2, "'commits>-5%' is about a change, and needs --compare"),
            (["--threshold", "rate>95%"], 2, "needs --rate"), (["--compare", script], 1, "hand: \(script): "),
            (["--compare", "\(folder)/none"], 3, "none"),
        ]
        for (options, status, text) in cases {
            let outcome = try user.run(["load", script, "-l", "load"] + options)
            #expect(outcome.status == status && outcome.messages.contains(text), "\(outcome.messages)")
        }
        #expect(try user.hand("lists") == "")
    }

    /// A rate that no client can make, and one that is enough.
    @Test func aRateThatIsNotReachedHasAnExitCode() throws {
        let options = [
            "load", script, "-l", "load", "--clients", "1", "--duration", "500ms", "--rate", "1000000",
        ]
        let outcome = try user.run(options)
        #expect(outcome.status == 98 && outcome.output.contains("asked for 1000000 edits a second, made "))
        #expect(outcome.output.contains(": NOT REACHED"))
        #expect(try user.run(options + ["--json"]).output.contains("\"rateReached\":false"))
        #expect(try user.run(options + ["--threshold", "rate>0%"]).status == 0)
    }
}
