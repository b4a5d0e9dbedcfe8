import ArgumentParser
import HandClient
import HandCore
import HandFormats
import HandSync
import HandWire

/// The items to edit, and the options of every editing command.
struct ItemsOptions: ParsableArguments {
    @OptionGroup var options: EditOptions
    @Argument(help: "The items: numbers, ranges such as 2-5, or ids.", completion: Completions.items) var items:
        [String]
}

struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rm", abstract: "Delete items.",
        discussion: "hand rm 2 5-7; prints what was deleted. Sub-items stay, one level further out.")

    @OptionGroup var chosen: ItemsOptions

    func run() async throws {
        let references = try ItemReference.all(chosen.items)
        try await chosen.options.editBranches(references) { try $0.deleting(Set($1).sorted()) }
    }
}

struct Clear: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clear", abstract: "Delete all ticked tasks.",
        discussion: "Prints what was deleted; 'hand undo' brings it back.")

    @OptionGroup var options: EditOptions

    func run() async throws {
        try await options.edit(knowing: .all) { list in
            let whole = try list.whole()
            return whole.deleting(whole.indices.filter { whole[$0].content.isTicked }.map { $0..<$0 + 1 })
        }
    }
}

struct Edit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit", abstract: "Change the text, the address or the level of an item.",
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
            not made, and the exit code is 7. Such an edit does not wait with --queue.
            """, valueName: "text"))
    var was: String?

    /// Standard input without its final newline.
    private static func standardInput() throws -> String {
        let text = try StandardInput.text()
        return text.hasSuffix("\n") ? String(text.dropLast()) : text
    }

    func validate() throws {
        if text == nil && was != nil { throw ValidationError("--was needs a new text.") }
        if was != nil && options.ifRevision != nil {
            throw ValidationError("Use --was or --if-revision, not both: each says what you saw.")
        }
    }

    func run() async throws {
        guard was != nil, options.queue else { return try await edit(options) }
        // What others have written meanwhile is compared with the server's text.
        var options = options
        options.queue = false
        try await self.options.withHistory { [options] in try await edit(options) }
    }

    private func edit(_ options: EditOptions) async throws {
        // This check is not in `validate`, so that the parser names a wrong option first.
        if text == nil && link == nil && level.level == nil {
            throw ValidationError("What should change? Give a text, --link ADDRESS or --level NUMBER.")
        }
        var (options, reference) = (options, try ItemReference(item))
        let words = try (text == "-" ? Self.standardInput() : text)?.filled(
            "the text", "To delete the item: hand rm \(item)")
        if let link { _ = try link.filled("the address") }
        var seen = (text: was, link: String?.none, level: UInt8?.none)
        // With --queue the edit may have to wait. Such an edit is made on the given revision only.
        if let revision = options.ifRevision, !options.queue {
            options.ifRevision = nil
            let item = try await item(reference, at: revision)
            reference = .prefix("\(item.id)")
            seen = (item.content.text, item.content.address, item.level)
        }
        let (link, text, was, wanted) = (link, words, seen, reference)
        let reword: @Sendable (PartialList, Int) throws -> Delta = { list, place in
            let present = try list.item(at: place).content
            return Delta.editing(
                at: place,
                present.rewording(
                    try Self.merged(text, from: was.text, with: present.text),
                    url: try Self.merged(link, from: was.link, with: present.address, isAddress: true)))
        }
        guard let level = level.level.map(Int.init) else {
            return try await options.edit([wanted]) { try reword($0, try wanted.position(in: $0)) }
        }
        try await options.editBranches([wanted]) { list, places in
            let present = try list.item(at: places[0]).level
            if let former = was.level, present != former, Int(present) != level {
                throw Failure(
                    .conflict,
                    """
                    item \(places[0] + 1) is at level \(present) now, and was at level \(former). Nothing was changed. Look at \
                    it, and repeat the edit without --if-revision.
                    """)
            }
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
            try await ListHistory.item(reference, of: name, at: revision, client).item
        }
    }

    /// The new text, merged with others' changes to the old text.
    private static func merged(
        _ new: String?, from old: String?, with present: String?, isAddress: Bool = false
    ) throws -> String? {
        guard let new, let old, let present, new != present else { return new }
        let (mine, theirs) = (TextChange(from: old, to: new), TextChange(from: old, to: present))
        guard let loss = TextChange.losses(earlier: theirs, later: mine).first else {
            return try mine.transformed(over: theirs, as: .later).applied(to: present)
        }
        let (what, way): (String, Printable) =
            isAddress ? ("address", "without --if-revision") : ("text", "with --was \(ShellWord.quoted(present))")
        throw Failure(
            .conflict,
            """
            '\(loss.original)' is now '\(loss.lost)', where you wrote '\(loss.present)'. Nothing was changed. The \(what) is \
            '\(present)'; yours is '\(new)'. Look at it, and repeat the edit \(way).
            """)
    }
}

struct Done: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "done", abstract: "Tick tasks.")

    @OptionGroup var chosen: ItemsOptions

    func run() async throws { try await chosen.options.edit(try ItemReference.all(chosen.items), Change(done: true)) }
}

struct Undone: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "undone", abstract: "Untick tasks.",
        discussion: "hand undone 2 5-7; hand undone --all, for next week's shopping.")

    @OptionGroup var options: EditOptions
    @Argument(help: "The items: numbers, ranges such as 2-5, or ids.", completion: Completions.items) var items:
        [String] = []
    @Flag(help: "Untick all tasks.") var all = false

    func validate() throws {
        if all, !items.isEmpty { throw ValidationError("Name tasks, or use --all, but not both.") }
        if !all, items.isEmpty { throw ValidationError("Which tasks? Name them, or use --all.") }
    }

    func run() async throws {
        let change = Change(done: false)
        if all {
            return try await options.edit(knowing: .all) {
                References.changing(ticked: try $0.whole(), change)
            }
        }
        try await options.edit(try ItemReference.all(items), change)
    }
}
