import ArgumentParser
import HandCore
import HandFormats
import HandWire

struct Add: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Add items, as tasks by default.",
        discussion: """
            They are added at the end by default. '-' reads standard input to its end, one item per line; marks such \
            as # stay in the texts ('hand import --format markdown' reads them). A text may begin with a \
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
                let read = try StandardInput.text().split(separator: "\n").map(String.init)
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
            if let under, spot.level == Int(Item.maxLevel) {
                throw Failure(
                    .rejected, "item \(under) is at level \(Item.maxLevel), the last: it can have no sub-items")
            }
            let level = level ?? UInt8(min(parent == nil ? spot.level : spot.level + 1, Int(Item.maxLevel)))
            if items.contains(where: { $0.content == .card(.faceDown) }) { try list.rules.expectDeck() }
            let leveled = items.map { Item(id: $0.id, level: level, content: $0.content) }
            return Delta.inserting(leveled, at: spot.gap, spot.side)
        }
    }
}

struct Deal: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "deal", abstract: "Deal cards from the deck to the end of the list.")

    @OptionGroup var options: EditOptions
    @Argument(help: "The number of cards.") var number = 1

    func validate() throws {
        if !(1...52).contains(number) { throw ValidationError("A deck has 52 cards: deal 1 to 52, not \(number).") }
    }

    func run() async throws {
        var random = SystemRandomNumberGenerator()
        let cards = (0..<number).map { _ in Item(id: .random(using: &random), content: .card(.faceDown)) }
        try await options.edit { list in
            try list.rules.expectDeck()
            return Delta.inserting(cards, at: list.count, .before)
        }
    }
}

extension Rules {
    fileprivate func expectDeck() throws {
        if !hasDeck { throw Failure(.rejected, "this list has no deck; one that has: hand create --deck NAME") }
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
            "The level, 0 to \(Item.maxLevel): how far the item is indented, one step more than the item above at most."
                + " Sub-items stay below it.",
            valueName: "number"))
    var level: UInt8?

    func validate() throws {
        guard let level, level > Item.maxLevel else { return }
        throw ValidationError("--level: expected 0 to \(Item.maxLevel), found \(level)")
    }
}
