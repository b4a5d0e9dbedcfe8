import ArgumentParser
import Disk
import EventLoop
import Glibc
import HandFormats
import HandServer
import HandStore
import HandSync
import HandWire
import Logging

struct Serve: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Run a server.",
        discussion: """
            Without options, the server listens on 127.0.0.1:7777 and keeps its lists in ~/.local/state/hand/server. Users of this machine may do everything. Other users need a token ('hand token'), and \
            the server needs a certificate. Ctrl-C or SIGTERM stops it cleanly. Acknowledged edits survive even kill -9 and \
            power failures.

            Each option can also be set in the environment (--max-items as HAND_MAX_ITEMS; separate several values with commas) \
            and in a configuration file (max-items = 500): --config, or else $HAND_CONFIG, or else ~/.config/hand/serve.toml. \
            The command line overrides the environment, and the environment overrides the file. --print-config prints the \
            settings in effect as such a file.

            \(PackagedServer.rule)
            """)

    @Option(help: .init("The configuration file, in TOML; may be a pipe.", valueName: "file"), completion: .file())
    var config: String?
    @Flag(help: "Print the settings and where they come from, as a configuration file; then exit.") var printConfig =
        false
    @Flag(help: "Print a configuration file with every option and its default, commented out; then exit.")
    var exampleConfig = false

    @Option(
        help: ArgumentHelp(
            "Where to listen: HOST:PORT, [IPv6]:PORT or a path ending in .sock. May be repeated.", valueName: "address")
    )
    var listen: [String] = []
    static let defaultEndpoint = "127.0.0.1:7777"

    @Option(help: .init("Where to serve the page for browsers. May be repeated.", valueName: "host:port"))
    var web: [String] = []

    @Option(
        help: .init(
            "A name under which browsers may ask for the page, besides addresses and this machine's name. May be repeated.",
            valueName: "name"))
    var webName: [String] = []

    @Flag(
        inversion: .prefixedNo,
        help: "Let browsers keep the page, so that it opens without a network, or make them forget it.")
    var webOffline = true

    @Option(
        help: ArgumentHelp(
            "A proxy, or a network of proxies, that sends each client's address by the PROXY protocol, version 1 or 2, before "
                + "TLS. Connections from there without it are refused. May be repeated.",
            valueName: "address[/prefix]"))
    var trustProxy: [String] = []

    @Option(help: "Permissions of Unix socket files. Users who may write to the file may connect.")
    var socketPermissions = FileMode(0o600)

    @Option(
        help: .init("The folder for the lists (default: ~/.local/state/hand/server).", valueName: "folder"),
        completion: .directory)
    var data: String?

    @OptionGroup(title: "Several servers") var shared: SharedStoreOptions

    @Option(
        help: "What acknowledged commits survive: fsync (power failure), os (kill -9), memory (nothing)."
    )
    var durability = StoreKind.fsync

    enum StoreKind: String, CaseIterable, ExpressibleByArgument {
        case fsync, os, memory

        /// Opens the store; `memory` has no folder.
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
            "Keep at least this many of each list's newest commits (default: all). Deleting older ones does not change the list.",
            valueName: "number")) var keepCommits: Int?

    @Option(
        help: .init(
            "Keep at least the commits of this many days (default: all). It counts once the server has run for an hour; "
                + "until then, nothing is deleted.", valueName: "days")) var keepDays: Double?

    @Option(
        help: ArgumentHelp(
            "Keep a deleted list for this many days that the server runs, so that 'hand undelete' can bring it back; "
                + "0 removes it at once. A full store, or one with all the lists that it or their user may have, "
                + "removes the oldest ones sooner.",
            valueName: "days"))
    var keepDeleted = 7.0

    @OptionGroup(title: "Encryption") var encryption: EncryptionOptions
    @OptionGroup(title: "Logs and metrics") var telling: TellingOptions
    @OptionGroup(title: "Limits") var limits: LimitOptions
    @OptionGroup(title: "Times") var times: TimeOptions

    private var retention: Retention {
        Retention(
            commits: keepCommits, age: keepDays.map { UInt64($0 * 86_400_000) },
            deleted: UInt64(keepDeleted * 86_400_000))
    }

    /// Whether the lists are stored in the folder.
    private var isKept: Bool { durability != .memory && shared.store == nil }

    func validate() throws {
        try Self.check("listen", listen, Self.endpoint)
        try Self.check("web", web, Self.address)
        try Self.check("status", telling.status.map { [$0] } ?? [], Self.address)
        try Self.check("trust-proxy", trustProxy, Self.proxies)
        for (option, names) in [("--web-name", webName), ("--status-name", telling.statusName)] {
            for name in names where name.contains(where: { "/:@".contains($0) }) || name.isEmpty {
                throw ValidationError("\(option): expected a name without a scheme and a port, found '\(name)'")
            }
        }
        guard keepCommits ?? 0 >= 0, (0...36_500).contains(keepDays ?? 0) else {
            throw ValidationError(
                "--keep-commits and --keep-days must not be negative; --keep-days must be at most 36500.")
        }
        if shared.store != nil, durability != .fsync {
            throw ValidationError("--store cannot be combined with --durability.")
        }
        guard (0...36_500).contains(keepDeleted) else {
            throw ValidationError("--keep-deleted: expected 0 to 36500 days, found \(keepDeleted)")
        }
    }

    private var bounds: Limits {
        var bounds = Limits()
        limits.set(&bounds)
        times.set(&bounds)
        return bounds
    }

    func run() throws {
        if exampleConfig { return Output.data(try ServeExample.text() + "\n") }
        let inherited = try ServiceManager.takeSockets().map { descriptor, name in
            ServerConfiguration.Endpoint.inherited(descriptor, isWeb: name == ServiceManager.webName)
        }
        let named = listen.isEmpty && inherited.allSatisfy(\.isWeb) ? [Self.defaultEndpoint] : listen
        let endpoints = try inherited + named.map(Self.endpoint) + web.map { .web(try Self.address($0)) }
        let folder = try data ?? ServeLayers([]).data
        let tls = try encryption.context()
        if tls == nil, !encryption.insecure { try Self.refuseOpen(endpoints) }
        let log = telling.startLog()
        let logger = Logger(label: "hand")
        for warning in tls.map(encryption.warnings) ?? [] { logger.warning("\(warning)") }
        for warning in try CommandEnvironment.misspelt() { logger.warning("\(warning)") }
        var configuration = try configuration(endpoints, folder, log, logger)
        let manager = ServiceManager()
        let database = try shared.open(creates: true)
        let store: any CommitStore =
            if let database { database } else { try durability.store(in: folder) }
        if let database {
            // The lists are in the database; the folder holds what belongs to this server alone.
            try PrivateFile.makeFolder(folder)
            for warning in try database.warnings() { logger.warning("\(warning)") }
            if try PrivateFile.exists(folder + "/hand.sqlite") {
                logger.warning(
                    "the lists in \(folder) are not served: this server's lists are in \(database.place). 'hand store copy' copies lists"
                )
            }
        } else if let store = store as? SQLiteStore {
            configuration.expectStore = { try store.expectFiles() }
            configuration.access = AccessFile(
                folder: folder, recall: { try SQLiteStore.accessRules(in: folder) },
                remember: { try store.remember(accessRules: $0) })
        }
        let loop = try Loop()
        let server = Server(configuration, store: store, loop: loop, tls: tls, logger: logger)
        let audit = try telling.openAudit(logger)
        audit.map(server.keep)
        let opened: [ServerConfiguration.Endpoint]
        do { opened = try server.start() } catch let error as Server.NotListening {
            throw Failure(.error, "\(error)")
        }
        server.onDrained = {
            manager?.tell(.stopping)
            server.stop { loop.stop() }
        }
        try stopOnSignals(server, loop, manager)
        try ignoreSignals(loop, logger)
        try reloadOnSignal(server, loop, logger, audit, manager)
        Output.greet(
            Self.greeting(
                opened, database?.place ?? (isKept ? folder : "nowhere"), server.statusAddress, tls))
        manager?.tell(.ready)
        loop.run()
        loop.close()
        try store.close()
    }

    private func configuration(
        _ endpoints: [ServerConfiguration.Endpoint], _ folder: String, _ log: ServerLog, _ logger: Logger
    ) throws -> ServerConfiguration {
        var configuration = ServerConfiguration(
            endpoints: endpoints, limits: bounds, program: "hand/\(HandCommand.version)",
            retention: retention, seed: .random(in: 0...UInt64.max))
        configuration.status = try telling.status.map(Self.address)
        configuration.statusNames = telling.statusName
        configuration.webNames = webName
        configuration.isPageKept = webOffline
        configuration.log = log
        configuration.proxies = try trustProxy.map(Self.proxies)
        configuration.socketPermissions = socketPermissions.bits
        configuration.access = AccessFile(folder: folder)
        configuration.admin = telling.admin
        if isKept {
            if PrivateFile.others(folder) & 0o022 != 0 {
                logger.warning("other users can replace the store: chmod go-w \(folder)")
            }
            configuration.backup = { try StoreBackup.write(folder, to: $0, rules: AccessFile(folder: folder).bytes()) }
        }
        if isKept || shared.store != nil { configuration.admin = configuration.admin ?? Self.adminSocket(folder) }
        // The system's limit for the path of a socket.
        if telling.admin == nil, let path = configuration.admin, path.utf8.count > 107 {
            configuration.admin = nil
            logger.warning("no admin socket: its path is too long; see --admin", metadata: ["path": "\(path)"])
        }
        let files = ProcessLimits.raiseOpenFiles()
        if files - 100 < bounds.connections {
            logger.debug(
                "the system's limit of open files is below the limit of connections",
                metadata: ["files": .stringConvertible(files), "connections": .stringConvertible(bounds.connections)])
        }
        return configuration
    }

    /// The admin socket's default path.
    static func adminSocket(_ folder: String) -> String { folder + "/admin.sock" }

    func printSettings(from layers: ServeLayers) {
        var serve = self
        if serve.listen.isEmpty { serve.listen = [Self.defaultEndpoint] }
        for setting in ServeSetting.all(of: serve) {
            Output.data(setting.line(from: layers.origin(of: setting.name)) + "\n")
        }
    }

    private func stopOnSignals(_ server: Server, _ loop: Loop, _ manager: ServiceManager?) throws {
        for number in [SIGINT, SIGTERM] {
            _ = try Signal(loop, number) {
                manager?.tell(.stopping)
                server.stop { loop.stop() }
            }
        }
    }

    /// Other programs reopen their logs or print their state at these signals, which would end this process.
    private func ignoreSignals(_ loop: Loop, _ logger: Logger) throws {
        for (number, name) in [(SIGUSR1, "SIGUSR1"), (SIGUSR2, "SIGUSR2")] {
            _ = try Signal(loop, number) {
                logger.notice("ignored a signal; SIGHUP reopens files", metadata: ["signal": "\(name)"])
            }
        }
    }

    /// On SIGHUP, reads the certificate again and reopens the audit log, because the log's file may have been moved
    /// away. If the certificate cannot be read, the old one stays in use.
    private func reloadOnSignal(
        _ server: Server, _ loop: Loop, _ logger: Logger, _ audit: AuditLog?, _ manager: ServiceManager?
    ) throws {
        let encryption = encryption
        _ = try Signal(loop, SIGHUP) {
            manager?.tellReloading()
            defer { manager?.tell(.ready) }
            do { try audit?.reopen() } catch { logger.error("audit log not reopened", metadata: ["error": "\(error)"]) }
            do {
                guard let context = try encryption.context() else { return }
                server.use(context)
                logger.info("certificate reloaded")
                for warning in encryption.warnings(about: context) { logger.warning("\(warning)") }
            } catch {
                logger.error("certificate not reloaded", metadata: ["error": "\(error)"])
            }
        }
    }
}
