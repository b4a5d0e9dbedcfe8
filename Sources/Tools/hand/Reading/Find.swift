import ArgumentParser
import HandClient
import HandCore
import HandFormats
import HandSync
import HandWire

struct Find: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the items of all lists that contain a text.",
        discussion: """
            hand find milk; hand find --mine --due today. Each line says the list, and the number and the id of the item. If \
            nothing is found, the exit code is 3.
            """)

    @OptionGroup var server: ServerOptions
    @OptionGroup var looks: ItemFilter
    @Argument(help: "The text. Case does not matter.") var text: String?
    @Flag(help: "Search this machine's copies of lists, without asking the server.") var offline = false

    /// The number of lists that are loaded at the same time.
    private static let window = 4

    func validate() throws {
        if text == nil && !looks.isLimited { throw ValidationError("What? Give a text, or an option such as --mine.") }
        if text != nil && looks.grep != nil { throw ValidationError("Give the text once: leave out --grep.") }
    }

    func run() async throws {
        var looks = looks
        if let text { looks.grep = try text.filled("the text") }
        let found = try await offline ? searchCopies(looks) : search(looks)
        if found > 0 { return }
        throw Failure(
            .notFound,
            offline ? "none of this machine's copies has such an item" : "none of the server's lists has such an item")
    }

    /// Searches this machine's copies. Returns the number of items found.
    private func searchCopies(_ looks: ItemFilter) throws -> Int {
        var finder = Finder(looks, for: try server.user.name(), json: server.json)
        let address = try server.address()
        for name in try Identity.keptLists(at: address) where !finder.isDone {
            let copies = try Identity.kept(name, at: address)
            if let newest = copies.first { finder.search(newest.view(with: copies.dropFirst()), of: name) }
        }
        return finder.found
    }

    /// Loads the lists, some at the same time, and searches them in the order of their names. Returns the number of
    /// items found.
    private func search(_ looks: ItemFilter) async throws -> Int {
        try await server.withClient(timeLimited: false) { [server] client, address in
            let names = try await server.limited(client, address) { try await client.lists().map(\.name) }
            var finder = Finder(looks, for: try await client.person(), json: server.json)
            var loading: [Task<Hand, any Error>] = []
            defer { for task in loading { task.cancel() } }
            for (index, name) in names.enumerated() where !finder.isDone {
                while loading.count < Self.window, index + loading.count < names.count {
                    let next = names[index + loading.count]
                    loading.append(
                        Task { try await server.limited(client, address) { try await client.state(of: next).hand } })
                }
                do { finder.search(try await loading.removeFirst().value, of: name) } catch ClientError.refused(
                    let code, let reason) where [.noSuchList, .listDeleted, .notAllowed].contains(code)
                {
                    // The list was deleted or renamed since its name was read, or may not be read.
                    server.say("'\(name)': \(reason)")
                }
            }
            return finder.found
        }
    }
}

/// Prints the items that are looked for.
private struct Finder: Sendable {
    private let looks: ItemFilter
    private let me: String
    private let json: Bool
    private var left: Int
    private(set) var found = 0

    init(_ looks: ItemFilter, for me: String, json: Bool) {
        (self.looks, self.me, self.json, left) = (looks, me, json, looks.number ?? .max)
    }

    var isDone: Bool { left == 0 }

    mutating func search(_ list: Hand, of name: String) {
        let isShown = looks.filter(for: me)
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
                    let id = item.id.description.prefix(length)
                    Output.line("\(name)\t\(number)  \(id)  \(Printable.line(of: item.content))")
                }
            }
        }
    }
}
