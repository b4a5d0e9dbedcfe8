import ArgumentParser
import EventLoop
import FoundationEssentials
import HTTP
import HandFormats
import HandLoad
import HandStore
import HandSync

struct Admin: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "admin", abstract: "Inspect and control a running server on this machine.",
        discussion: """
            Uses a Unix socket that only the server's user may open, by default admin.sock in its data folder.

            'hand top' shows the server's state live.
            """,
        subcommands: [
            AdminConnections.self, AdminClose.self, AdminDrain.self, AdminLogLevel.self, AdminCompact.self,
            AdminBackup.self, AdminReport.self,
        ])
}

/// The server to ask.
struct AdminOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The folder of the server's store (default: as for 'hand serve').",
            valueName: "folder"), completion: .directory) var data: String?
    @Option(
        help: .init("The server's admin socket (default: admin.sock in the folder).", valueName: "path"),
        completion: .file())
    var admin: String?

    var path: String {
        get throws {
            if let admin { return admin }
            if let data { return Serve.adminSocket(data) }
            let layers = try ServeLayers([])
            return layers.text(of: "admin") ?? Serve.adminSocket(layers.data)
        }
    }

    /// Sends a request, and waits for the answer's text.
    func ask(_ target: String, method: String = "GET", timeout: UInt64 = 10_000) throws -> String {
        let loop = try Loop()
        defer { loop.close() }
        let path = try path
        var answer: Result<HTTPExchange.Answer, HTTPError>?
        HTTPExchange(loop, at: .unix(path), target, method: method, timeout: timeout) { answer = $0 }
        loop.run()
        return try Self.text(answer, from: path)
    }

    static func text(
        _ answer: Result<HTTPExchange.Answer, HTTPError>?, from path: String
    ) throws -> String {
        switch answer {
        case .success(let answer) where answer.status == 200: return answer.body
        case .success(let answer):
            let text = String(answer.body.trimmed(\.isWhitespace))
            throw Failure(answer.status == 404 ? .notFound : .error, text)
        case .failure(let failure): throw unreachable(path, "\(failure)")
        case nil: throw unreachable(path, "no answer")
        }
    }

    private static func unreachable(_ path: String, _ reason: String) -> Failure {
        Failure(
            .unreachable,
            "no server answers at \(path): \(reason). Is it running, with the same --data, and are you its user?")
    }

    /// Decodes a server's answer.
    static func decoded<Value: Decodable>(_ text: String, as type: Value.Type) throws -> Value {
        do { return try JSONDecoder().decode(type, from: Data(text.utf8)) } catch {
            throw Failure(.error, "cannot read the server's answer; is it another version? \(error)")
        }
    }

    /// Prints a server's answer; of a list, each element on a line.
    static func print(json text: String) throws {
        let value = try JSONValue.parse(text)
        guard case .array(let all) = value else { return Output.json(value) }
        Output.together { for element in all { Output.json(element) } }
    }
}

/// The options of a command that a running server carries out.
struct OrderOptions: ParsableArguments {
    @OptionGroup var server: AdminOptions
    @OptionGroup var result: ResultOptions

    /// Sends a command, and prints the server's answer, in JSON behind `members`.
    func send(_ target: String, _ members: [JSONValue.Member], timeout: UInt64 = 10_000) throws {
        let answer = String(try server.ask(target, method: "POST", timeout: timeout).trimmed(\.isWhitespace))
        result.tell(.object(members + [.init("answer", .string(answer))]), "\(answer)")
    }
}

private struct AdminConnections: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "connections", abstract: "Print the connections, those furthest behind first.")

    @OptionGroup var options: AdminOptions
    @OptionGroup var result: ResultOptions

    func run() throws {
        let text = try options.ask("/connections")
        if result.json { return try AdminOptions.print(json: text) }
        for connection in try AdminOptions.decoded(text, as: [ConnectionReport].self) {
            Output.line("\(Self.line(connection))")
        }
    }

    private static func line(_ connection: ConnectionReport) -> String {
        let lists = connection.lists.map { "'\($0)'" }.joined(separator: ", ")
        var words = [
            "\(connection.number)", connection.peer,
            connection.person.isEmpty ? "(no hello yet)" : connection.person,
        ]
        if let token = connection.token { words.append("token \(token)") }
        if !lists.isEmpty { words.append("on \(lists)") }
        if connection.behind > 0 { words.append("\(connection.behind) commits behind") }
        if connection.queuedBytes > 0 { words.append("\(Amount.bytes(connection.queuedBytes)) not taken") }
        if connection.isSlowed { words.append("slowed down") }
        return words.joined(separator: "  ")
    }
}

