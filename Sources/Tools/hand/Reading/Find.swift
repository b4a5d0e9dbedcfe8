import ArgumentParser
import HandClient
import HandCore
import HandFormats
import HandSync
import HandWire

struct Find: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "find", abstract: "Print the items of all lists that contain a text.",
        discussion: """
            hand find milk; hand find --mine --due today. Each line says the list, and the number and the id of the item. If \
            nothing is found, the exit code is 3.
            """)

    @OptionGroup var server: ServerOptions
    @OptionGroup var filter: ItemFilter
    @Argument(help: "The text. Case does not matter.") var text: String?
    @Flag(help: "Search this machine's copies of lists, without asking the server.") var offline = false

    func validate() throws {
        if text == nil && !filter.isLimited { throw ValidationError("What? Give a text, or an option such as --mine.") }
        if text != nil && filter.grep != nil { throw ValidationError("Give the text once: leave out --grep.") }
    }

    func run() async throws {
        var filter = filter
        if let text { filter.grep = try text.filled("the text") }
        let found = try await offline ? searchCopies(filter) : search(filter)
        if found > 0 { return }
        throw Failure(
            .notFound,
            offline ? "none of this machine's copies has such an item" : "none of the server's lists has such an item")
    }

    /// Searches this machine's copies. Returns the number of items found.
    private func searchCopies(_ filter: ItemFilter) throws -> Int {
        var finder = Finder(filter, for: try server.user.name(), json: server.json)
        let address = try server.address()
        for name in try Identity.keptLists(at: address) where !finder.isDone {
            let copies = try Identity.kept(name, at: address)
            if !copies.isEmpty { finder.search(Identity.shown(copies), of: name) }
        }
        return finder.found
    }

    /// Searches the server's lists in the order of their names. Returns the number of items found.
    private func search(_ filter: ItemFilter) async throws -> Int {
        try await server.withClient(timeLimited: false) { [server] client, address in
            let lists = try await server.limited(client, address) { try await client.lists() }
            var finder = Finder(filter, for: try await client.person(), json: server.json)
            let load: @Sendable (DownMessage.ListEntry) async throws -> Hand = { list in
                try await client.state(of: list.name).hand
            }
            try await server.forEach(lists, of: client, at: address, load) { list, hand in
                finder.search(hand, of: list.name)
                return !finder.isDone
            }
            return finder.found
        }
    }
}

/// Prints the items that are looked for.
private struct Finder: Sendable {
    private let filter: ItemFilter
    private let me: String
    private let json: Bool
    private var left: Int
    private(set) var found = 0

    init(_ filter: ItemFilter, for me: String, json: Bool) {
        (self.filter, self.me, self.json, left) = (filter, me, json, filter.number ?? .max)
    }

    var isDone: Bool { left == 0 }

    mutating func search(_ list: Hand, of name: String) {
        let isShown = filter.predicate(for: me)
        let all = zip(1..., list).lazy.map { (number: $0, item: $1) }
        let shown = Array(all.filter { isShown($0.item) }.prefix(left))
        if shown.isEmpty { return }
        (left, found) = (left - shown.count, found + shown.count)
        let length = json ? 0 : ShortID.length(of: list.ids)
        Output.together {
            for (number, item) in shown {
                if json {
                    let place = [JSONValue.Member("list", .string(name)), .init("number", JSONValue(number))]
                    Output.json(.object(place + [.init("id", JSON.id(item.id))] + JSON.members(of: item)))
                } else {
                    let id = ShortID.text(of: item.id, length: length)
                    let gap = id.hasPrefix("@") ? " " : "  "
                    Output.line("\(name)\t\(number)\(gap)\(id)  \(Printable.line(of: item.content))")
                }
            }
        }
    }
}
