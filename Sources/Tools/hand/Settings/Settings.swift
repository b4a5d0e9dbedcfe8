import Disk
import FoundationEssentials
import Glibc
import HandClient
import HandFormats
import HandScreens
import HandWire

/// Folders and settings, from the environment and the configuration file.
enum Settings {
    /// Read once: each time, all of it is taken apart again.
    private static let environment = ProcessInfo.processInfo.environment

    /// $HOME, or else the home folder from the system's user database.
    private static var home: String {
        if let path = environment["HOME"], path.hasPrefix("/") { return path }
        return account(\.pw_dir) ?? "/"
    }

    /// A field of the user's entry in the system's user database.
    private static func account(_ field: KeyPath<passwd, UnsafeMutablePointer<CChar>?>) -> String? {
        getpwuid(getuid())?.pointee[keyPath: field].map { String(cString: $0) }
    }

    /// A path in which `~/` stands for the user's home, as in a shell.
    static func expanded(_ path: String) -> String { path.hasPrefix("~/") ? home + path.dropFirst() : path }

    private static func folder(_ variable: String, _ fallback: String) -> String {
        if let path = environment[variable], path.hasPrefix("/") { return path + "/hand" }
        return home + fallback + "/hand"
    }

    /// The folder for the data of servers and clients.
    static var stateFolder: String { folder("XDG_STATE_HOME", "/.local/state") }
    /// The folder that a service manager keeps for this process; nil without one.
    static var serviceFolder: String? { environment["STATE_DIRECTORY"]?.split(separator: ":").first.map(String.init) }
    static var configurationFolder: String { folder("XDG_CONFIG_HOME", "/.config") }
    static var configurationFile: String { configurationFolder + "/config.toml" }
    /// The configuration file of 'hand serve' if no option names one.
    static var serveFile: String { configurationFolder + "/serve.toml" }

    /// What a user can set: in the environment, in a context, and in the configuration file.
    enum Key: String, CaseIterable {
        case url, name
        /// A file with the authorities that may sign servers' certificates.
        case ca
        /// The user's own certificate, and its key if that is in another file.
        case cert
        case certKey = "cert-key"
        case token
        /// What 'hand open' tells a user who looks at another window.
        case notify

        /// The description, for the manual.
        var summary: String {
            switch self {
            case .url:
                "The server, and optionally a list: hand://HOST:PORT/LIST, hands:// with TLS, hand+unix:///PATH/hand.sock/LIST."
            case .name: "The name that others see. Default: the user's name on the system."
            case .ca:
                "A file with the authorities that may sign servers' certificates. Default: the system's authorities."
            case .cert: "A file with the user's own certificate, for servers that ask for one."
            case .certKey: "A file with the certificate's key, if it is not in the same file."
            case .token:
                "The user's secret for the server of url. With ?, hand asks for it. Only the user should be able to read the file."
            case .notify:
                "What 'hand open' tells you while you look at another window, by the bell and, if the terminal can, on the desktop: mine (what names you as @name, and edits of yours that are overridden), all, or off. Default: off."
            }
        }

        var variable: String { "HAND_" + rawValue.uppercased().replacing("-", with: "_") }
    }

    /// The contents of the configuration file, or of a context's file.
    struct File {
        let path: String
        fileprivate(set) var texts: [Key: String] = [:]
        /// Keys of the terminal client, by the names of their actions.
        fileprivate(set) var keys: [String: [String]] = [:]
    }

    /// Where a setting comes from.
    enum Layer {
        case environment
        case file(File)

        func text(_ key: Key) -> String? {
            let text =
                switch self {
                case .environment: Settings.environment[key.variable].flatMap { $0.isEmpty ? nil : $0 }
                case .file(let file): file.texts[key]
                }
            return [.ca, .cert, .certKey].contains(key) ? text.map(expanded) : text
        }

        /// The variable or the file that sets a key.
        func origin(_ key: Key) -> String {
            switch self {
            case .environment: "$\(key.variable)"
            case .file(let file): file.path
            }
        }

        /// Where a key is set, for messages.
        func place(of key: Key) -> String {
            switch self {
            case .environment: origin(key)
            case .file: "\(key.rawValue) in \(origin(key))"
            }
        }
    }

    /// The layers, the one with the highest precedence first. A context that is named for this command comes before the
    /// environment; the context in use comes after it.
    static func layers() throws -> [Layer] {
        try [
            Contexts.named().map { .file($0.file) }, .environment, Contexts.current().map { .file($0.file) },
            .file(file()),
        ]
        .compactMap { $0 }
    }

    static func value(_ key: Key, flag: String? = nil) throws -> String? {
        if let flag { return flag }
        return try layers().lazy.compactMap { $0.text(key) }.first
    }

    /// The contents of a TOML file; nil if there is no file.
    static func table(at path: String, pipeTimeout: Int32 = 0) throws -> TOML.Table? {
        do {
            guard let bytes = try PrivateFile.read(path, pipeTimeout: pipeTimeout)?.bytes else { return nil }
            if let problem = problem(in: bytes) { throw Failure(.usage, "\(path)\(problem)") }
            return try TOML.read(String(decoding: bytes, as: UTF8.self))
        } catch let error as FileError where error.code == EACCES {
            throw Failure(.error, "\(error). Or set $XDG_CONFIG_HOME to a folder of yours")
        } catch let problem as TOML.Problem {
            throw Failure(.usage, "\(path), line \(problem.line): \(problem.text)")
        }
    }

