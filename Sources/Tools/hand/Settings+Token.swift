import Files
import Foundation
import HandFormats

/// A token belongs to one server. No other server gets it, whatever address the user was tricked into using.
extension Settings {
    /// A token that the user has set, and its server.
    private struct Token {
        let secret: String
        let server: HandAddress.Server
        let origin: String
    }

    /// The token for a server, from the address, $HAND_TOKEN, or the file. For `?` the user is asked.
    ///
    /// - Parameter given: the token in the server's address.
    static func token(for server: HandAddress.Server, in given: String?) throws -> String? {
        guard let token = try given ?? tokens(for: server).first(where: { $0.server == server })?.secret else {
            return nil
        }
        try refuseClear(server)
        return token == "?" ? try SecretPrompt.token.get() : token
    }

    /// $HAND_TOKEN belongs to the server of $HAND_URL, or else to the file's server; the file's token belongs to the file's server, or
    /// else to that of $HAND_URL. If neither names a server, $HAND_TOKEN is for the command's server, and the file's token for this
    /// machine's.
    private static func tokens(for server: HandAddress.Server) throws -> [Token] {
        let (file, environment) = (try file(), ProcessInfo.processInfo.environment)
        let (url, variable) = (try file.texts[.url].map { try HandAddress($0).server }, environment[Key.url.variable])
        var found: [Token] = []
        if let secret = environment[Key.token.variable] {
            let home = try variable.map { try HandAddress($0).server } ?? url ?? server
            found.append(Token(secret: secret, server: home, origin: "$HAND_TOKEN"))
        }
        if let secret = file.texts[.token] {
            warnOfReaders()
            let home = try url ?? variable.map { try HandAddress($0).server } ?? HandAddress.local.server
            found.append(Token(secret: secret, server: home, origin: configurationFile))
        }
        return found
    }

    /// A sentence about a token that was not sent because it belongs to another server; nil if there is none.
    static func withheld(from server: HandAddress.Server) -> String? {
        guard let tokens = try? tokens(for: server), let first = tokens.first,
            tokens.allSatisfy({ $0.server != server })
        else { return nil }
        return "The token in \(first.origin) was not sent: it is for \(Printable.clean("\(first.server)"))."
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
            "the token was not sent to \(Printable.clean("\(server)")): without TLS others could read it. Use hands:// if the "
                + "server has a certificate; HAND_TOKEN_IN_CLEAR=1 if the network protects it")
    }

    private static func warnOfReaders() {
        guard PrivateFile.others(configurationFile) & 0o044 != 0 else { return }
        Output.message("others can read the token in \(configurationFile): chmod 600 \(configurationFile)")
    }
}
