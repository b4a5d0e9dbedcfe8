import ArgumentParser
import FoundationEssentials
import HandFormats
import HandLoad
import HandServer
import HandStore
import HandWire

/// Reads and changes a server's access rules.
struct AccessOptions: ParsableArguments {
    @OptionGroup var server: AdminOptions
    @OptionGroup var database: SharedStoreOptions
    @OptionGroup var result: ResultOptions

    var json: Bool { result.json }

    private var folder: String {
        get throws { try server.data ?? ServeLayers([]).data }
    }

    private var file: AccessFile {
        get throws {
            let folder = try folder
            return AccessFile(folder: folder, recall: { try SQLiteStore.accessRules(in: folder) })
        }
    }

    /// The options for the database of servers that share their lists, unless a folder is named.
    private var sharing: SharedStoreOptions {
        get throws { server.data == nil ? try database.withDefaults() : database }
    }

    /// The rules of servers that share a store; nil if the rules belong to one server.
    private func shared() throws -> SharedAccess? { try sharing.open().map(SharedAccess.init) }

    func read() throws -> AccessBook {
        if let shared = try shared() { return try shared.read() }
        return try unlessLost { try $0.read() }
    }

    private func unlessLost<Result>(_ body: (AccessFile) throws -> Result) throws -> Result {
        let file = try file
        do { return try body(file) } catch is AccessFile.Lost {
            throw Failure(.error, "\(file.path) is missing: the server lets nobody in. " + TokenCommand.wayOut)
        }
    }

    /// Restores the rules that the store remembers, or begins again without any.
    func restore(isEmpty: Bool) throws {
        if try sharing.store != nil {
            throw Failure(.error, "the rules are in the servers' database: restore them from a backup of the database")
        }
        guard try file.restore(isEmpty: isEmpty) else {
            throw Failure(.error, "\(try file.path) exists: nothing was changed")
        }
    }

    func change<Result>(_ body: (inout AccessBook) throws -> Result) throws -> Result {
        let result: Result
        if let shared = try shared() {
            result = try shared.change(body)
        } else {
            if (try? isServers()) == false { throw try otherRules("Nothing was changed") }
            result = try unlessLost { try $0.change(body) }
        }
        Output.note(done: "the rules are changed")
        return result
    }

    func hasList(_ name: String) throws -> Bool {
        if let database = try sharing.open() { return try database.list(named: name) != nil }
        return try SQLiteStore.hasList(name, in: folder)
    }

    /// The address of the running server's page; nil if no server runs, or if it has no page.
    var page: String? { answer("/page") }

    /// The address at which others reach the running server; nil if no server runs, or if it does not know.
    var address: String? { answer("/address") }

    private func answer(_ path: String) -> String? {
        let answer = try? server.ask(path, timeout: 5_000).trimmed(\.isWhitespace)
        return answer.flatMap { $0.isEmpty ? nil : String($0) }
    }

    /// Throws if the holder of a token cannot have that name.
    static func check(_ name: String) throws {
        guard name.utf8.count <= Limits.personBytes else {
            throw ValidationError("A name has 1 to \(Limits.personBytes) bytes.")
        }
        guard VisibleText.firstHidden(in: name) == nil else {
            throw ValidationError("A name is one line, without control characters and invisible characters.")
        }
        guard !name.lowercased().hasPrefix(DownMessage.Granted.guestMark.trimmed(\.isWhitespace)) else {
            throw ValidationError("'\(name)' begins like the name of a user without a token. Choose another name.")
        }
    }

    /// Says which of the lists that rules are about are not there yet.
    func noteMissing(_ lists: [String]) {
        for list in lists where (try? hasList(list)) == false {
            result.say("there is no list '\(list)' yet: the role counts once somebody makes it")
        }
    }

