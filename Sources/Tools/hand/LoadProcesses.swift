import Foundation
import HandLoad

/// A load test in several processes. This process makes the lists and starts the others, each with a part of the
/// clients. The processes begin together and compare their lists at the end; their results are added up.
struct LoadProcesses {
    private let load: Load
    private let plan: LoadPlan

    init(_ load: Load, _ plan: LoadPlan) {
        self.load = load
        self.plan = plan
    }

    /// The line that a process prints while it waits for the others.
    private static let waiting = "waiting"

    func run() throws -> LoadResult {
        if plan.makesLists { try LoadRun.makeLists(plan, progress: load.tell) }
        let processes = try (0..<load.processes).map(start)
        // The processes wait twice: when all clients are connected, and when all edits are answered.
        for _ in 0..<2 {
            for process in processes { try process.expect(Self.waiting) }
            for process in processes { process.say("go") }
        }
        return LoadResult.joined(try processes.map { try $0.result() })
    }

    private func start(_ number: Int) throws -> Part {
        var arguments = CommandLine.arguments.dropFirst().filter { $0 != "--json" }
        arguments += ["--part", "\(number)/\(load.processes)/\(plan.seed)"]
        return try Part(Array(arguments))
    }

    // MARK: In a child process

    /// Reduces a plan to this process's part. `part` holds its number, the number of processes, and the common seed.
    static func adapt(_ plan: inout LoadPlan, to part: String) throws {
        let numbers = part.split(separator: "/").compactMap { UInt64($0) }
        guard numbers.count == 3, numbers[0] < numbers[1] else {
            throw Failure(.usage, "--part is for processes that hand load starts itself")
        }
        let (number, count) = (Int(numbers[0]), Int(numbers[1]))
        plan.own = plan.clients * number / count..<plan.clients * (number + 1) / count
        plan.seed = numbers[2]
        plan.makesLists = false
        // Only one process asks the server for its metrics.
        if number > 0 { plan.status = nil }
    }

    /// Waits until the first process reports that all others have reached this point.
    static func waitForOthers() {
        Output.line(waiting)
        _ = readLine()
    }

    static func report(_ result: LoadResult) throws {
        Output.line(String(decoding: try JSONEncoder().encode(result), as: UTF8.self))
    }
}

/// A child process that runs a part of the clients.
private final class Part {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var received = Data()

    init(_ arguments: [String]) throws {
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = arguments
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    func say(_ text: String) {
        try? input.fileHandleForWriting.write(contentsOf: Data((text + "\n").utf8))
    }

    func expect(_ line: String) throws {
        guard try next() == line else { throw ended() }
    }

    func result() throws -> LoadResult {
        guard let line = try next(), let result = try? JSONDecoder().decode(LoadResult.self, from: Data(line.utf8))
        else { throw ended() }
        process.waitUntilExit()
        return result
    }

    /// The child has printed the reason on standard error.
    private func ended() -> Failure {
        process.terminate()
        return Failure(.unreachable, "a process of the test ended early")
    }

    private func next() throws -> String? {
        while true {
            if let end = received.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: received[..<end], as: UTF8.self)
                received = Data(received[(end + 1)...])
                return line
            }
            let more = output.fileHandleForReading.availableData
            if more.isEmpty { return nil }
            received += more
        }
    }
}
