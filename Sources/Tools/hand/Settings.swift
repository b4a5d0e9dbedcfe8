import Files
import Foundation
import HandClient
import HandFormats
import HandScreens
import TLS
import TOMLKit

/// Folders and defaults, from the environment and the configuration file.
enum Settings {
    private static var environment: [String: String] { ProcessInfo.processInfo.environment }

    /// $HOME; without it what the system knows of the user.
    private static var home: String {
        if let path = environment["HOME"], path.hasPrefix("/") { return path }
        return NSHomeDirectory()
    }

    private static func folder(_ variable: String, _ fallback: String) -> String {
        if let path = environment[variable], path.hasPrefix("/") { return path + "/hand" }
        return home + fallback + "/hand"
    }

    /// Where servers and clients keep their data.
    static var stateFolder: String { folder("XDG_STATE_HOME", "/.local/state") }
    /// The folder of a server's store, where no option names one.
    static var dataFolder: String {
        get throws { try ServeLayers([]).text(of: "data") ?? defaultDataFolder }
    }
    static var defaultDataFolder: String { stateFolder + "/server" }
    static var configurationFile: String { folder("XDG_CONFIG_HOME", "/.config") + "/config.toml" }
    /// What is set for 'hand serve', where no option names a file.
    static var serveFile: String { folder("XDG_CONFIG_HOME", "/.config") + "/serve.toml" }

    /// What the configuration file may say.
    struct File: Decodable {
        var url: String?
        var name: String?
        /// A file with the certificates that are trusted to sign servers' certificates.
        var ca: String?
        /// This person's own certificate, and its key if that is in another file.
        var cert: String?
        var certKey: String?
        /// The secret that says who this is.
        var token: String?
        /// Keys of the terminal client: names of actions, and for each the keys that do it.
        var keys: [String: [String]]?

        enum CodingKeys: String, CodingKey, CaseIterable {
            case url, name, ca, cert
            case certKey = "cert-key"
            case token, keys
        }
    }

    /// The configuration file; empty if there is none.
    static func file() throws -> File {
        let path = configurationFile
        do {
            guard let bytes = try PrivateFile.read(path)?.bytes else { return File() }
            return try TOMLDecoder(strictDecoding: true).decode(File.self, from: String(decoding: bytes, as: UTF8.self))
        } catch let error as FileError {
            // Without it somebody would be another person, at another server.
            throw Failure(.error, "\(error)")
        } catch let error as TOMLParseError {
            throw Failure(.usage, "\(path), line \(error.source.begin.line): \(Printable.clean(error.description))")
        } catch let error as UnexpectedKeysError {
            let known = File.CodingKeys.allCases.map(\.rawValue)
            let unknown = error.keys.keys.min() ?? ""
            throw Failure(
                .usage,
                "\(path): unknown setting '\(Printable.clean(unknown))'."
                    + Spelling.question(unknown, among: known)
                    + " There are url, name, ca, cert, cert-key, token and [keys].")
        } catch {
            throw Failure(
                .usage,
                "\(path): expected url, name, ca, cert, cert-key and token, each a text in quotes, and [keys] with lists "
                    + "of keys, as delete = [\"d\"]; found something else (\(Printable.clean("\(error)")))")
        }
    }

    /// The keys of the terminal client, from the file.
    static func keys() throws -> KeyMap {
        do {
            return try KeyMap(try file().keys ?? [:])
        } catch let problem as KeyMap.Problem {
            throw Failure(.usage, "\(configurationFile): \(problem)")
        }
    }

    /// The address, from the flag, the environment, the file, or the server on this machine; with the secret for that server.
    static func address(flag: String?, list: String?) throws -> HandAddress {
        var address = try place(flag: flag, list: list)
        address.token = try token(for: address.server, in: address.token)
        return address
    }

    /// The address, with a secret only if it is part of it.
    static func place(flag: String?, list: String?) throws -> HandAddress {
        var address = try usual(flag).map { try HandAddress($0) } ?? .local
        if let list { address.list = list }
        return address
    }

    static func usual(_ flag: String?) throws -> String? { try flag ?? environment["HAND_URL"] ?? file().url }

    /// Who must have signed the certificate of a server with TLS: $HAND_CA, the file's, or whom the system trusts.
    static func trust() throws -> TLSContext.Trust {
        try (environment["HAND_CA"] ?? file().ca).map { .file($0) } ?? .system
    }

    /// What a server with TLS is shown that asks who this is: $HAND_CERT and $HAND_CERT_KEY, or the file's. The key may be in the
    /// certificate's file.
    static func certificate() throws -> TLSContext.Certificate? {
        let file = try file()
        let pairs = [
            (environment["HAND_CERT"], environment["HAND_CERT_KEY"], "$HAND_CERT"),
            (file.cert, file.certKey, "cert in \(configurationFile)"),
        ]
        for (certificate, key, name) in pairs {
            if let certificate { return .init(file: certificate, key: key ?? certificate) }
            if key != nil { throw Failure(.usage, "there is a key, but no certificate: \(name) is not set") }
        }
        return nil
    }

    static func person(flag: String?) throws -> String {
        let name = try flag ?? environment["HAND_NAME"] ?? file().name ?? environment["USER"] ?? ""
        return name.isEmpty ? "somebody" : name
    }
}