    /// Makes a token, and prints its secret in one or several forms, which are never shown again.
    func add(
        _ name: String?, _ grant: GrantOptions, on lists: [String], _ words: (AccessBook.Token) -> Printable,
        _ forms: (String) -> [(member: String, text: String)]
    ) throws {
        let end = try grant.end(from: .now)
        let (token, secret) = try change { $0.add(name: name, role: grant.role, lists: lists, expires: end, at: .now) }
        Output.note(done: "there is a new token. To end it: \(Suggestion.command("token revoke", token.id))")
        if json {
            Output.json(.object(Self.json(token) + forms(secret).map { .init($0.member, .string($0.text)) }))
        } else {
            result.say(words(token))
            for form in forms(secret) { Output.line("\(form.text)") }
        }
        try confirm()
        noteMissing(lists)
    }

    /// Prints whether the running server uses the changed rules.
    func confirm() throws {
        if try sharing.store != nil { return result.say("all servers apply the change within a second") }
        do {
            guard try isServers() else { throw try otherRules("The change is stored") }
            result.say("the running server has applied the change")
        } catch let failure as ServerFailure {
            try explain(failure.reason, try server.path)
        }
    }

    /// Why the running server did not say which rules it uses.
    private struct ServerFailure: Error { let reason: Failure }

    /// Whether the running server uses the rules of the folder.
    private func isServers() throws -> Bool {
        // Another command may change the file between the answer and the comparison, but not every time.
        for _ in 0..<20 {
            let answer: String
            do { answer = try server.ask("/access", timeout: 5_000) } catch let failure as Failure {
                throw ServerFailure(reason: failure)
            }
            if try answer == file.fingerprint() + "\n" { return true }
        }
        return false
    }

    /// - Parameter outcome: what has become of the change.
    private func otherRules(_ outcome: String) throws -> Failure {
        Failure(
            .error,
            "the server at \(try server.path) uses other rules than those in \(try folder). Name the --store or the --data "
                + "with which it was started. \(outcome)")
    }

    /// Reports why the server did not confirm.
    private func explain(_ failure: Failure, _ path: String) throws {
        if failure.status == .error {
            throw Failure(.error, "the change is stored, but the running server has not applied it: \(failure.message)")
        }
        let folder = try folder
        if SQLiteStore.isInUse(folder: folder) {
            return result.say(
                "cannot tell whether the running server has applied the change: \(path) does not answer. See its log, or stop it"
            )
        }
        result.say("no server is running on \(folder): the change takes effect when one starts")
    }

    static func noToken(_ id: String) -> Failure {
        Failure(.notFound, "there is no token '\(id)'; '\(Suggestion.command("token list"))' prints them")
    }

    /// A token without its secret.
    static func json(_ token: AccessBook.Token) -> [JSONValue.Member] {
        func roles(onDeleted isDeleted: Bool) -> JSONValue {
            let roles = token.listRoles.filter { $0.isDeleted == isDeleted }
            return .object(roles.map { .init($0.name, .string($0.role.rawValue)) })
        }
        return .init([
            "id": token.id, "name": token.name, "role": token.role.rawValue,
            "lists": roles(onDeleted: false), "deletedLists": roles(onDeleted: true),
            "created": token.created.formatted(.iso8601),
            "expires": JSONValue(orNull: token.expires?.formatted(.iso8601)),
        ])
    }
}

/// The role and the expiry of a new token.
struct GrantOptions: ParsableArguments {
    @Option(help: "What the token's holder may do.") var role = Role.write
    @Option(
        help: .init(
            "How long the token is valid, for example 12h or 7d (default: until it is revoked).", valueName: "time"))
    var expires: String?

    func validate() throws {
        if role == .none {
            throw ValidationError("--role none: such a token is useless. To end a token, use 'hand token revoke'.")
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

struct TokenLists: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: .init(
            "A list to which the role applies; may be repeated (default: all lists).", valueName: "list"),
        completion: Completions.lists)
    var list: [String] = []

    func validate() throws {
        for name in list {
            if let problem = ListName.problem(with: name) { throw ValidationError("--list: \(problem)") }
        }
    }
}
