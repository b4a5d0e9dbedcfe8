import ArgumentParser
import Foundation

/// `swift run -c release hand-soak`: the real server behind a bad network, and clients that do everything that clients
/// can, for hours. At the end, nothing may be lost, doubled or different, and nothing may have grown.
@main
struct Soak: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hand-soak", abstract: "Let clients work for hours with a server that is killed and a bad network."
    )

    @Option(help: "Seconds of faults.") var seconds = 3_600
    @Option(help: "Clients at one time.") var clients = 8
    @Option(help: "The seed of all choices; without one a random one, which is printed.") var seed: UInt64?
    @Option(help: "Seconds between two lines of output.") var interval = 10
    @Flag(help: "Print the result as JSON, and nothing else on standard output.") var json = false

    func validate() throws {
        guard seconds > 0, interval > 0, (1...500).contains(clients) else {
            throw ValidationError("Seconds, clients and the interval must be positive, and clients at most 500.")
        }
        guard seconds / interval >= 8 else {
            throw ValidationError("This is too short to measure growth: the run must have at least eight intervals.")
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
        // The folder is kept so that the faults can be examined.
        guard verdict.holds else { throw ExitCode.failure }
        try FileManager.default.removeItem(atPath: folder)
    }
}