private struct AdminClose: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "close", abstract: "Close a connection; its client is notified and does not reconnect by itself.")

    @OptionGroup var options: OrderOptions
    @Argument(
        help: "The connection's number, as 'hand admin connections' prints it.", completion: Completions.connections)
    var number: UInt64

    func run() throws { try options.send("/connections/\(number)/close", .init(["closed": number])) }
}

private struct AdminDrain: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drain",
        abstract: "Accept no new connections, and stop when the last one has closed or the time is over.",
        discussion: "Until then, /readyz answers 503. No acknowledged edit is lost, however the server stops.")

    @OptionGroup var options: OrderOptions
    @Option(help: .init("How long connections may stay, for example 30s or 5m.", valueName: "time"))
    var within = "1m"

    func run() throws {
        guard let seconds = Script.seconds(within), seconds <= 86_400 else {
            throw ValidationError("--within '\(within)': expected a time of up to a day, such as 30s, 5m or 2h.")
        }
        try options.send("/drain?within=\(seconds)", .init(["within": JSONValue.double(seconds)]))
    }
}

private struct AdminLogLevel: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log-level", abstract: "Change the log level.")

    @OptionGroup var options: OrderOptions
    @Argument(help: "The level.") var level: TellingOptions.LogLevel

    func run() throws { try options.send("/log-level?to=\(level.rawValue)", .init(["level": level.rawValue])) }
}

private struct AdminCompact: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compact", abstract: "Free the space of forgotten commits and deleted lists.",
        discussion: "The whole store is rewritten. Edits wait until that is done.")

    @OptionGroup var options: OrderOptions

    func run() throws { try options.send("/compact", .init(["compacted": true]), timeout: 3_600_000) }
}

private struct AdminBackup: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Make the server copy its store into a file while it runs.",
        discussion:
            """
            Like 'hand backup', but the server writes the file, as its own user: into its data folder, or another one that it may \
            write to (see 'hand help unit').
            """)

    @OptionGroup var options: AdminOptions
    @OptionGroup var output: ReportOptions
    @Argument(help: "The file to write; it must not exist.", completion: .file()) var file: String

    func validate() throws { try ReportOptions.check(file: file) }

    func run() throws {
        let path = URL(fileURLWithPath: file).path
        let escaped = path.utf8.map { "%" + Hex.text([$0]) }.joined()
        let answer = try options.ask("/backup?to=\(escaped)", method: "POST", timeout: 3_600_000)
        guard FileManager.default.isReadableFile(atPath: path) else {
            if output.json { return Output.json(["file": .string(path), "checked": false]) }
            if output.quiet { return }
            return Output.message("\(answer.trimmed(\.isWhitespace)); it is not checked, as you may not read it")
        }
        try output.check(backup: path)
    }
}

private struct AdminReport: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report", abstract: "Print a single report of what 'hand top' shows, always as JSON.",
        discussion: "With --all, each server's report is on a line.")

    @OptionGroup var options: AdminOptions
    @OptionGroup var result: ResultOptions
    @Flag(help: "Print the reports of all servers that share a database.") var all = false
    @OptionGroup var shared: SharedStoreOptions

    func run() throws {
        guard all else { return try AdminOptions.print(json: try options.ask("/report")) }
        for server in try shared.opened().servers() {
            Output.json([
                "address": .string(server.address), "silence": JSONValue(server.silence),
                "report": (try? JSONValue.parse(String(decoding: server.report, as: UTF8.self))) ?? .null,
            ])
        }
    }
}
