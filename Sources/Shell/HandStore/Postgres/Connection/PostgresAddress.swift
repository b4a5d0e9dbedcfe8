import CLibpq
import Disk

/// The address of a database and the user to connect as: a URI or a list of `name=value` in libpq's syntax, with one
/// host or several.
///
/// The address has no password. Everybody on a machine can see command lines, so an address with a password is refused.
package struct PostgresAddress: Sendable {
    /// One host with its port, as libpq's keywords and values; empty for libpq's default.
    struct Host: Sendable {
        let words: [String: String]
        let name: String
    }

    let hosts: [Host]
    /// All parameters except hosts and ports.
    private let words: [String: String]
    private let passwordFile: String?
    /// How long one host is tried.
    let hostTimeout: Duration

    /// - Parameter passwordFile: a file whose first line is the password; nil for `PGPASSWORD`, `PGPASSFILE` or no
    ///   password.
    /// - Throws: `PostgresError` if the address is malformed or has a password, or if libpq cannot be loaded.
    package init(_ text: String, passwordFile: String? = nil) throws(PostgresError) {
        // libpq is loaded here, because nothing of this module is used without an address.
        if let complaint = hand_pg_load() {
            throw PostgresError(
                state: PostgresError.unreachable,
                "PostgreSQL's library for clients is needed for a shared store, and cannot be loaded "
                    + "(\(String(cString: complaint))). Install it; on Debian: apt install libpq5.")
        }
        var words = try Self.words(of: text)
        for secret in ["password", "sslpassword"] where words[secret] != nil {
            throw PostgresError(
                state: PostgresError.wrongAddress,
                "the address of the database has a password in it, and command lines can be read by everybody on this "
                    + "machine. Take it out of the address and put it into the environment as PGPASSWORD, into a "
                    + "file that PGPASSFILE names, or into a file for --store-password.")
        }
        hosts = try Self.hosts(&words)
        // libpq ignores this timeout when it connects without blocking, so the timeout is applied here.
        let seconds = words.removeValue(forKey: "connect_timeout").flatMap { Int($0) } ?? 0
        hostTimeout = seconds > 0 ? .seconds(seconds) : .seconds(3)
        let standard = [
            "target_session_attrs": "read-write", "fallback_application_name": "hand", "client_encoding": "UTF8",
            "tcp_user_timeout": "5000", "keepalives_idle": "5", "keepalives_interval": "2", "keepalives_count": "3",
        ]
        self.words = standard.merging(words) { _, given in given }
        self.passwordFile = passwordFile
    }

    /// The name of the database and its hosts, for messages.
    package var description: String {
        let hosts = hosts.map(\.name).joined(separator: ",")
        return words["dbname"].map { "\($0) at \(hosts)" } ?? hosts
    }

    /// Returns libpq's parameters for a host. The password is read each time, because it may have been changed.
    func words(for host: Host) throws(PostgresError) -> [String: String] {
        var words = words.merging(host.words) { _, one in one }
        guard let passwordFile else { return words }
        let read: [UInt8]?
        do { read = try PrivateFile.read(passwordFile)?.bytes } catch {
            throw PostgresError(state: PostgresError.wrongAddress, error.description)
        }
        let line = read?.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") } ?? []
        guard !line.isEmpty else {
            throw PostgresError(
                state: PostgresError.wrongAddress,
                "\(passwordFile) does not exist, or its first line is empty. Write the database's password into it.")
        }
        words["password"] = String(decoding: line, as: UTF8.self)
        return words
    }

    private static func words(of text: String) throws(PostgresError) -> [String: String] {
        var complaint: UnsafeMutablePointer<CChar>?
        // The complaint as a whole is not shown: it may quote a password.
        defer { PQfreemem(complaint) }
        guard let options = PQconninfoParse(text, &complaint) else {
            throw PostgresError(
                state: PostgresError.wrongAddress,
                "the address of the database is malformed\(unknownOption(complaint)). It has the form "
                    + "postgres://USER@HOST:PORT,HOST:PORT/DATABASE?OPTION=VALUE.")
        }
        defer { PQconninfoFree(options) }
        var words: [String: String] = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { words[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        return words
    }

    /// Returns which option libpq does not know, if it complains about one.
    private static func unknownOption(_ complaint: UnsafeMutablePointer<CChar>?) -> String {
        let text = complaint.map { String(cString: $0) } ?? ""
        let name = text.firstMatch(of: #/^invalid (?:URI query parameter|connection option):? "([a-z_]+)"/#)
        return name.map { ": it has no option '\($0.1)'" } ?? ""
    }

    /// Removes the hosts from the parameters. Each host is tried separately: libpq would wait for the first host
    /// without limit.
    private static func hosts(_ words: inout [String: String]) throws(PostgresError) -> [Host] {
        func list(_ word: String) -> [String] {
            words.removeValue(forKey: word)?.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
                ?? []
        }
        let (names, addresses, ports) = (list("host"), list("hostaddr"), list("port"))
        let count = max(names.count, addresses.count, 1)
        for given in [names, addresses] where !given.isEmpty && given.count != count {
            throw PostgresError(state: PostgresError.wrongAddress, "each host of the database needs its 'hostaddr'.")
        }
        guard ports.count <= 1 || ports.count == count else {
            throw PostgresError(
                state: PostgresError.wrongAddress,
                "the database has \(count) hosts and \(ports.count) ports. Name one port, or one for each host.")
        }
        return (0..<count).map { index in
            var found: [String: String] = [:]
            if names.indices.contains(index), !names[index].isEmpty { found["host"] = names[index] }
            if addresses.indices.contains(index) { found["hostaddr"] = addresses[index] }
            let port = ports.count == 1 ? ports[0] : ports.indices.contains(index) ? ports[index] : ""
            if !port.isEmpty { found["port"] = port }
            let name = found["host"] ?? found["hostaddr"] ?? "the usual host"
            return Host(words: found, name: port.isEmpty ? name : "\(name):\(port)")
        }
    }
}
