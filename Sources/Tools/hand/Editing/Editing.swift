import ArgumentParser
import FoundationEssentials
import HandClient
import HandCore
import HandFormats
import HandSync
import HandWire

struct Add: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Add items, as tasks by default.",
        discussion: """
            They are added at the end by default. '-' reads one item per line from standard input. A text may begin with a \
            dash, as in "- wash"; one that looks like an option follows --. With --json, "changes" has the ids and the numbers \
            of the new items.
            """)

    @OptionGroup var options: EditOptions
    @OptionGroup var placeOptions: PlaceOptions
    @Argument(help: "The texts; '-' for standard input.") var texts: [String]
    @Flag(help: "The kind of the items.") var kind: Kind = .task
    @Option(help: .init("The address of a link; makes the item a link.", valueName: "address")) var link: String?
    @OptionGroup var level: LevelOption
    @Option(
        help: .init("Add them below this item's sub-items, as sub-items of it.", valueName: "item"),
        completion: Completions.items)
    var under: String?

    enum Kind: String, EnumerableFlag {
        case task, note, heading, card
    }

    func validate() throws {
        if link != nil && texts.count != 1 { throw ValidationError("--link needs exactly one text.") }
        if under != nil, try level.level != nil || placeOptions.place() != nil {
            throw ValidationError("--under determines the place and the level: leave out the other option.")
        }
    }

    private func contents() throws -> [Content] {
        var lines: [String] = []
        for text in texts {
            if text == "-" {
                let read = try StandardInput.text().split(whereSeparator: \.isNewline).map(String.init)
                lines += read.filter { !$0.isBlank }
            } else {
                lines.append(try text.filled("the text"))
            }
        }
        if lines.isEmpty { throw Failure(.usage, "standard input is empty: nothing was added") }
        if let link { _ = try link.filled("the address") }
        return try lines.map { text in
            if let link { return .link(text, url: link) }
            switch kind {
            case .task: return .task(text, done: false)
            case .note: return .note(text)
            case .heading: return .heading(text)
            case .card:
                guard let card = Card(text) else {
                    throw Failure(.usage, "'\(text)' is not a card: write Q♠, QS, 10h, or ?? for a card from the deck")
                }
                return .card(card)
            }
        }
    }

    func run() async throws {
        let chosen = try placeOptions.place() ?? .end
        var random = SystemRandomNumberGenerator()
        let items = try contents().map { Item(id: .random(using: &random), content: $0) }
        let (parent, level) = (try under.map { try ItemReference($0) }, level.level)
        let place = parent.map(Place.after) ?? chosen
        try await options.editBranches([], to: place) { list, _ in
            let spot = try place.spot(in: list)
            let level = level ?? UInt8(min(parent == nil ? spot.level : spot.level + 1, Int(Item.maxLevel)))
            let leveled = items.map { Item(id: $0.id, level: level, content: $0.content) }
            return Delta.inserting(leveled, at: spot.gap, spot.side)
        }
    }
}

struct Deal: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Deal cards from the deck to the end of the list.")

    @OptionGroup var options: EditOptions
    @Argument(help: "The number of cards.") var number = 1

    func validate() throws {
        if !(1...52).contains(number) { throw ValidationError("A deck has 52 cards: deal 1 to 52, not \(number).") }
    }

    func run() async throws {
        var random = SystemRandomNumberGenerator()
        let cards = (0..<number).map { _ in Item(id: .random(using: &random), content: .card(.faceDown)) }
        try await options.edit { list in
            guard list.rules.hasDeck else { throw Failure(.rejected, "this list has no deck: make one with --deck") }
            return Delta.inserting(cards, at: list.count, .before)
        }
    }
}

extension String {
    /// Returns the text.
    ///
    /// - Throws: `Failure` if the text is blank. The failure names the text and says what to do instead.
    func filled(_ name: String, _ advice: String? = nil) throws -> String {
        if !isBlank { return self }
        throw Failure(.usage, "\(name) is empty: nothing was done" + (advice.map { ". " + $0 } ?? ""))
    }
}

/// The option `--level`.
struct LevelOption: ParsableArguments {
    @Option(
        help: .init(
            "The level, 0 to \(Item.maxLevel): how far the item is indented. Sub-items stay below it.",
            valueName: "number"))
    var level: UInt8?

    func validate() throws {
        guard let level, level > Item.maxLevel else { return }
        throw ValidationError("--level: expected 0 to \(Item.maxLevel), found \(level)")
    }
}

/// The items to edit, and the options of every editing command.
struct ItemsOptions: ParsableArguments {
    @OptionGroup var options: EditOptions
    @Argument(help: "The items: numbers, ranges such as 2-5, or ids.", completion: Completions.items) var items:
        [String]

    /// Applies the same component to each item.
    func edit(_ component: Delta.Component) async throws {
        let references = try ItemReference.all(items)
        try await options.edit(references) { try References.components(references, in: $0) { component } }
    }
}

struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rm", abstract: "Delete items.", discussion: "hand rm 2 5-7; prints what was deleted.")

    @OptionGroup var chosen: ItemsOptions

    func run() async throws { try await chosen.edit(.delete(1)) }
}

struct Clear: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Delete all ticked tasks.", discussion: "Prints what was deleted; 'hand undo' brings it back.")

    @OptionGroup var options: EditOptions

    func run() async throws {
        try await options.edit(knowing: .all) { try References.components(ticked: try $0.whole()) { .delete(1) } }
    }
}

