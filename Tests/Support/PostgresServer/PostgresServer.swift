import Foundation
import Synchronization

/// A PostgreSQL of the tests' own, on a Unix socket in a folder of its own, and on a port of this machine where that is asked for.
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

    /// The folder of its programs; nil if they are not there.
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

    /// The one that the tests of a process share, started when it is needed first. Its disk is not waited for.
    package static let shared: Result<PostgresServer, any Error> = Result { try PostgresServer() }
    /// One that listens on this machine's own network too.
    package static let onNetwork: Result<PostgresServer, any Error> = Result { try PostgresServer(port: freePort()) }

    /// A port that nobody has at this moment.
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
        guard status == 0 else { throw Trouble.cannotStart("there is no port to be had") }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    /// Owned by whoever the server runs as.
    package let folder: String
    private let settings: [String]
    /// What keeps the server running: it ends when a line comes from here, or with this process.
    private let lifeline = Mutex<FileHandle?>(nil)
    /// The port of its socket; and, where it listens there, on this machine.
    package let port: Int

    /// Makes a server and starts it.
    ///
    /// - Parameters:
    ///   - settings: as `postgres` takes them after `-c`.
    ///   - port: on which port of 127.0.0.1 it listens too; nil for none.
    ///   - primary: whose standby it is; nil for a server of its own.
    package init(
        settings: [String] = ["fsync=off"], port: Int? = nil, standbyOf primary: PostgresServer? = nil
    ) throws {
        guard let programs = Self.programs else { throw Trouble.cannotStart("its programs are not there") }
        // Short, because the path of a socket is.
        folder = "/tmp/hand-pg-\(UUID().uuidString.prefix(8))"
        self.port = port ?? 5432
        self.settings =
            settings + [
                "listen_addresses=\(port == nil ? "" : "127.0.0.1")", "port=\(self.port)",
                "unix_socket_directories=\(folder)", "max_connections=100", "shared_buffers=32MB",
                // A standby that has lost its primary may have to wait so long before it takes over.
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

    /// What makes a new server.
    private static let making = (
        "initdb", ["-A", "trust", "-U", "hand", "-E", "UTF8", "--locale=C", "--no-instructions"]
    )

    deinit {
        stop()
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// The address of a database.
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
        throw Trouble.cannotStart((try? String(contentsOfFile: log, encoding: .utf8)) ?? "it says nothing")
    }

    /// Runs the server until a line comes, or its input ends. A test's thread blocks signals, and so would the shell, which could not
    /// wait for the server then; starting another program (`head`) makes it stop that. Then, unless the folder stays, nothing is left.
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

    /// Ends it, as `kill` would.
    package func stop() {
        _ = FileManager.default.createFile(atPath: folder + "/stays", contents: nil)
        try? FileManager.default.removeItem(atPath: folder + "/stopped")
        let wasRunning = lifeline.withLock { lifeline in
            defer { lifeline = nil }
            // Another process, started at the same moment, may have got the other end too: then closing it ends nothing.
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

    /// Runs SQL beside the store, as an administrator or a vandal. Returns what it prints.
    @discardableResult
    package func query(_ sql: String, on database: String = "hand") throws -> String {
        let answer = try Self.run((Self.programs ?? "") + "/psql", psql(sql, database))
        guard answer.status == 0 else { throw Trouble.cannotStart(answer.text) }
        return answer.text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    // MARK: As another user

    /// Whom the programs run as where the tests run as root, which they refuse.
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