    /// The place where a file is not text, for messages; nil if all of it is text. The TOML parser would read only the
    /// part before a NUL, and would replace bytes that are not UTF-8.
    private static func problem(in bytes: [UInt8]) -> String? {
        guard let text = String(validating: bytes, as: UTF8.self) else { return ": expected text in UTF-8" }
        // TOML's escapes for a NUL are refused, too: the system would end a path or a name at the NUL.
        guard let place = text.firstMatch(of: #/\0|\\u0{4}|\\U0{8}/#)?.range.lowerBound else { return nil }
        return ", line \(text[..<place].count(where: \.isNewline) + 1): expected text, found a NUL"
    }

    /// The configuration file; empty if there is none.
    static func file() throws -> File { try file(at: configurationFile) ?? File(path: configurationFile) }

    /// A file with settings; nil if there is none.
    static func file(at path: String) throws -> File? {
        guard let table = try table(at: path) else { return nil }
        let known = Key.allCases.map(\.rawValue)
        var file = File(path: path)
        // A file that cannot be read is an error. Without its settings, the user would have another name, at another
        // server.
        for (name, value) in table {
            func unexpected(_ value: TOML, for name: String, expected: String) -> Failure {
                Failure(.usage, "\(path): \(name): expected \(expected), found \(value.kind)")
            }
            if let key = Key(rawValue: name) {
                guard let text = value.text else { throw unexpected(value, for: name, expected: "a string in quotes") }
                file.texts[key] = text
            } else if name == "keys" {
                guard case .table(let table) = value else {
                    throw unexpected(value, for: name, expected: "a table, [keys], with the keys of actions")
                }
                for (action, value) in table {
                    guard let texts = value.texts else {
                        throw unexpected(value, for: "keys: \(action)", expected: "a list of keys, such as [\"d\"]")
                    }
                    file.keys[action] = texts
                }
            } else {
                throw Failure(
                    .usage,
                    "\(path): unknown setting '\(name)'."
                        + Spelling.question(name, among: known + ["keys"])
                        + " The settings are \(known.joined(separator: ", ")) and [keys].")
            }
        }
        return file
    }

    /// What the terminal client tells a user who looks at another window.
    static func notices() throws -> Attention.Wish {
        guard let text = try value(.notify) else { return .off }
        if let wish = Attention.Wish(rawValue: text) { return wish }
        let place = try layers().first { $0.text(.notify) != nil }?.place(of: .notify) ?? ""
        throw Failure(.usage, "\(place): expected mine, all or off, found '\(text)'")
    }

    /// The keys of the terminal client.
    static func keys() throws -> KeyMap {
        do {
            return try KeyMap(try file().keys)
        } catch let problem as KeyMap.Problem {
            throw Failure(.usage, "\(configurationFile): \(problem)")
        }
    }

    /// The address from the flag, the environment or a file, or else of the server on this machine, with the secret for
    /// that server.
    static func address(flag: String?, list: String?) throws -> HandAddress {
        var address = try place(flag: flag, list: list)
        address.token = try token(for: address.server, in: address.token)
        return address
    }

    /// The address as `address(flag:list:)` returns it, but with a secret only if the address itself holds one.
    static func place(flag: String?, list: String?) throws -> HandAddress {
        var address = try usual(flag).map { try HandAddress($0) } ?? .local
        if let list { address.list = list }
        return address
    }

    static func usual(_ flag: String?) throws -> String? {
        if let flag { return flag }
        let first = try Contexts.named()?.file.texts[.url] ?? Layer.environment.text(.url)
        if first == nil, let failure = try Contexts.missing() { throw failure }
        return try first ?? value(.url)
    }

    /// Whom to trust, and the user's own certificate.
    typealias Certificates = (trust: ClientConfiguration.Trust, own: ClientConfiguration.Certificate?)

    /// The authorities for a server's certificate, from $HAND_CA, a file, or the system, and the user's certificate.
    ///
    /// - Throws: `Failure` if a file is missing, and the server has TLS.
    static func certificates(for server: HandAddress.Server) throws -> Certificates {
        let (authorities, own) = (try value(.ca), try certificate())
        let trust = authorities.map { ClientConfiguration.Trust.file($0) } ?? .system
        if case .tls = server, authorities != nil || own != nil {
            _ = try EncryptionOptions.context(of: [authorities, own?.file, own?.key]) {
                try .client(trust: trust, certificate: own)
            }
        }
        return (trust, own)
    }

    /// Throws if there is no such file. That a file cannot be read is reported by whoever reads it.
    static func requireFile(_ path: String, _ name: String) throws {
        if access(path, F_OK) != 0, errno == ENOENT {
            throw Failure(.notFound, "\(name) \(path) cannot be read: no such file")
        }
    }

    /// The user's own certificate, from $HAND_CERT and $HAND_CERT_KEY or from a file. The key may be in the
    /// certificate's file.
    private static func certificate() throws -> ClientConfiguration.Certificate? {
        for layer in try layers() {
            let key = layer.text(.certKey)
            if let certificate = layer.text(.cert) { return .init(file: certificate, key: key ?? certificate) }
            if key != nil {
                throw Failure(
                    .usage, "\(layer.place(of: .certKey)) needs the certificate: \(layer.place(of: .cert)) is not set")
            }
        }
        return nil
    }

    static func person(flag: String?) throws -> String {
        let names = try layers().map { $0.text(.name) } + [environment["USER"], account(\.pw_name)]
        let name =
            try flag?.filled("the name of --as") ?? names.lazy.compactMap { $0 }.first { !$0.isBlank } ?? "somebody"
        guard name.utf8.count <= Limits.personBytes else {
            throw Failure(
                .usage,
                "your name has \(name.utf8.count) bytes; expected at most \(Limits.personBytes). --as sets another name"
            )
        }
        guard VisibleText.firstHidden(in: name) == nil else {
            throw Failure(
                .usage,
                "your name is one line, without control characters and invisible characters. --as sets another name")
        }
        return name
    }
}
