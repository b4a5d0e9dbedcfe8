import ArgumentParser
import HandClient
import HandCore
import HandFormats
import HandWire

struct ListOptions: ParsableArguments {
    @OptionGroup var server: ServerOptions

    @Option(
        name: .shortAndLong,
        help: .init(
            "The list (default: the one in the address, or the only one).",
            valueName: "list"), completion: Completions.lists)
    var list: String?

    var given: String? { get throws { try server.address(list).list } }

    func name() throws -> String {
        if let name = try server.address(list).list { return name }
        throw Unnamed(server: server)
    }

    struct Unnamed: Error {
        let server: ServerOptions

        /// The name of the server's list, if the server answers soon and has only one list.
        ///
        /// - Throws: a `Failure` otherwise; it names the lists, if there are several.
        func onlyList() async throws -> String {
            var server = server
            server.givenTimeout = min(server.timeout, 2)
            let names = try? await server.withClient { client, _ in try await client.lists().map(\.name) }
            if let names, names.count == 1 {
                server.say("list '\(names[0])'")
                return names[0]
            }
            let known = names.map { $0.isEmpty ? ". There are no lists yet" : ". There are: " + Lists.summary(of: $0) }
            throw Failure(
                .usage,
                "which list? Name it with -l LIST, or put it into the address: hand://HOST:PORT/LIST" + (known ?? ""))
        }
    }

    /// Checks the value of the option -n: of how many items or commits the command is.
    static func check(_ number: Int?, upTo most: Int? = nil) throws {
        guard let number, !(1...(most ?? .max)).contains(number) else { return }
        throw ValidationError("-n: expected 1 \(most.map { "to \($0)" } ?? "or more"), found \(number)")
    }

    /// Loads the list at a revision, or the current list, and the person's name, as others see it. Keeps a copy of the
    /// current list for edits without the server.
    func whole(at revision: Int? = nil) async throws -> (hand: Hand, revision: Int, me: String) {
        let name = try name()
        return try await server.withClient(list: name) { client, _ in
            if revision != nil {
                let (hand, revision) = try await client.state(of: name, at: revision)
                return (hand, revision, try await client.person())
            }
            let list = try await client.wholeList(name)
            return (list.hand, list.revision, try await client.person())
        }
    }
}

extension HandClient {
    /// Loads a list, and keeps a copy of it for edits without the server. A list that cannot be kept is still returned.
    /// The log id is 0 if the server does not tell it.
    func wholeList(_ name: String) async throws -> (hand: Hand, revision: Int, logID: UInt64) {
        let (hand, revision) = try await state(of: name)
        guard let logID = try? await excerpt(of: name).logID else { return (hand, revision, 0) }
        try? await keep(PartialList(hand, logID: logID, revision: revision), of: name)
        return (hand, revision, logID)
    }
}

struct PlaceOptions: ParsableArguments {
    @Flag(help: "Put the items at the top of the list.") var top = false
    @Flag(help: "Put the items at the end of the list.") var end = false
    @Option(help: .init("Put the items before this item.", valueName: "item"), completion: Completions.items)
    var before: String?
    @Option(help: .init("Put the items after this item.", valueName: "item"), completion: Completions.items) var after:
        String?

    func validate() throws {
        let given = [top, end, before != nil, after != nil].filter { $0 }.count
        if given > 1 { throw ValidationError("Name one place: --top, --end, --before ITEM or --after ITEM.") }
    }

    /// The chosen place; nil if no place was given.
    func place() throws -> Place? {
        if top { return .top }
        if end { return .end }
        if let before { return .before(try ItemReference(before)) }
        if let after { return .after(try ItemReference(after)) }
        return nil
    }
}
