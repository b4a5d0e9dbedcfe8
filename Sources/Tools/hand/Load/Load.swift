import ArgumentParser
import FoundationEssentials
import Glibc
import HandClient
import HandFormats
import HandLoad

struct Load: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "load", abstract: "Put a server under load with scripted clients, and measure it.",
        discussion: """
            Clients follow lists of the server and edit them as a script says. At the end, the result reports whether every client \
            has the same list as the server. Without a script, 100 clients edit as fast as the server answers, for 10 s. With \
            --light, clients keep no copy of the list, so that the test reaches the server's limit. --show prints a \
            script as a start for your own.

            Built-in scripts:

            \(BuiltinScript.allCases.map { "  \(Output.padded($0.rawValue, 17))\($0.summary)" }
                .joined(separator: "\n"))

            \(language)

            Clients edit the list that --list, --url or the script names, never the one in $HAND_URL or in a context. A missing list is \
            made, and stays. A list with items that no load test made is refused, unless --as-is is given.

            Ctrl-C ends a test early, with the result so far. To compare two tests, keep the first: \
            hand load --json > old.json, then hand load --compare old.json. Each figure is shown side by side, with whether the \
            seconds of the two tests differ more than by chance (p is how often chance does that; from 0.01 on it is called noise). \
            That takes eight seconds of each.

            Bounds: ack.p99<20ms, seen.max<1s, commits>1000, deliveries>1000 (a second), errors<1. In percent: \
            commits>-5% and ack.p99<+10% since the test of --compare, errors<0.1% of the edits, rate>95% of what --rate asks for.

            Exit codes: 1 a client's list differed from the server's, 6 unreachable, 7 a list holds other items, \
            98 less than 99 % of --rate was reached (unless a bound says how much is enough), 99 a bound was not met.
            """)

    /// The statements of a script.
    static let language = """
        A script has one statement per line; '#' begins a comment. The statements of the first line below come before all \
        others. A role holds the statements up to the next role; other blocks end with 'end'. TEXT may hold {client}, \
        {iteration}, {random} and {role}. Here, commas separate statements:

          clients 100, items 1000, list NAME, lists N, rules max-items 5, deck
          role NAME 10 | 10% | rest     a role, and how many clients play it
          loop [N] … end                N times, or until the test is over
          choose … end                  one of them; a number before each is its weight
          add [note|task|heading] TEXT [at random|top|end|N]
          edit random to TEXT, tick random, delete end, move random to top
          deal 5, undo, redo
          pause 10ms | pause 1s to 5s
          offline 5s [with … end]       no connection; its edits are sent afterwards
          disconnect                    the client drops its connection and reconnects
          stall 1m                      does nothing, like a suspended program
          expect converged              all edits have arrived everywhere
        """

    @Argument(
        help: .init("A built-in script, a file, or - for standard input.", valueName: "script"),
        completion: Completions.scripts)
    var script = "burst"

    @Option(help: .init("The server (default: as for other commands).", valueName: "address")) var url: String?
    @OptionGroup var context: ContextOption
    @Option(
        name: .shortAndLong, help: .init("Use this list instead of the script's.", valueName: "list"),
        completion: Completions.lists)
    var list: String?
    @Option(help: "The number of clients, instead of the script's number.") var clients: Int?
    @Option(help: .init("How long to run, for example 30s or 5m.", valueName: "time")) var duration = "10s"
    @Option(help: .init("The time over which to spread the clients' connections.", valueName: "time")) var ramp =
        "0s"
    @Option(
        help: ArgumentHelp(
            "Edits per second of all clients together, sent on time even if the server falls behind; pauses are skipped.",
            valueName: "edits"))
    var rate: Double?
    @Option(help: "The seed of all random choices (default: a random seed, which is printed).") var seed: UInt64?
    @Option(help: "The number of processes for the clients.") var processes = 1
    @Flag(help: "Use clients without a copy of the list.") var light = false
    @Flag(help: "Connect as browsers do, with WebSockets: the address is that of the server's --web.") var web = false
    @Flag(help: "Distribute the clients of each list over all servers of the address, as a load balancer does.")
    var spread = false
    @Flag(help: "Use existing lists, whatever they hold: clients change and delete the items. Make and fill none.")
    var asIs = false
    @Option(
        help: ArgumentHelp(
            "Where the server reports its metrics (its --status); the result includes them.",
            valueName: "host:port")) var serverStatus: String?
    @Option(
        help: .init("A bound that must hold, such as ack.p99<20ms or commits>-5%; may be repeated.", valueName: "bound")
    )
    var threshold: [String] = []
    @Option(
        help: .init("Compare the result with an earlier one, the output of --json.", valueName: "file"),
        completion: .file()) var compare: String?
    @Flag(help: "Print JSON: what is tested, a line per second, and a summary.") var json = false
    @Option(help: .init("Write a CSV file with a line per second.", valueName: "file"), completion: .file()) var csv:
        String?
    @Option(help: .init("Write the distribution of latencies.", valueName: "file"), completion: .file()) var histogram:
        String?
    @Option(help: .init("Write a report with plots.", valueName: "file"), completion: .file()) var html: String?
    @Flag(name: .shortAndLong, help: "Print no messages.") var quiet = false
    @Option(
        help: .init("Print a built-in script, and do nothing else.", valueName: "script"),
        completion: .list(BuiltinScript.allCases.map(\.rawValue)))
    var show: String?
    /// This process's part of a test with several processes; the first process sets it.
    @Option(help: .hidden) var part: String?

    func validate() throws {
        guard (clients ?? 1) > 0, processes > 0, (rate ?? 1) > 0 else {
            throw ValidationError("--clients, --processes and --rate must be above 0.")
        }
        if let rate, rate > 1e9 { throw ValidationError("--rate must be at most 1000000000 commits per second.") }
        if script == "-", processes > 1 {
            throw ValidationError("A script from standard input is for one process; with --processes, name a file.")
        }
        for text in threshold {
            do {
                let bound = try Threshold(text)
                if bound.needsComparison, compare == nil {
                    throw ValidationError("--threshold '\(text)' is about a change, and needs --compare.")
                }
                if bound.isRate, rate == nil { throw ValidationError("--threshold '\(text)' needs --rate.") }
            } catch let error as Threshold.ParseError {
                throw ValidationError("--threshold \(error)")
            }
        }
        _ = try time(duration, "--duration")
        _ = try time(ramp, "--ramp")
    }

    private func time(_ text: String, _ option: String) throws -> Double {
        guard let seconds = Script.seconds(text) else {
            throw ValidationError("\(option) '\(text)': expected a time such as 500ms, 30s or 5m.")
        }
        return seconds
    }

    func run() throws {
        if let show { return Output.data(try Self.builtin(show).source + "\n") }
        let source = try source()
        let plan = try plan(source)
        // A test may take long, so what its result needs is checked before the test.
        for file in [csv, histogram, html] { try file.map { try ExportFile($0).expectUsable() } }
        let before = try compare.map(Self.record)
        let test = LoadTest(plan, script: script, processes: processes)
        if part == nil { if json { Output.json(LoadJSON.line(test)) } else { Output.line("\(test.line)") } }
        let result = try result(plan)
        if part != nil { return try LoadProcesses.report(result) }
        let bounds = threshold.compactMap { try? Threshold($0) }
        let comparison = before.map { LoadComparison($0, LoadRecord(test, result), name: compare ?? "") }
        tell(result, bounds, comparison)
        try write(result, bounds, comparison, source)
        if !result.isSound { Output.exit(.error) }
        if !bounds.allSatisfy({ $0.isPassed(by: result, against: before) }) { Output.exit(.threshold) }
        if !result.hasReachedRate, !bounds.contains(where: \.isRate) { Output.exit(.rate) }
    }

    /// Reads an earlier result.
    private static func record(_ file: String) throws -> LoadRecord {
        do {
            return try LoadRecord(parsing: String(decoding: try InputFile.bytes(of: file), as: UTF8.self))
        } catch let error as FormatError {
            throw Failure(.error, "\(file): \(error); keep a test with: hand load --json > FILE")
        }
    }

    private func result(_ plan: LoadPlan) throws -> LoadResult {
        do {
            let isAlone = processes == 1 || part != nil
            return try isAlone ? LoadRun.run(plan, progress: tell) : LoadProcesses(self, plan).run()
        } catch let error as LoadError where error.reason == .unreachable {
            // The same words as those of other commands, if no server listens.
            let told = ServerOptions.explained(ClientError.unreachable(error.description), at: plan.server)
            throw told is Failure ? told : error
        }
    }

    // MARK: The plan

    private static let known = BuiltinScript.allCases.map(\.rawValue).joined(separator: ", ")

    private static func builtin(_ name: String) throws -> BuiltinScript {
        guard let script = BuiltinScript(rawValue: name) else {
            throw Failure(.notFound, "there is no script '\(name)'; the built-in scripts are \(known)")
        }
        return script
    }

    private func source() throws -> String {
        if let script = BuiltinScript(rawValue: script) { return script.source }
        if script == "-" { return try StandardInput.text() }
        if access(script, F_OK) != 0 {
            throw Failure(
                .notFound, "there is no file '\(script)', and no built-in script of that name (\(Self.known))")
        }
        guard let text = String(validating: try InputFile.bytes(of: script), as: UTF8.self) else {
            throw Failure(.error, "\(script): expected text in UTF-8")
        }
        return text
    }

    /// Parses the script, and checks that its roles fit the number of clients.
    private func parsed(_ source: String) throws -> Script {
        do {
            let script = try Script(parsing: source)
            try script.checkShares(of: clients ?? script.clients)
            return script
        } catch {
            throw Failure(.usage, "\(script), \(error)")
        }
    }

    private func plan(_ source: String) throws -> LoadPlan {
        let address = try Settings.address(flag: url, list: list)
        var parsed = try parsed(source)
        // $HAND_URL and contexts name a list that people use. The clients edit only one that this command names.
        if url != nil || list != nil, let list = address.list { parsed.list = list }
        if light, parsed.needsReplicas {
            throw Failure(
                .usage,
                "\(script) uses 'edit', offline edits, undo or 'expect converged', which need a copy of the list: leave out --light"
            )
        }
        var plan = LoadPlan(
            script: parsed, server: address.server, kind: light ? .light : .full, clients: clients,
            seconds: try time(duration, ""), ramp: try time(ramp, ""), rate: rate,
            seed: seed ?? UInt64.random(in: 0...999_999_999))
        plan.endings = [SIGINT, SIGTERM, SIGHUP]
        plan.makesLists = !asIs
        plan.spreads = spread
        plan.isWeb = web
        (plan.trust, plan.certificate) = try Settings.certificates(for: address.server)
        plan.token = address.token
        plan.status = try serverStatus.map(Serve.address)
        if let part { try LoadProcesses.adapt(&plan, to: part) }
        return plan
    }

    // MARK: While it runs

    func tell(_ progress: LoadRun.Progress) {
        if part != nil {
            switch progress {
            case .ready, .settled: return LoadProcesses.waitForOthers()
            default: return
            }
        }
        if json {
            if case .second(let sample) = progress { Output.json(LoadJSON.line(sample)) }
            return
        }
        guard !quiet else { return }
        switch progress {
        case .filling: Output.progress("making the lists…")
        case .connecting(let count, let all): Output.progress("\(count) of \(all) clients connected")
        case .second(let sample): Output.message("\(Output.clear)\(LoadReport.line(sample))")
        case .converging(let count, let all): Output.progress("\(count) of \(all) clients have finished")
        case .ready, .settled: break
        }
    }

    // MARK: The end

    private func write(
        _ result: LoadResult, _ bounds: [Threshold], _ comparison: LoadComparison?, _ source: String
    ) throws {
        if let csv { try Self.save(LoadCSV.text(result), csv) }
        if let histogram { try Self.save(LoadCSV.distribution(result), histogram) }
        guard let html else { return }
        let occasion = LoadOccasion(
            command: Self.command(CommandLine.arguments), script: source, version: "hand \(HandCommand.version)",
            date: Date.now.formatted(.iso8601))
        try Self.save(LoadHTML.page(result, bounds, comparison, of: occasion, title: "hand load \(script)"), html)
    }

    /// The command line, quoted for a shell, without the secrets in addresses.
    static func command(_ arguments: [String]) -> String {
        let words = arguments.dropFirst().map { word in
            let open = HandAddress.token(in: word).map { word.dropLast($0.count) + "…" } ?? word[...]
            return ShellWord.quoted(String(open))
        }
        return (["hand"] + words).joined(separator: " ")
    }

    private static func save(_ text: String, _ path: String) throws {
        try ExportFile(path).write { write throws(LineWriter.Problem) in try write(text) }
    }

    private func tell(_ result: LoadResult, _ bounds: [Threshold], _ comparison: LoadComparison?) {
        if json { return Output.json(LoadJSON.summary(result, bounds, comparison)) }
        if !quiet { Output.progress("") }
        for line in LoadReport(result, bounds, comparison).lines { Output.line("\(line)") }
    }
}
