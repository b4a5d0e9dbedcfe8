import ArgumentParser
import Disk
import EventLoop
import Glibc
import HandServer
import Logging
import Synchronization

/// Encryption over TCP.
struct EncryptionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The server's certificate and the intermediate certificates, in PEM. TCP connections are then encrypted. "
                + "SIGHUP reads the file again.", valueName: "file"), completion: .file()) var tlsCert: String?
    @Option(help: .init("The certificate's key, in PEM, without a password.", valueName: "file"), completion: .file())
    var tlsKey: String?
    @Option(
        help: .init("Accept only clients whose certificate is signed by one of these authorities.", valueName: "file"),
        completion: .file())
    var tlsClientCa: String?
    @Flag(inversion: .prefixedNo, help: "Listen without TLS where other machines can connect, or refuse to.")
    var insecure = false

    func validate() throws {
        guard (tlsCert == nil) == (tlsKey == nil) else {
            throw ValidationError("--tls-cert and --tls-key go together.")
        }
        guard tlsClientCa == nil || tlsCert != nil else { throw ValidationError("--tls-client-ca needs --tls-cert.") }
    }

    /// What the operator should know of the certificate in use, and of its key.
    func warnings(about context: TLSContext) -> [String] {
        // The server's user may be in a group that may read the key.
        let isOpen = tlsKey.map { PrivateFile.others($0) & 0o004 != 0 } ?? false
        let key = isOpen ? "every user of this machine can read the TLS key: chmod o-r \(tlsKey ?? "")" : nil
        return [context.certificateProblem, key].compactMap { $0 }
    }

    /// The TLS context; nil without a certificate.
    func context() throws -> TLSContext? {
        guard let tlsCert, let tlsKey else { return nil }
        return try Self.context(of: [tlsCert, tlsKey, tlsClientCa]) {
            try .server(certificate: tlsCert, key: tlsKey, clientAuthority: tlsClientCa)
        }
    }

    /// Makes a TLS context from files. Throws a `Failure` that says which file cannot be used, and why.
    static func context(of files: [String?], _ make: () throws -> TLSContext) throws -> TLSContext {
        var status = ExitStatus.usage
        do {
            // OpenSSL would wait for the other end of a pipe, and its errors do not explain permissions.
            for case let file? in files where try PrivateFile.read(file) == nil { status = .notFound }
            return try make()
        } catch {
            throw Failure(status, "\(error)")
        }
    }
}

/// Logs, metrics and the admin socket.
struct TellingOptions: ParsableArguments {
    @Option(help: "How much to log on standard error.") var logLevel: LogLevel = .info

    enum LogLevel: String, CaseIterable, ExpressibleByArgument {
        case trace, debug, info, notice, warning, error, critical
    }

    @Option(help: "The log's format: text for people, or JSON Lines for programs.") var logFormat = ServerLog.Format
        .text

    @Option(
        help: ArgumentHelp(
            "Where to answer GET /metrics (for Prometheus), /healthz and /readyz over HTTP (default: nowhere).",
            valueName: "host:port")) var status: String?

    @Option(
        help: ArgumentHelp(
            "A name under which /metrics may be asked, besides addresses and this machine's name (repeatable). Any other "
                + "could be that of a web page that makes a browser ask.",
            valueName: "name")) var statusName: [String] = []

    @Option(
        help: ArgumentHelp(
            "Write an audit log in JSON Lines: who connected, was refused or denied something, or made or deleted lists. "
                + "SIGHUP reopens the file.",
            valueName: "file"), completion: .file()) var audit: String?

    @Option(
        help: ArgumentHelp(
            "The Unix socket for 'hand top' and 'hand admin' (default: admin.sock in the data folder).",
            valueName: "path"), completion: .file()) var admin: String?

    func startLog() -> ServerLog {
        let log = ServerLog(logFormat, level: Logger.Level(rawValue: logLevel.rawValue) ?? .info)
        LoggingSystem.bootstrap { _ in log.handler }
        Self.unwritten.withLock { $0.append { log.flush() } }
        // The last messages explain why the process ends.
        atexit { for flush in TellingOptions.unwritten.withLock({ $0 }) { flush() } }
        return log
    }

    func openAudit(_ logger: Logger) throws -> AuditLog? {
        guard let audit else { return nil }
        do {
            let log = try AuditLog(path: audit) { reason in
                logger.error("cannot write the audit log", metadata: ["file": "\(audit)", "error": "\(reason)"])
            }
            Self.unwritten.withLock { $0.append(log.flush) }
            return log
        } catch { throw Failure(.error, "\(error)") }
    }

    /// Closures that each flush a log that another thread writes.
    private static let unwritten = Mutex<[@Sendable () -> Void]>([])
}

extension ServerLog.Format: ExpressibleByArgument {}
