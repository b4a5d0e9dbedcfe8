import EventLoop
import FoundationEssentials
import Glibc
import HandLoad

/// A load test in several processes. This process makes the lists and starts the others, each with a part of the
/// clients. The processes begin together and compare their lists at the end; their results are added up.
struct LoadProcesses {
    private let load: Load
    private let plan: LoadPlan

    /// The number of processes: at most one per client.
    private let count: Int

    init(_ load: Load, _ plan: LoadPlan) {
        self.load = load
        self.plan = plan
        count = min(load.processes, plan.clients)
    }

    /// The line that a process prints while it waits for the others.
    private static let waiting = "waiting"

    func run() throws -> LoadResult {
        if plan.makesLists { try LoadRun.run(plan, onlyMakesLists: true, progress: load.tell) }
        // A process that has ended is noticed by its missing answer.
        signal(SIGPIPE, SIG_IGN)
        let processes = try (0..<count).map(start)
        Self.pass(plan.endings, to: processes.map(\.process))
        // The processes wait twice: when all clients are connected, and when all edits are answered.
        for _ in 0..<2 {
            for process in processes { try process.expect(Self.waiting) }
            for process in processes { process.say("go") }
        }
        return LoadResult.joined(try processes.map { try $0.result() })
    }

    /// Passes each signal that arrives to the other processes. The processes are in groups of their own, so that each
    /// process gets the signal once, whoever sends it.
    private static func pass(_ numbers: [Int32], to processes: [pid_t]) {
        Threads.start("hand signals") {
            guard let loop = try? Loop() else { return }
            let signals = numbers.map { number in
                try? Signal(loop, number) { for process in processes { kill(process, number) } }
            }
            withExtendedLifetime(signals) { loop.run() }
        }
    }

    private func start(_ number: Int) throws -> Part {
        var arguments = CommandLine.arguments.dropFirst().filter { $0 != "--json" }
        arguments += ["--part", "\(number)/\(count)/\(plan.seed)"]
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
        Threads.start("hand first process") {
            // Without the first process, nobody would end the test.
            var input = pollfd(fd: 0, events: 0, revents: 0)
            while poll(&input, 1, -1) < 0 {}
            _exit(ExitStatus.error.rawValue)
        }
    }

    /// Waits until the first process reports that all others have reached this point.
    static func waitForOthers() {
        Output.data(waiting + "\n")
        _ = readLine()
    }

    static func report(_ result: LoadResult) throws {
        Output.data(String(decoding: try JSONEncoder().encode(result), as: UTF8.self) + "\n")
    }
}

/// A child process that runs a part of the clients.
private final class Part {
    private(set) var process: pid_t = 0
    /// The end of the child's standard input to write to, and the end of its standard output to read from.
    private let input: Int32
    private let output: Int32
    private var received: [UInt8] = []

    init(_ arguments: [String]) throws {
        let (down, up): (SystemPipe, SystemPipe)
        do throws(UVError) { (down, up) = (try SystemPipe(blocks: true), try SystemPipe(blocks: true)) } catch {
            throw Self.failure("\(error)")
        }
        // Only this child gets the other ends, so that it notices when this process ends.
        (input, output) = (down.writer, up.reader)
        var streams = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&streams)
        posix_spawn_file_actions_adddup2(&streams, down.reader, 0)
        posix_spawn_file_actions_adddup2(&streams, up.writer, 1)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
        posix_spawnattr_setpgroup(&attributes, 0)
        var words = (CommandLine.arguments.prefix(1) + arguments).map { strdup($0) } + [nil]
        let status = posix_spawn(&process, "/proc/self/exe", &streams, &attributes, &words, environ)
        for word in words { free(word) }
        posix_spawn_file_actions_destroy(&streams)
        posix_spawnattr_destroy(&attributes)
        for end in [down.reader, up.writer] { close(end) }
        guard status == 0 else { throw Self.failure(String(cString: strerror(status))) }
    }

    deinit {
        for end in [input, output] { close(end) }
    }

    private static func failure(_ reason: String) -> Failure {
        Failure(.unreachable, "a process of the test did not start: \(reason)")
    }

    func say(_ text: String) {
        let line = Array((text + "\n").utf8)
        _ = write(input, line, line.count)
    }

    func expect(_ line: String) throws {
        guard try next() == line else { throw ended() }
    }

    func result() throws -> LoadResult {
        guard let line = try next(), let result = try? JSONDecoder().decode(LoadResult.self, from: Data(line.utf8))
        else { throw ended() }
        waitpid(process, nil, 0)
        return result
    }

    /// The child has printed the reason on standard error.
    private func ended() -> Failure {
        kill(process, SIGTERM)
        return Failure(.unreachable, "a process of the test ended early")
    }

    private func next() throws -> String? {
        while true {
            if let end = received.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: received[..<end], as: UTF8.self)
                received.removeFirst(end + 1 - received.startIndex)
                return line
            }
            var more = [UInt8](repeating: 0, count: 1 << 16)
            let count = read(output, &more, more.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return nil }
            received += more[..<count]
        }
    }
}
