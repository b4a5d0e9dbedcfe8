import ArgumentParser
import Glibc
import HandClient
import HandCore
import HandFormats
import HandSync
import HandWire

struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ls", abstract: "Print the items of a list: number, id, text.",
        discussion: """
            hand ls 3-7; hand ls --open --grep milk. The numbers count in the whole list, as other commands expect them. On a \
            terminal with colours, ticked tasks are dim, and ↵ stands for a line break in a text.
            """)

    @OptionGroup var list: ListOptions
    @OptionGroup var filter: ItemFilter

    @Argument(help: "Print only these items: numbers, ranges such as 2-5, or ids.", completion: Completions.items)
    var items: [String] = []

    @Flag(help: "Print this machine's copy of the list, without asking the server.") var offline = false
    @Flag(
        name: .customLong("new"),
        help: "Print only what others have added or changed since you looked at the list last.")
    var isNew = false

    func validate() throws {
        if offline && isNew { throw ValidationError("Use --offline or --new: only the server knows what is new.") }
    }

    func run() async throws {
        let name = try list.name()
        let references = try ItemReference.all(items)
        if !offline, !isNew, let part = filter.part(references) { return try await show(part, of: name, references) }
        let (hand, me, news) =
            try await offline ? (kept(name), list.server.user.name(), nil) : current(name, isAll: references.isEmpty)
        ItemPrinter(list.server, for: me).print(hand, where: try predicate(references, in: hand, news, for: me))
        if hand.isEmpty && !list.server.json { list.server.say("'\(name)' is empty") }
        if news?.isEmpty == true, !hand.isEmpty, !list.server.json { list.server.say("nothing is new in '\(name)'") }
        if !offline { tellWaiting(name) }
    }

    /// Says that edits of the list wait on this machine, or were refused.
    private func tellWaiting(_ name: String) {
        let journals = (try? Identity.journals(at: list.server.address(name))) ?? []
        let waits = journals.contains { path in
            // A program that has the journal open sends the edits itself, and records their arrival later.
            !ClientJournal.isInUse(at: path) && ClientJournal.waitingLists(inJournalAt: path).contains(name)
        }
        if waits { list.server.say("edits of yours wait to be sent: \(Suggestion.command("sync -l", name))") }
        if let kept = Shelf.summary(list.server, of: name) { list.server.say("\(kept)") }
    }

    /// The server's list, the person's name, and which of the items are new if only they are printed. If no server
    /// answers, the failure says whether this machine has a copy.
    private func current(_ name: String, isAll: Bool) async throws -> (Hand, me: String, news: Set<Int>?) {
        let (reader, server) = (try NewsReader(list.server), list.server)
        let (isNew, isAll) = (isNew, isAll && !filter.isLimited)
        do {
            return try await server.withClient(list: name) { client, _ in
                let (hand, revision, logID) = try await client.wholeList(name)
                let news =
                    isNew ? try await reader.places(in: hand, at: revision, of: name, log: logID, client) : nil
                // What was deleted or moved is none of the new items.
                if isAll, !isNew { await server.noteLook(at: name, revision: revision, of: logID, client) }
                return (hand, try await client.person(), news)
            }
        } catch {
            let failure = Failure(error)
            guard failure.status == .unreachable,
                try !Identity.kept(name, at: try list.server.address(name)).isEmpty
            else { throw error }
            let command =
                list.list.map { Suggestion.command("ls --offline -l", $0) } ?? Suggestion.command("ls --offline")
            throw Failure(.unreachable, failure.message + ". This machine has a copy: \(command)")
        }
    }

    /// Which items to print; nil for all.
    private func predicate(
        _ references: [ItemReference], in hand: Hand, _ news: Set<Int>?, for me: String
    ) throws -> ((Int, Item) -> Bool)? {
        if references.isEmpty, !filter.isLimited, news == nil { return nil }
        let named = try Set(references.map { try $0.position(in: hand) + 1 })
        var left = filter.number ?? .max
        let isWanted = filter.predicate(for: me)
        return { number, item in
            guard left > 0, named.isEmpty || named.contains(number), news?.contains(number - 1) != false,
                isWanted(item)
            else { return false }
            left -= 1
            return true
        }
    }

    /// Requests only a part of the list, and prints the chosen items.
    private func show(_ part: [Excerpt.Selection], of name: String, _ references: [ItemReference]) async throws {
        let (excerpt, me) = try await list.server.withClient(list: name) { client, _ in
            (try await client.excerpt(of: name, part), try await client.person())
        }
        let known = PartialList(excerpt)
        let named = try Set(references.map { try $0.position(in: known) })
        let isWanted = filter.predicate(for: me)
        let shown = excerpt.entries.filter { entry in
            (named.isEmpty || named.contains(entry.position)) && isWanted(entry.item)
        }
        let isWhole = excerpt.entries.count == excerpt.count
        let printed = shown.prefix(filter.number ?? .max).map { (number: $0.position + 1, item: $0.item) }
        ItemPrinter(list.server, for: me).print(
            printed, upTo: printed.last?.number ?? 0,
            idLength: isWhole ? ShortID.length(in: try known.whole()) : ShortID.length(ofCount: excerpt.count))
        if excerpt.count == 0 && !list.server.json { list.server.say("'\(name)' is empty") }
    }

    /// The newest copy on this machine, with the edits that wait in any of its copies.
    private func kept(_ name: String) throws -> Hand {
        let copies = try Identity.kept(name, at: try list.server.address(name))
        guard let newest = copies.first else {
            throw Failure(
                .notFound,
                "this machine has no copy of '\(name)'; '\(Suggestion.command("ls"))' keeps a copy"
            )
        }
        let waiting = copies.contains(where: \.hasPending) ? ", with edits that wait to be sent" : ""
        list.server.say("this machine's copy: revision \(newest.revision) of the server\(waiting)")
        return Identity.shown(copies)
    }
}

