import ArgumentParser
import Foundation
import HandFormats
import HandScript
import HandServer
import HandSync
import HandWire

/// Where a server keeps who may do what.
struct AccessOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The folder of the server's store (default: $HAND_DATA, then ~/.local/state/hand/server).",
            valueName: "folder")) var data: String?
    @Flag(help: "Print JSON.") var json = false

    private var file: AccessFile {
        get throws { AccessFile(folder: try data ?? Settings.dataFolder) }
    }

    func read() throws -> AccessBook {
        do { return try file.read() } catch { throw Failure(.error, "\(error)") }
    }

    func change<Result>(_ body: (inout AccessBook) throws -> Result) throws -> Result {
        do { return try file.change(body) } catch let error as AccessFile.Failure { throw Failure(.error, "\(error)") }
    }

    static func noToken(_ id: String) -> Failure {
        Failure(.notFound, "there is no token '\(Printable.clean(id))'; 'hand token list' prints them")
    }

    /// What a token is, without its secret.
    static func json(_ token: AccessBook.Token) -> [JSONValue.Member] {
        [
            .init("id", .string(token.id)), .init("name", .string(token.name)),
            .init("role", .string(token.role.rawValue)),
            .init(
                "lists",
                .object(
                    token.listRoles.filter { !$0.isDeleted }.map { .init($0.name, .string($0.role.rawValue)) })),
            .init("created", .string(token.created.formatted(.iso8601))),
            .init("expires", token.expires.map { .string($0.formatted(.iso8601)) } ?? .null),
        ]
    }
}

/// What a token that is made is for.
struct GrantOptions: ParsableArguments {
    @Option(help: "What its holder may do.") var role = Role.write
    @Option(
        help: ArgumentHelp(
            "How long it is valid, for example 12h, 7d (default: until it is revoked).", valueName: "time"))
    var expires: String?

    func validate() throws {
        if role == .none {
            throw ValidationError("--role: a token for nothing is of no use; 'hand token revoke' ends one.")
        }
        _ = try end(from: .now)
    }

    func end(from time: Date) throws -> Date? {
        guard let expires else { return nil }
        guard let seconds = Script.seconds(expires), seconds > 0, seconds < 3.2e9 else {
            throw ValidationError("--expires '\(expires)': expected a time such as 30m, 12h or 7d.")
        }
        return time.addingTimeInterval(seconds)
    }
}

/// The lists that a role is for.
struct TokenLists: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("A list that the role is for; may be repeated (default: all lists).", valueName: "list"))
    var list: [String] = []

    func validate() throws {
        for name in list {
            if let problem = ListName.problem(with: name) { throw ValidationError("--list: \(problem)") }
        }
    }
}
