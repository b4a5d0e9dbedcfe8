import ArgumentParser
import Foundation

/// `swift run -c release hand-soak`: the real server behind a network with faults, and clients that do all that clients
/// can, for hours. Nothing may be lost, doubled or different at the end, and nothing may grow.
@main
struct Soak: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hand-soak", abstract: "Let clients work for hours with a server that is killed and a bad network."
    )

    @Option(help: "Seconds of faults.") var seconds = 3_600
    @Option(help: "Clients at one time.") var clients = 8
    @Option(help: "The seed of all choices; without one a random one, which is printed.") var seed: UInt64?
    @Option(help: "Seconds between two lines.") var interval = 10
    @Flag(help: "Print the result as JSON, and nothing else on standard output.") var json = false

    func validate() throws {
        guard seconds > 0, interval > 0, (1...500).contains(clients) else {
            throw ValidationError("Seconds, clients and the interval are positive; there are at most 500 clients.")
        }
        guard seconds / interval >= 8 else {
            throw ValidationError("So few samples say nothing about growth: have at least eight intervals.")
        }
    }

    func run() async throws {
        let seed = seed ?? .random(in: 0...UInt64.max)
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("hand-soak-" + UUID().uuidString.prefix(8)).path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let isQuiet = json
        let tell: @Sendable (String) -> Void = { line in
            (isQuiet ? FileHandle.standardError : .standardOutput).write(Data((line + "\n").utf8))
        }
        tell("seed \(seed), data in \(folder)")
        let verdict = try await Run(
            seconds: seconds, clients: clients, seed: seed, interval: interval, folder: folder, tell: tell
        ).run()
        print(json ? try verdict.json : verdict.text)
        // What was found wrong can be looked at in the folder.
        guard verdict.holds else { throw ExitCode.failure }
        try FileManager.default.removeItem(atPath: folder)
    }
}
