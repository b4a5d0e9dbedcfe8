import ArgumentParser
import HandClient
import HandCore
import HandFormats
import HandSync
import HandWire

/// Prints items as people or scripts want them.
enum ItemPrinter {
    static func print(_ items: some Sequence<Item>, json: Bool) {
        if json {
            for item in items { Output.json(JSON.item(item)) }
            return
        }
        let all = Array(items)
        let length = ShortID.length(in: all)
        let width = String(all.count).count
        for (index, item) in all.enumerated() {
            let number = String(repeating: " ", count: width - String(index + 1).count) + String(index + 1)
            Output.line("\(number)  \(item.id.description.prefix(length))  \(Printable.line(of: item.content))")
        }
    }
}

struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ls", abstract: "Print the items of a list: number, id, text.")

    @OptionGroup var list: ListOptions

    func run() async throws {
        let name = try list.name()
        let state = try await list.server.withClient(list: name) { client, _ in try await client.state(of: name) }
        ItemPrinter.print(state.hand, json: list.server.json)
        if state.hand.isEmpty && !list.server.json { list.server.say("'\(name)' is empty") }
    }
}

struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print a list as it was at a revision, or one item in full.")

    @OptionGroup var list: ListOptions

    @Argument(help: "An item; without it the whole list.")
    var item: String?

    @Option(help: ArgumentHelp("The revision to look at (default: the newest).", valueName: "revision"))
    var at: Int?

    func run() async throws {
        let (name, at) = (try list.name(), at)
        let reference = try item.map { try ItemReference($0) }
        let state = try await list.server.withClient(list: name) { client, _ in try await client.state(of: name, at: at)
        }
        if let reference {
            let item = state.hand[try reference.position(in: state.hand)]
            if list.server.json { return Output.json(JSON.item(item)) }
            Output.line("\(item.id)  \(item.content.kind.name)")
            Output.line(Printable.line(of: item.content))
            return
        }
        if list.server.json {
            Output.json([
                "name": .string(name), "revision": JSONValue(state.revision), "count": JSONValue(state.hand.count),
                "digest": .string(Hex.text(state.hand.digest)), "rules": JSON.rules(state.hand.rules),
                "items": JSON.items(state.hand),
            ])
        } else {
            list.server.say("\(name), revision \(state.revision), \(Words.count(state.hand.count, "item"))")
            ItemPrinter.print(state.hand, json: false)
        }
    }
}

struct Who: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Show who is on a list, and on which item.")

    @OptionGroup var list: ListOptions

    func run() async throws {
        let json = list.server.json
        let (people, view) = try await list.withList { _, followed -> ([DownMessage.Presence], Hand) in
            let state = try await followed.state()
            // Everybody is told at once, oneself included, shortly after the list.
            for await case .presence(let people) in followed.events
            where people.contains(where: { $0.author == state.author }) && people.count > 0 {
                return (people, state.view)
            }
            return ([], state.view)
        }
        for person in people {
            guard case .here(let name, let item) = person.place else { continue }
            let index = item.flatMap { view.index(of: $0) }
            if json {
                Output.json([
                    "author": JSONValue(person.author), "person": .string(name),
                    "item": item.map { .string($0.description) } ?? .null,
                ])
            } else {
                let place = index.map { "\ton \($0 + 1): \(Printable.line(of: view[$0].content))" } ?? ""
                Output.line(Printable.clean(name) + place)
            }
        }
    }
}

struct Watch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Follow a list live, until Ctrl-C.",
        discussion: "Reconnects by itself. With --json each change is one line: the delta, and the list's revision.")

    @OptionGroup var list: ListOptions

    @Flag(help: "Print the whole list after each change.")
    var full = false

    func run() async throws {
        let name = try list.name()
        let address = try Settings.address(flag: list.server.url, list: name)
        let client = try Identity.client(at: address, person: try Settings.person(flag: list.server.person))
        let followed = try await client.open(name)
        var shown: Hand?
        for await event in followed.events {
            switch event {
            case .changed(let hand, let delta):
                try await changed(from: shown, to: hand, delta, followed)
                shown = hand
            case .status(.offline(let reason, let wait?)):
                list.server.say("offline: \(reason); next try in \(wait) ms")
            case .status(.offline(_, retryIn: nil)): _ = try await followed.live()
            case .status(.online): list.server.say("online")
            case .notice(let notice): if let text = Notices.text(notice) { list.server.say(text) }
            case .refused(let code, let message): throw ClientError.refused(code, message)
            case .progress(let items, let total):
                if !list.server.quiet { Output.progress("\(items) of \(total) items") }
            case .status(.connecting), .presence: break
            }
        }
        await client.close()
    }

    private func changed(from old: Hand?, to new: Hand, _ delta: Delta, _ followed: FollowedList) async throws {
        if list.server.json {
            let revision = try await followed.state().revision
            var members: [JSONValue.Member] = [
                .init("revision", JSONValue(revision)), .init("count", JSONValue(new.count)),
            ]
            members.append(
                old == nil ? .init("items", JSON.items(new)) : .init("delta", JSON.delta(delta)))
            return Output.json(.object(members))
        }
        guard let old, !full else { return ItemPrinter.print(new, json: false) }
        for line in DeltaText.lines(delta, from: old, to: new) { Output.line(line) }
    }
}