/// The options that choose which items to print.
struct ItemFilter: ParsableArguments {
    @Flag(help: "Print only tasks that are not ticked.") var open = false
    @Flag(help: "Print only tasks that are ticked.") var done = false

    @Option(help: .init("Print only items that contain this text, ignoring case.", valueName: "text"))
    var grep: String?

    @Flag(help: "Print only what names you in its text, as @name.") var mine = false

    @Option(
        help: "Print only open tasks with due:2026-12-01 in their text: due by today, or within a week, or overdue.")
    var due: Due?

    @Option(name: .shortAndLong, help: .init("Print only this many items, from the top.", valueName: "number"))
    var number: Int?

    func validate() throws {
        if open && done { throw ValidationError("Use --open or --done, not both.") }
        if done && due != nil { throw ValidationError("--due is about open tasks: leave out --done.") }
        try ListOptions.check(number)
    }

    /// The part of a list that is needed; nil for the whole list.
    func part(_ references: [ItemReference]) -> [Excerpt.Selection]? {
        if !references.isEmpty { return ItemReference.selections(of: references) }
        guard let number, !isChoosy else { return nil }
        return [.positions(start: 0, count: min(number, Rules.unlimitedCount))]
    }

    enum Due: String, CaseIterable, ExpressibleByArgument {
        case today, week, overdue

        /// The last day that counts.
        fileprivate var lastDay: String {
            let days = [Due.today: 0, .week: 7, .overdue: -1][self] ?? 0
            return LocalTime.day(days)
        }
    }

    /// Whether any option leaves items out by what they are.
    private var isChoosy: Bool { open || done || grep != nil || mine || due != nil }

    /// Whether any option leaves items out.
    var isLimited: Bool { isChoosy || number != nil }

    /// Returns whether to print an item. Make the filter once for all items, because reading options is slow.
    ///
    /// - Parameter me: the person's name.
    func predicate(for me: String) -> (Item) -> Bool {
        let (isTask, done, grep) = (open || done || due != nil, done, grep.map(TextSearch.init))
        let (person, lastDay) = (mine ? me : nil, due?.lastDay)
        return { item in
            if isTask, item.content.kind != .task || item.content.isTicked != done { return false }
            if let person, !TaskWords.names(person, in: item.content.text) { return false }
            if let lastDay {
                guard let day = TaskWords.due(item.content.text), day <= lastDay else { return false }
            }
            return grep?.isFound(in: Printable.line(of: item.content)) ?? true
        }
    }
}

struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Print a list at a revision, or one item in full.")

    @OptionGroup var list: ListOptions
    @Argument(help: "An item (default: the whole list).", completion: Completions.items) var item: String?
    @Option(help: .init("The revision to print (default: the newest).", valueName: "revision")) var at: Int?

    func run() async throws {
        let (name, at) = (try list.name(), at)
        if let item { return try await show(ItemReference(item), of: name) }
        let state = try await list.whole(at: at)
        if list.server.json {
            Output.json([
                "name": .string(name), "revision": JSONValue(state.revision), "count": JSONValue(state.hand.count),
                "digest": .string(Hex.text(state.hand.digest)), "rules": JSON.rules(state.hand.rules),
                "items": JSON.items(state.hand),
            ])
        } else {
            list.server.say("\(name), revision \(state.revision), \(Amount.count(state.hand.count, "item"))")
            ItemPrinter(list.server, for: state.me).print(state.hand)
        }
    }

    /// Prints one item, and who has added and changed it, unless it is an item of an earlier revision.
    private func show(_ reference: ItemReference, of name: String) async throws {
        let (server, at) = (list.server, at)
        let (found, history) = try await server.withClient(list: name, timeLimited: false) { client, address in
            let found = try await server.limited(client, address) {
                try await ListHistory.item(reference, of: name, at: at, client)
            }
            if at != nil { return (found, nil as ItemHistory?) }
            return (found, try await ListHistory.history(of: found.item.id, in: name, client, server, address))
        }
        let item = found.item
        let steps = history.map { [$0.isWhole ? $0.steps.last : nil, $0.steps.count > 1 ? $0.steps.first : nil] } ?? []
        let people = history?.people ?? [:]
        if server.json {
            func json(_ step: ItemHistory.Step?) -> JSONValue? {
                step.map { step in
                    JSONValue(fields: [
                        "what": step.verb, "person": people[step.author] ?? "?", "revision": step.revision,
                        "at": JSON.date(milliseconds: step.time),
                    ])
                }
            }
            let last = steps.compactMap(\.self).last
            return Output.json(
                .object(
                    .init(["id": JSON.id(item.id), "number": found.number, "revision": found.revision])
                        + JSON.members(of: item)
                        + .init(["added": json(steps.first ?? nil), "last": json(last)])))
        }
        Output.line("\(item.id)  \(item.content.kind.name), item \(found.number) of revision \(found.revision)")
        Output.line("\(Printable.line(of: item.content))")
        for step in steps.compactMap(\.self) {
            Output.line("\(step.verb)  \(LocalTime.here(step.time))  \(people[step.author] ?? "?")")
        }
    }
}

struct Who: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "who", abstract: "Show who else is on a list, on which items, and who is editing.")

    @OptionGroup var list: ListOptions
    @Flag(help: "Show yourself, too: your open screens and other programs.") var all = false

    func run() async throws {
        let (name, json) = (try list.name(), list.server.json)
        let (people, entries, me) = try await list.server.withClient(list: name) { [all] client, _ in
            let people = try await client.people(on: name)
            let ids = people.compactMap { $0.place.focus?.item }
            let entries = ids.isEmpty ? [] : try await client.excerpt(of: name, ids.map { .ids($0...$0) }).entries
            return (people, entries, all ? nil : try await client.person())
        }
        var rows: [Printable] = []
        for person in people {
            guard case .here(let name, let focus) = person.place, name != me else { continue }
            let entry = entries.first { $0.item.id == focus?.item }
            if json {
                Output.json(
                    JSONValue(fields: [
                        "author": person.author, "person": name, "item": JSONValue(orNull: focus?.item?.description),
                        "editing": focus?.isEditing == true, "away": focus == .away,
                    ]))
            } else {
                let summary = focus?.isEditing == true ? "edits" : "on"
                let place: Printable =
                    entry.map { "\t\(summary) \($0.position + 1): \(Printable.line(of: $0.item.content))" }
                    ?? (focus == .away ? "\taway" : "")
                rows.append("\(name)\(place)")
            }
        }
        Output.table(rows)
        if rows.isEmpty, !json { list.server.say("nobody \(people.isEmpty ? "" : "else ")has '\(name)' open") }
    }
}
