import ArgumentParser
import Glibc
import HandClient
import HandFormats
import HandWire

struct Rename: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rename", abstract: "Give a list another name.",
        discussion: """
            Clients that have the list open stay on it, and tokens for the list remain valid. Commands and links with the \
            old name no longer find it, and may find another list that takes the name later.
            """)

    @OptionGroup var server: ServerOptions
    @Argument(help: "The list's name.", completion: Completions.lists) var name: String
    @Argument(help: "The new name: up to 128 bytes, without '/'.") var newName: String

    func validate() throws {
        if let problem = ListName.problem(with: newName) { throw ValidationError(problem) }
    }

    func run() async throws {
        let (name, newName) = (name, newName)
        Interruption.begin()
        try await server.withClient(list: name, orMake: false) { client, _ in
            try await client.rename(name, to: newName)
        }
        server.tell(
            ["name": .string(newName), "formerName": .string(name)],
            "'\(name)' is now called '\(newName)'")
    }
}

struct Delete: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Delete a list, for everybody.",
        discussion: """
            The server keeps the list for a while: 'hand undelete' brings it back, and 'hand lists --deleted' shows \
            until when. It goes sooner if a new list needs its place: a server and each user have a largest number of lists.
            """)

    @OptionGroup var server: ServerOptions
    @Argument(help: "The list's name.", completion: Completions.lists) var name: String
    @Flag(name: .shortAndLong, help: "Do not ask for confirmation.") var force = false

    func run() async throws {
        let name = name
        if !force {
            // A missing list, or a missing right, is reported before the question.
            let list = try await server.withClient { client, _ in
                if let failure = try await Lists.missing(name, client, orMake: false) { throw failure }
                if let role = try await client.granted()?.role(on: name), role < .admin {
                    throw Failure(.notAllowed, "your role on '\(name)' is \(role); deleting it needs admin")
                }
                return try await client.lists().first { $0.name == name }
            }
            let items = Amount.count(list?.count ?? 0, "item")
            Output.message("This deletes '\(name)' (\(items)) for everybody. Type its name to continue:")
            guard readLine() == name else {
                throw Failure(.error, "nothing was deleted" + (isatty(0) == 1 ? "" : "; in scripts: --force"))
            }
        }
        let kept = try await server.change(list: name) {
            try await $0.delete(name)
        } thenAsk: {
            try await $0.deletedLists(pages: 1).first { $0.list.name == name }
        }
        let command = Suggestion.command("undelete", name)
        let back = kept.map { "; until \(LocalTime.here($0.keptUntil)), bring it back with: \(command)" }
        server.tell(
            .object([.init("name", .string(name))] + (kept.map(Lists.json) ?? [])),
            "deleted '\(name)'\(back ?? "")")
    }
}

struct Undelete: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "undelete", abstract: "Bring a deleted list back, with its history.",
        discussion: """
            If several lists had the name, the one deleted last comes back; 'hand lists --deleted' shows all, and --id \
            chooses another one. If the name has been taken since, choose a new one with --name.
            """)

    @OptionGroup var server: ServerOptions
    @Argument(help: "The name that the list had.", completion: Completions.deletedLists) var name: String
    @Option(help: .init("The number that 'hand lists --deleted' shows.", valueName: "number")) var id: UInt64?
    @Option(
        name: .customLong("name"), help: .init("The name for the list (default: its former name).", valueName: "name"))
    var newName: String?

    func validate() throws {
        if let newName, let problem = ListName.problem(with: newName) { throw ValidationError(problem) }
        if id == 0 { throw ValidationError("--id: expected a number that 'hand lists --deleted' shows, found 0") }
    }

    func run() async throws {
        let (name, id, newName) = (name, id, newName ?? name)
        Interruption.begin()
        let entry = try await server.withClient { client, _ in
            // The list is named by its number, so that the message is about the list that comes back.
            let lists = try await client.deletedLists()
            let entry = lists.first { $0.list.name == name && (id ?? $0.deletion) == $0.deletion }
            do {
                try await client.undelete(name, deletion: entry?.deletion ?? id, as: newName)
            } catch ClientError.refused(.listExists, _) where newName == name {
                let command = Suggestion.command("undelete --name OTHER", name)
                let advice = "bring the deleted one back under another name: \(command)"
                throw Failure(.conflict, "there is another list '\(name)' now; \(advice)")
            } catch ClientError.refused(.noSuchList, _) {
                throw Failure(.notFound, Self.missing(name, id, among: lists.map(\.list.name)))
            }
            return entry
        }
        let (count, revision) = (entry?.list.count ?? 0, entry?.list.revision ?? 0)
        server.tell(
            ["name": .string(newName), "count": JSONValue(count), "revision": JSONValue(revision)],
            "'\(newName)' is back, with \(Amount.count(count, "item"))")
    }

    /// The message if no list can be brought back.
    private static func missing(_ name: String, _ id: UInt64?, among names: [String]) -> String {
        let command = Suggestion.command("lists --deleted")
        if let id, names.contains(name) {
            return "no list '\(name)' was deleted with the number \(id). '\(command)' shows the numbers"
        }
        let guess = Spelling.question(name, among: names)
        return "there is no deleted list '\(name)'." + (guess.isEmpty ? " '\(command)' shows all" : guess)
    }
}
