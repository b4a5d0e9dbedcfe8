import ArgumentParser
import FoundationEssentials
import HandFormats
import HandServer
import HandSync
import HandWire

extension Role: ExpressibleByArgument {}

struct TokenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token", abstract: "Manage who may do what on a server.",
        discussion: """
            A token is a secret that you give to a person. Its holder acts under the token's name and with its role, on one list or \
            on all. A running server applies changes within a second, also to open connections. \
            Roles: read, append (also add items), write (also make all other edits, and lists), admin (also delete, bring back \
            and rename lists); none.

            Once there are tokens, the names of users without one begin with (guest).

            The person stores the secret in $HAND_TOKEN, or as "token" in ~/.config/hand/config.toml; with ? instead of the secret, \
            hand asks for it. The secret is sent only to the server of $HAND_URL, or of "url" in that file (with neither, to the one \
            that the command names), and over a network only with TLS, unless HAND_TOKEN_IN_CLEAR=1. On a command line, other users \
            of the machine could see it.
            """,
        subcommands: [
            CreateToken.self, GrantToken.self, ListTokens.self, RevokeToken.self, Guests.self, RestoreTokens.self,
        ])

    /// Advice if the access rules are lost.
    static let wayOut =
        "Put the file back, or restore what the store remembers: \(Suggestion.command("token restore")); or start again, "
        + "without tokens: \(Suggestion.command("token restore --empty"))"
}

private struct RestoreTokens: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Restore the access rules if their file is lost.",
        discussion: """
            A server that has lost its file access.json lets nobody in. The store remembers the rules that a server last read from \
            that file. Changes made later, while no server was running, are lost: check with 'hand token list' whether a revoked \
            token is back.
            """)

    @Flag(help: "Forget the rules. Nobody is let in until there are tokens, or rules for guests.") var empty = false
    @OptionGroup var access: AccessOptions

    func run() throws {
        try access.restore(isEmpty: empty)
        let count = try access.read().count
        let words = "restored \(Amount.count(count, "token")); see '\(Suggestion.command("token list"))'"
        access.result.tell(["restored": JSONValue(count)], "\(words)")
        try access.confirm()
    }
}

private struct CreateToken: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Make a token for a person, and print its secret, once.")

    @Argument(help: "The person's name, as others will see it.") var name: String
    @OptionGroup var grant: GrantOptions
    @OptionGroup var lists: TokenLists
    @OptionGroup var access: AccessOptions

    func validate() throws { try AccessOptions.check(name.filled("the name")) }

    func run() throws {
        try access.add(name, grant, on: lists.list) {
            "token \($0.id) for \(name); this is the only time its secret is shown:"
        } _: {
            [("secret", $0)]
        }
    }
}

private struct GrantToken: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "grant", abstract: "Give a token another role, also for open connections.",
        discussion: """
            The role applies to the named lists, or to all lists. If a token has two roles for a list, the higher one counts. \
            'none' removes the role.
            """)

    @Argument(help: "The token's id, as 'hand token list' prints it.", completion: Completions.tokens) var id: String
    @Option(help: "What the token's holder may do.") var role: Role
    @OptionGroup var lists: TokenLists
    @OptionGroup var access: AccessOptions

    func run() throws {
        let changed = try access.change { book in
            if !lists.list.isEmpty, let everywhere = book.all.first(where: { $0.id == id })?.role, role < everywhere {
                throw Failure(
                    .usage,
                    "nothing was changed: token \(id) has the role '\(everywhere.rawValue)' on all lists, and the higher role "
                        + "counts. Lower that one first: \(Suggestion.command("token grant --role \(role.rawValue)", id))"
                )
            }
            return book.change(id, to: role, lists: lists.list)
        }
        guard let token = changed else { throw AccessOptions.noToken(id) }
        if access.json {
            Output.json(.object(AccessOptions.json(token)))
        } else {
            Output.line("\(ListTokens.line(token))")
        }
        try access.confirm()
        if role != .none { access.noteMissing(lists.list) }
    }
}

private struct ListTokens: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Print the tokens, and what guests may do.")

    @OptionGroup var access: AccessOptions

    func run() throws {
        let book = try access.read()
        if access.json {
            let tokens = book.all.map { JSONValue.object(AccessOptions.json($0)) }
            return Output.json(["guests": Self.json(book.guests), "tokens": .array(tokens)])
        }
        for token in book.all { Output.line("\(Self.line(token))") }
        Output.line(
            "guests: \(book.guests.local.rawValue) on this machine, \(book.guests.remote.rawValue) from elsewhere")
    }

    static func json(_ guests: AccessBook.Guests) -> JSONValue {
        ["local": .string(guests.local.rawValue), "remote": .string(guests.remote.rawValue)]
    }

    static func line(_ token: AccessBook.Token) -> String {
        var roles = token.listRoles.map { role in
            "\(role.role.rawValue) on '\(role.name)'" + (role.isDeleted ? " (deleted)" : "")
        }
        if token.role > .none || roles.isEmpty { roles.insert("\(token.role.rawValue) on all lists", at: 0) }
        let end = token.expires.map { ($0 < .now ? ", expired " : ", until ") + $0.formatted(.iso8601) } ?? ""
        return "\(token.id)  \(token.name): \(roles.joined(separator: ", "))\(end)"
    }
}

private struct RevokeToken: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Revoke a token; connections that use it are closed.")

    @Argument(help: "The token's id, as 'hand token list' prints it.", completion: Completions.tokens) var id: String
    @OptionGroup var access: AccessOptions

    func run() throws {
        let isRevoked = try access.change { $0.revoke(id) }
        guard isRevoked else {
            throw AccessOptions.noToken(id)
        }
        if access.json { Output.json(["id": .string(id), "revoked": true]) }
        try access.confirm()
    }
}

private struct Guests: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "guests",
        abstract:
            "Set what users without a token may do (default: everything from this machine, nothing from elsewhere).")

    @Option(help: "Over Unix sockets and loopback.") var local: Role?
    @Option(help: "Over the network.") var remote: Role?
    @OptionGroup var access: AccessOptions

    func validate() throws {
        if local == nil, remote == nil { throw ValidationError("Give --local, --remote, or both.") }
    }

    func run() throws {
        let guests = try access.change { book in
            book.guests.local = local ?? book.guests.local
            book.guests.remote = remote ?? book.guests.remote
            return book.guests
        }
        if access.json { Output.json(["guests": ListTokens.json(guests)]) }
        try access.confirm()
    }
}
