import ArgumentParser
import HandClient
import HandCore
import HandFormats
import HandSync
import HandWire

struct Move: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mv", abstract: "Move items to one place, in the order given, or to another list.",
        discussion: """
            hand mv 3 --top; hand mv 5 7 --after k3f9; hand mv 3 --to work. Their sub-items go with them. In the other list, the \
            place is the end or the one that you name. The items are deleted here once the other list has them; they keep their ids.
            """)

    @OptionGroup var chosen: ItemsOptions
    @OptionGroup var placeOptions: PlaceOptions
    @Flag(help: "Whether their sub-items go with them.") var reach: Reach = .withSub
    @OptionGroup var target: TargetOption

    enum Reach: String, EnumerableFlag {
        case withSub, alone
    }

    func run() async throws {
        let place = try placeOptions.place()
        if let list = target.to {
            return try await Transfer(
                chosen, to: list, at: place ?? .end, isAlone: reach == .alone, isMove: true
            ).run()
        }
        guard let place else {
            throw ValidationError("Where to? Use --top, --end, --before ITEM, --after ITEM or --to LIST.")
        }
        let isAlone = reach == .alone
        try await chosen.options.editBranches(try ItemReference.all(chosen.items), to: place) { list, positions in
            let branches = try positions.map { $0..<(isAlone ? $0 + 1 : try list.subitems(of: $0).upperBound) }
            let neighbours = try place.neighbours.map { try $0.position(in: list) }
            // Also after the last sub-item: the item would get its level.
            if let branch = branches.first(where: { neighbours.contains(where: $0.dropFirst().contains) }) {
                let item = branch.lowerBound + 1
                throw Failure(
                    .rejected,
                    "item \(item) takes its sub-items along, and cannot go among them; --alone moves it alone")
            }
            return try References.move(branches, to: place, in: list)
        }
    }
}

struct Copy: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cp", abstract: "Copy items to one place, in the order given, or to another list.",
        discussion: """
            hand cp 3 --to work; hand cp 3 --after 3. The place is the end, unless you name one. Their sub-items are copied, too. \
            Each copy is an item of its own, with its own id.
            """)

    @OptionGroup var chosen: ItemsOptions
    @OptionGroup var placeOptions: PlaceOptions
    @Flag(help: "Whether their sub-items are copied, too.") var reach: Move.Reach = .withSub
    @OptionGroup var target: TargetOption

    func run() async throws {
        let list = try target.to ?? chosen.options.list.name()
        let place = try placeOptions.place() ?? .end
        try await Transfer(chosen, to: list, at: place, isAlone: reach == .alone, isMove: false).run()
    }
}

/// The option `--to`.
struct TargetOption: ParsableArguments {
    @Option(help: .init("The other list, on the same server.", valueName: "list"), completion: Completions.lists)
    var to: String?
}

struct Sort: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sort", abstract: "Sort a list, in one commit.",
        discussion: """
            Items are sorted among those of the same level, and take their sub-items along. What is equal keeps its order. Headings \
            stay where they are: the items between two headings are sorted. 'hand undo' takes it back.
            """)

    @OptionGroup var options: EditOptions

    @Argument(
        help: "Sort only these items, which must follow each other; a single one: its sub-items.",
        completion: Completions.items)
    var items: [String] = []

    @Option(
        help: """
            text: neither case nor accents matter, and numbers count as numbers; done: ticked tasks last; due: by the dates \
            that the texts have, as in due:2026-12-01; newest: what was added last first.
            """)
    var by: ItemOrder = .text

    @Flag(help: "Sort the other way round.") var reverse = false

    func run() async throws {
        let references = try ItemReference.all(items)
        let arrivals = by == .newest ? try await options.withHistory(self.arrivals) : [:]
        try await options.edit(knowing: .all) { list in
            let hand = try list.whole()
            let range = try Self.range(of: references, in: hand)
            return by.sorting(hand, range, isReversed: reverse, arrivals: arrivals)
        }
    }

    /// The items with their sub-items; nil for the whole list.
    private static func range(of items: [ItemReference], in list: Hand) throws -> Range<Int>? {
        if items.isEmpty { return nil }
        let places = try Set(items.map { try $0.position(in: list) }).sorted()
        let runs = list.withSubitems(places.map { $0..<$0 + 1 })
        if runs.count == 1 { return runs[0] }
        throw Failure(.usage, "items to sort must follow each other, as in 'hand sort 3-9': nothing was done")
    }

    /// The revisions at which the items came into the list.
    private func arrivals() async throws -> [ItemID: Int] {
        let name = try options.list.name()
        return try await options.list.server.withClient(list: name) { client, _ in
            let state = try await client.state(of: name)
            return try await client.all(ArrivalPages(of: name, state.hand.ids, at: state.revision)).revisions
        }
    }
}

extension ItemOrder: ExpressibleByArgument {}
