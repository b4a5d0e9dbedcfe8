import ArgumentParser
import EventLoop
import Foundation
import HandServer
import HandStore
import HandSync
import HandWire
import Logging
import TLS

struct Serve: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run a server.",
        discussion: """
            Without options it listens on 127.0.0.1:7777 and keeps its lists in $HAND_DATA, or else under
            ~/.local/state/hand/server. Who is on this machine may do everything; others need a token ('hand token'), and
            the server a certificate. Ctrl-C or SIGTERM stops it in good order; after kill -9 or a loss of power nothing
            that was acknowledged is missing.
            """)

    @Option(
        help: ArgumentHelp(
            "Where to listen: HOST:PORT, [IPv6]:PORT or a path ending in .sock. May be repeated.", valueName: "address")
    )
    var listen: [String] = []

    @Option(help: ArgumentHelp("The folder for the lists (default: $HAND_DATA).", valueName: "folder"))
    var data: String?

    @Option(
        help: "What a commit survives before it is acknowledged: fsync (loss of power), os (kill -9), memory (nothing)."
    )
    var durability = Keeping.fsync

    /// Where lists are kept, as it is named on the command line.
    enum Keeping: String, CaseIterable, ExpressibleByArgument {
        case fsync, os, memory

        /// Opens the store in a folder, where there is one.
        func store(in folder: String) throws -> any CommitStore {
            switch self {
            case .fsync: try SQLiteStore(folder: folder, durability: .fsync)
            case .os: try SQLiteStore(folder: folder, durability: .os)
            case .memory: MemoryStore()
            }
        }
    }

    @Option(
        help: ArgumentHelp(
            "Keep at least so many of each list's newest commits (default: all). Older ones are forgotten, the list is not.",
            valueName: "number")) var keepCommits: Int?

    @Option(
        help: ArgumentHelp("Keep at least the commits of so many days (default: all).", valueName: "days"))
    var keepDays: Double?

    @Option(
        help: ArgumentHelp(
            "Where to answer GET /metrics (for Prometheus), /healthz and /readyz over HTTP (default: nowhere).",
            valueName: "host:port")) var status: String?

    @Option(
        help: ArgumentHelp(
            "Write down as JSON Lines who came, was turned away or denied something, and who made or deleted lists.",
            valueName: "file")) var audit: String?

    @OptionGroup(title: "Encryption") var encryption: EncryptionOptions

    @Option(help: "How much to log on standard error.")
    var logLevel: LogLevel = .info

    /// The levels of the log, as they are named on the command line.
    enum LogLevel: String, CaseIterable, ExpressibleByArgument {
        case trace, debug, info, notice, warning, error, critical
    }

    @OptionGroup(title: "Limits") var limits: LimitOptions

    private var retention: Retention {
        Retention(commits: keepCommits, age: keepDays.map { UInt64($0 * 86_400_000) })
    }

    func validate() throws {
        guard keepCommits ?? 0 >= 0, (0...36_500).contains(keepDays ?? 0) else {
            throw ValidationError("--keep-commits and --keep-days are not negative; --keep-days is at most 36500.")
        }
    }

    func run() throws {
        let endpoints = try (listen.isEmpty ? ["127.0.0.1:7777"] : listen).map(Self.endpoint)
        let folder = data ?? Settings.dataFolder
        let status = try status.map(Self.address)
        let tls = try encryption.context()
        if tls == nil, !encryption.insecure { try Self.refuseOpen(endpoints) }
        let store = try durability.store(in: folder)
        let level = Logger.Level(rawValue: logLevel.rawValue) ?? .info
        LoggingSystem.bootstrap { label in
            var handler = StreamLogHandler.standardError(label: label)
            handler.logLevel = level
            return handler
        }
        let manager = ServiceManager()
        let loop = try Loop()
        var configuration = ServerConfiguration(
            endpoints: endpoints, limits: limits.limits, program: "hand/\(HandCommand.version)",
            retention: retention, seed: .random(in: 0...UInt64.max))
        configuration.status = status
        configuration.access = AccessFile(folder: folder)
        let logger = Logger(label: "hand")
        let server = Server(configuration, store: store, loop: loop, tls: tls, logger: logger)
        do { try audit.map { server.keep(try AuditLog(path: $0)) } } catch { throw Failure(.error, "\(error)") }
        let opened: [ServerConfiguration.Endpoint]
        do { opened = try server.start() } catch let error as AccessFile.Failure {
            throw Failure(.error, "\(error)")
        } catch let error as UVError {
            throw Failure(.error, "cannot listen on \(endpoints.map { "\($0)" }.joined(separator: ", ")): \(error)")
        }
        try stopOnSignals(server, loop, manager)
        try reloadOnSignal(server, loop, logger, manager)
        Output.line(
            Self.greeting(
                opened, durability == .memory ? "nowhere" : folder, server.statusAddress, isSecure: tls != nil))
        manager?.tell(.ready)
        loop.run()
        loop.close()
        try store.close()
    }

    private func stopOnSignals(_ server: Server, _ loop: Loop, _ manager: ServiceManager?) throws {
        var signals: [Signal] = []
        for number in [SIGINT, SIGTERM] {
            let signal = try Signal(loop, number) {
                manager?.tell(.stopping)
                server.stop { loop.stop() }
            }
            signals.append(signal)
        }
    }

    /// SIGHUP: a new certificate in the same files is used from then on. If it is none, the old one stays.
    private func reloadOnSignal(
        _ server: Server, _ loop: Loop, _ logger: Logger, _ manager: ServiceManager?
    ) throws {
        let encryption = encryption
        _ = try Signal(loop, SIGHUP) {
            manager?.tellReloading()
            defer { manager?.tell(.ready) }
            do {
                guard let context = try encryption.context() else { return }
                server.use(context)
                logger.info("took the certificate anew")
            } catch {
                logger.error("the certificate was not taken anew", metadata: ["error": "\(error)"])
            }
        }
    }

    /// What others can reach must be encrypted, unless the operator says that it need not be.
    private static func refuseOpen(_ endpoints: [ServerConfiguration.Endpoint]) throws {
        for case .tcp(let address) in endpoints where !address.isLoopback {
            throw Failure(
                .usage,
                "refused to listen on \(address): others can reach it, and without TLS they could read and change what is sent. "
                    + "Give --tls-cert and --tls-key, or listen on 127.0.0.1 or a Unix socket; --insecure if the network "
                    + "protects it")
        }
    }

    private static func greeting(
        _ endpoints: [ServerConfiguration.Endpoint], _ folder: String, _ status: SocketAddress?, isSecure: Bool
    ) -> String {
        let addresses = endpoints.map { endpoint in
            switch endpoint {
            case .tcp(let address): "\(isSecure ? "hands" : "hand")://\(address)"
            case .unix(let path): "hand+unix://\(path)"
            }
        }
        let first = addresses.first ?? ""
        return "hand serves on \(addresses.joined(separator: " and ")), lists kept in \(folder). "
            + (status.map { "Figures: http://\($0)/metrics. " } ?? "")
            + "Connect: hand --help, or HAND_URL=\(first) hand create groceries"
    }

    static func endpoint(_ text: String) throws -> ServerConfiguration.Endpoint {
        if text.hasSuffix(".sock") {
            return .unix(text.hasPrefix("/") ? text : FileManager.default.currentDirectoryPath + "/" + text)
        }
        return .tcp(try address(text))
    }

    static func address(_ text: String) throws -> SocketAddress {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            throw ValidationError(
                "'\(text)' is no address to listen on: expected HOST:PORT, [IPv6]:PORT or a path ending in .sock")
        }
        var host = String(text[..<colon])
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        if host == "localhost" { host = "127.0.0.1" }
        if host.isEmpty || host == "*" { host = "0.0.0.0" }
        do { return try SocketAddress(ip: host, port: port) } catch {
            throw ValidationError(
                "'\(host)' is no IP address: to listen, name an address of this machine, or 0.0.0.0 for all")
        }
    }
}
