import Disk
import FoundationEssentials
import HandFormats
import Synchronization

/// Tokens. A token belongs to one server, and is sent to no other, whatever address the user was tricked into using.
extension Settings {
    /// A token that the user has set, and its server.
    private struct Token {
        let secret: String
        let server: HandAddress.Server
        let origin: String
    }

    /// The token for a server, from the address, $HAND_TOKEN, or a file. Asks the user if the token is `?`.
    ///
    /// - Parameter given: the token in the server's address.
    static func token(for server: HandAddress.Server, in given: String?) throws -> String? {
        guard let token = try given ?? tokens(for: server).first(where: { $0.server == server })?.secret else {
            return nil
        }
        try refuseClear(server)
        return token == "?" ? try SecretPrompt.token.get() : token
    }

    /// The tokens that the user has set. A token belongs to the server that is set in the same place. If no server is
    /// set there: $HAND_TOKEN belongs to the server of the context in use, or else of the configuration file, or else
    /// of the command; the configuration file's token belongs to the server of $HAND_URL, or else of this machine. A
    /// context that is named for one command gets only its own token.
    private static func tokens(for server: HandAddress.Server) throws -> [Token] {
        func home(_ layer: Layer) throws -> HandAddress.Server? {
            try layer.text(.url).map { try HandAddress($0).server }
        }
        return try layers().compactMap { layer in
            guard let secret = layer.text(.token) else { return nil }
            let others: HandAddress.Server
            switch layer {
            case .environment:
                // The token may be for the server of a context that is gone.
                if try home(layer) == nil, try Contexts.missing() != nil { return nil }
                let usual = try Contexts.current().map { try home(.file($0.file)) } ?? home(.file(file()))
                others = usual ?? server
            case .file(let file):
                warnOfReaders(file.path)
                others = try home(.environment) ?? HandAddress.local.server
            }
            return Token(secret: secret, server: try home(layer) ?? others, origin: layer.origin(.token))
        }
    }

    /// A sentence about a token that was not sent because it belongs to another server; nil if there is none.
    static func withheld(from server: HandAddress.Server) -> String? {
        guard let tokens = try? tokens(for: server), let first = tokens.first,
            tokens.allSatisfy({ $0.server != server })
        else { return nil }
        return "The token in \(first.origin) was not sent: it is for \(first.server)."
    }

    /// Whether the user would be asked for a token.
    static func asksForToken(url: String?) -> Bool {
        guard let place = try? place(flag: url, list: nil) else { return false }
        let token = try? place.token ?? tokens(for: place.server).first { $0.server == place.server }?.secret
        return token == "?"
    }

    /// Refuses to send a token over a network without TLS, where others could read it.
    private static func refuseClear(_ server: HandAddress.Server) throws {
        guard case .tcp = server, !server.isThisMachine else { return }
        if ProcessInfo.processInfo.environment["HAND_TOKEN_IN_CLEAR"] == "1" { return }
        throw Failure(
            .usage,
            "the token was not sent to \(server): without TLS, others could read it. Use hands:// if the "
                + "server has a certificate, or HAND_TOKEN_IN_CLEAR=1 if the network is protected")
    }

    /// The files that the user was warned of: a command may read one several times.
    private static let warned = Mutex<Set<String>>([])

    private static func warnOfReaders(_ file: String) {
        guard PrivateFile.others(file) & 0o044 != 0, warned.withLock({ $0.insert(file).inserted }) else { return }
        Output.message("others can read the token in \(file): chmod 600 \(file)")
    }
}
