import Foundation
import Synchronization

/// The tests' own PostgreSQL server, on a Unix socket in its own folder, and also on a port of this machine if a test
/// asks for that.
///
/// It ends with the process that started it, however that ends.
package final class PostgresServer: Sendable {
    package enum Trouble: Error, CustomStringConvertible {
        case cannotStart(String)

        package var description: String {
            switch self {
            case .cannotStart(let why): "PostgreSQL does not start: \(why)"
            }
        }
    }

    /// The folder of PostgreSQL's programs, or nil if they are not installed.
    package static let programs: String? = {
        let fixed = ["/usr/lib/postgresql", "/usr/local/pgsql/bin", "/usr/pgsql/bin", "/usr/bin"].flatMap { folder in
            let versions = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            return [folder]
                + versions.sorted { $0.compare($1, options: .numeric) == .orderedDescending }
                .map { "\(folder)/\($0)/bin" }
        }
        let found = fixed.first { folder in
            ["initdb", "postgres", "psql", "pg_basebackup"].allSatisfy {
                FileManager.default.isExecutableFile(atPath: "\(folder)/\($0)")
            }
        }
        if found == nil {
            print("The tests of the PostgreSQL store are left out: install PostgreSQL's server (Debian: postgresql).")
        }
        return found
    }()

    package static var isThere: Bool { programs != nil }

    /// The server that the tests of a process share. It is started on first use, and does not wait for the disk.
    package static let shared: Result<PostgresServer, any Error> = Result { try PostgresServer() }
    /// A server that also listens on this machine's loopback network.
    package static let onNetwork: Result<PostgresServer, any Error> = Result { try PostgresServer(port: freePort()) }

    /// Returns a port that is free at this moment.
    package static func freePort() throws -> Int {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) + getsockname(descriptor, $0, &size)
            }
        }
        guard status == 0 else { throw Trouble.cannotStart("there is no free port") }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    /// The folder of the server's files. It is owned by the user that the server runs as.
    package let folder: String
    private let settings: [String]
    /// Keeps the server running: the server ends when a line is written here, or when this process ends.
    private let lifeline = Mutex<FileHandle?>(nil)
    /// The port of its socket, and of this machine if it listens there.
    package let port: Int

    /// Creates a server and starts it.
    ///
    /// - Parameters:
    ///   - settings: settings in the form that `postgres` takes after `-c`.
    ///   - port: the port of 127.0.0.1 to listen on as well, or nil for none.
    ///   - primary: the primary if the server is a standby, or nil.
    package init(
        settings: [String] = ["fsync=off"], port: Int? = nil, standbyOf primary: PostgresServer? = nil
    ) throws {
        guard let programs = Self.programs else { throw Trouble.cannotStart("its programs are not installed") }
        // Short, because the path of a socket must be short.
        folder = "/tmp/hand-pg-\(UUID().uuidString.prefix(8))"
        self.port = port ?? 5432
        self.settings =
            settings + [
                "listen_addresses=\(port == nil ? "" : "127.0.0.1")", "port=\(self.port)",
                "unix_socket_directories=\(folder)", "max_connections=100", "shared_buffers=32MB",
                // A standby that has lost its primary may wait this long before it takes over.
                "wal_retrieve_retry_interval=100ms",
            ]
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        if getuid() == 0 { _ = chown(folder, Self.user.id, Self.user.group) }
        let (maker, arguments) = primary?.copying ?? Self.making
        let made = try Self.run("\(programs)/\(maker)", arguments + ["--no-sync", "-D", folder + "/data"])
        guard made.status == 0 else { throw Trouble.cannotStart(made.text) }
        try start()
        if primary == nil { try query("CREATE DATABASE hand", on: "postgres") }
    }

    /// The command that creates a new server.
    private static let making = (
        "initdb", ["-A", "trust", "-U", "hand", "-E", "UTF8", "--locale=C", "--no-instructions"]
    )

    deinit {
        stop()
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// Returns the address of a database.
    package func address(of database: String = "hand") -> String {
        "postgres:///\(database)?host=\(folder)&port=\(port)&user=hand"
    }

    // MARK: Running

    package func start() throws {
        guard let programs = Self.programs else { return }
        let (server, pipe, log) = (Process(), Pipe(), folder + "/log")
        try? FileManager.default.removeItem(atPath: folder + "/stays")
        Self.prepare(
            server, "/bin/sh",
            ["-c", Self.guardian, "guardian", folder, programs + "/postgres", "-D", folder + "/data"]
                + settings.flatMap { ["-c", $0] })
        server.standardInput = pipe
        server.standardOutput = FileHandle.nullDevice
        server.standardError = FileHandle.nullDevice
        try server.run()
        lifeline.withLock { $0 = pipe.fileHandleForWriting }
        for _ in 0..<600 {
            if let ready = try? Self.run(programs + "/psql", psql("SELECT 1", "postgres")), ready.status == 0 { return }
            usleep(20_000)
        }
        throw Trouble.cannotStart((try? String(contentsOfFile: log, encoding: .utf8)) ?? "it printed no reason")
    }

    /// Runs the server until a line arrives, or the input ends. A test's thread blocks signals, and so would the shell,
    /// which could then not wait for the server; starting another program (`head`) makes the shell unblock them.
    /// Afterwards, it removes the folder unless the folder stays.
    private static let guardian = """
        folder=$1
        shift
        "$@" >"$folder/log" 2>&1 &
        server=$!
        head -n 1 >/dev/null
        kill -QUIT $server
        wait $server
        if [ -e "$folder/stays" ]; then : >"$folder/stopped"; else rm -rf "$folder"; fi
        """

    /// Ends the server as `kill` would.
    package func stop() {
        _ = FileManager.default.createFile(atPath: folder + "/stays", contents: nil)
        try? FileManager.default.removeItem(atPath: folder + "/stopped")
        let wasRunning = lifeline.withLock { lifeline in
            defer { lifeline = nil }
            // Another process, started at the same moment, may have inherited the other end; then closing it ends
            // nothing.
            try? lifeline?.write(contentsOf: Data("\n".utf8))
            try? lifeline?.close()
            return lifeline != nil
        }
        guard wasRunning else { return }
        while !FileManager.default.fileExists(atPath: folder + "/stopped") { usleep(5_000) }
    }

    private func psql(_ sql: String, _ database: String) -> [String] {
        ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", address(of: database), "-c", sql]
    }

    /// Runs SQL directly, as an administrator or a vandal would. Returns the output.
    @discardableResult
    package func query(_ sql: String, on database: String = "hand") throws -> String {
        let answer = try Self.run((Self.programs ?? "") + "/psql", psql(sql, database))
        guard answer.status == 0 else { throw Trouble.cannotStart(answer.text) }
        return answer.text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    // MARK: As another user

    /// The user to run the programs as if the tests run as root: PostgreSQL refuses to run as root.
    private static let user: (name: String, id: uid_t, group: gid_t) = {
        for name in ["postgres", "nobody"] {
            if let entry = getpwnam(name) { return (name, entry.pointee.pw_uid, entry.pointee.pw_gid) }
        }
        return ("nobody", 65_534, 65_534)
    }()

    private static func prepare(_ process: Process, _ program: String, _ arguments: [String]) {
        process.currentDirectoryURL = URL(fileURLWithPath: "/tmp")
        guard getuid() == 0 else {
            process.executableURL = URL(fileURLWithPath: program)
            process.arguments = arguments
            return
        }
        process.executableURL = URL(fileURLWithPath: "/usr/bin/setpriv")
        process.arguments =
            ["--reuid=\(user.id)", "--regid=\(user.group)", "--clear-groups", program] + arguments
    }

    private static func run(_ program: String, _ arguments: [String]) throws -> (status: Int32, text: String) {
        let process = Process()
        prepare(process, program, arguments)
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, text)
    }
}