struct Move: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mv", abstract: "Move items to one place, in the order given, or to another list.",
        discussion: """
            hand mv 3 --top; hand mv 5 7 --after k3f9; hand mv 3 --to work. Their sub-items go with them. In the other list, the \
            place is the end or the one that you name. The items are deleted here once the other list has them.
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
            let gap = try place.spot(in: list).gap
            if let branch = branches.first(where: { $0.lowerBound < gap && gap < $0.upperBound }) {
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
        abstract: "Sort a list, in one commit.",
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
        let arrivals = by == .newest ? try await arrivals() : [:]
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

struct Edit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Change the text, the address or the level of an item.",
        discussion: """
            Words that others write at the same time are kept. So are changes since you looked, if you give --was, or \
            --if-revision with the revision that you saw ('hand show' and 'hand log' print it). If the same words have \
            changed, the edit is not made, and the exit code is 7.
            """)

    @OptionGroup var options: EditOptions
    @Argument(help: "The item: a number or an id.", completion: Completions.items) var item: String
    @Argument(help: "The new text; '-' reads it from standard input.") var text: String?
    @Option(help: .init("The address of a link.", valueName: "address")) var link: String?
    @OptionGroup var level: LevelOption

    @Option(
        help: ArgumentHelp(
            """
            The text as you last saw it: others' changes since then are kept. If they changed the same words, the edit is \
            not made, and the exit code is 7.
            """, valueName: "text"))
    var was: String?

    /// Standard input without its final newline.
    private static func standardInput() throws -> String {
        let text = try StandardInput.text()
        return text.hasSuffix("\n") ? String(text.dropLast()) : text
    }

    func validate() throws {
        if text == nil && was != nil { throw ValidationError("--was needs a new text.") }
    }

    func run() async throws {
        // This check is not in `validate`, so that the parser names a wrong option first.
        if text == nil && link == nil && level.level == nil {
            throw ValidationError("What should change? Give a text, --link ADDRESS or --level NUMBER.")
        }
        var (options, reference) = (options, try ItemReference(item))
        let words = try (text == "-" ? Self.standardInput() : text)?.filled(
            "the text", "To delete the item: hand rm \(item)")
        if let link { _ = try link.filled("the address") }
        var seen = (text: was, link: String?.none)
        // With --queue the edit may have to wait. Such an edit is made on the given revision only.
        if let revision = options.ifRevision, !options.queue {
            options.ifRevision = nil
            let item = try await item(reference, at: revision)
            reference = .prefix("\(item.id)")
            seen = (was ?? item.content.text, item.content.address)
        }
        let (link, text, was, wanted) = (link, words, seen, reference)
        let reword: @Sendable (PartialList, Int) throws -> Delta = { list, place in
            let present = try list.item(at: place).content
            return Delta.editing(
                at: place,
                present.rewording(
                    try Self.merged(text, from: was.text, with: present.text),
                    url: try Self.merged(link, from: was.link, with: present.address)))
        }
        guard let level = level.level.map(Int.init) else {
            return try await options.edit([wanted]) { try reword($0, try wanted.position(in: $0)) }
        }
        try await options.editBranches([wanted]) { list, places in
            guard let shift = try list.showing(places[0], atLevel: level) else {
                let highest = places[0] == 0 ? 0 : try list.shownLevel(at: places[0] - 1) + 1
                throw Failure(
                    .rejected, "item \(places[0] + 1) can be at level \(highest) at most, below the item above it")
            }
            return try reword(list, places[0]).composed(with: shift)
        }
    }

    /// The item at a revision.
    private func item(_ reference: ItemReference, at revision: Int) async throws -> Item {
        let name = try options.list.name()
        return try await options.list.server.withClient(list: name) { client, _ in
            try await HistoryReader.item(reference, of: name, at: revision, client)
        }
    }

    /// The new text, merged with others' changes to the old text.
    private static func merged(_ new: String?, from old: String?, with present: String?) throws -> String? {
        guard let new, let old, let present, new != present else { return new }
        let (mine, theirs) = (TextChange(from: old, to: new), TextChange(from: old, to: present))
        guard let loss = TextChange.losses(earlier: theirs, later: mine).first else {
            return try mine.transformed(over: theirs, as: .later).applied(to: present)
        }
        throw Failure(
            .conflict,
            """
            '\(loss.original)' is now '\(loss.lost)', where you wrote '\(loss.present)'. Nothing was changed. The text is \
            '\(present)'; yours is '\(new)'. Look at it, and repeat the edit with --was \(ShellWord.quoted(present)).
            """)
    }
}

struct Done: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Tick tasks.")

    @OptionGroup var chosen: ItemsOptions

    func run() async throws { try await chosen.options.edit(try ItemReference.all(chosen.items), Change(done: true)) }
}

struct Undone: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Untick tasks.", discussion: "hand undone 2 5-7; hand undone --all, for next week's shopping.")

    @OptionGroup var options: EditOptions
    @Argument(help: "The items: numbers, ranges such as 2-5, or ids.", completion: Completions.items) var items:
        [String] = []
    @Flag(help: "Untick all tasks.") var all = false

    func validate() throws {
        if items.isEmpty != all { throw ValidationError("Which tasks? Name them, or use --all.") }
    }

    func run() async throws {
        let change = Change(done: false)
        if all {
            return try await options.edit(knowing: .all) {
                try References.components(ticked: try $0.whole()) { .edit(change) }
            }
        }
        try await options.edit(try ItemReference.all(items), change)
    }
}
