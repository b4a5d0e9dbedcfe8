import Files
import Foundation
import HandFormats

/// A token belongs to one server. No other gets it, whatever address the user was talked into.
extension Settings {
    /// A token that the user has set, and its server.
    private struct Token {
        let secret: String
        let server: HandAddress.Server
        let origin: String
    }

    /// The token for a server: from the address, $HAND_TOKEN, or the file; for `?` the user is asked.
    ///
    /// - Parameter given: what stands in the address of that server.
    static func token(for server: HandAddress.Server, in given: String?) throws -> String? {
        guard let token = try given ?? tokens(for: server).first(where: { $0.server == server })?.secret else {
            return nil
        }
        try refuseClear(server)
        return token == "?" ? try SecretPrompt.token.get() : token
    }

    /// $HAND_TOKEN is for the server of $HAND_URL, or else the file's; the file's token for the file's server. Where neither says
    /// which, the first is for the server that the command names, the second for the one on this machine.
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

    /// A sentence about the token that a server did not get because it is for another; nil if there is none.
    static func withheld(from server: HandAddress.Server) -> String? {
        guard let tokens = try? tokens(for: server), let first = tokens.first,
            tokens.allSatisfy({ $0.server != server })
        else { return nil }
        return "The token in \(first.origin) was not sent: it is for \(Printable.clean("\(first.server)"))."
    }

    /// Whether the user would be asked for the token.
    static func asksForToken(url: String?) -> Bool {
        guard let place = try? place(flag: url, list: nil) else { return false }
        let token = try? place.token ?? tokens(for: place.server).first { $0.server == place.server }?.secret
        return token == "?"
    }

    /// Without TLS, whoever is on the way could read the token.
    private static func refuseClear(_ server: HandAddress.Server) throws {
        guard case .tcp = server, !server.isThisMachine else { return }
        if ProcessInfo.processInfo.environment["HAND_TOKEN_IN_CLEAR"] == "1" { return }
        throw Failure(
            .usage,
            "the token was not sent to \(Printable.clean("\(server)")): without TLS others could read it. Use hands://, if the "
                + "server has a certificate; HAND_TOKEN_IN_CLEAR=1 if the network protects it")
    }

    private static func warnOfReaders() {
        guard PrivateFile.others(configurationFile) & 0o044 != 0 else { return }
        Output.message("others can read the token in \(configurationFile): chmod 600 \(configurationFile)")
    }
}
