import ArgumentParser
import FoundationEssentials
import Glibc
import HandApp
import HandClient
import HandCore
import HandFormats
import HandWire

extension ListFormat {
    /// The format of a file's extension; nil if the file has none, as a pipe.
    ///
    /// - Throws: for an extension that is none of those of `formats`.
    fileprivate init?(of file: String, among formats: [ListFormat]) throws {
        let ending = URL(fileURLWithPath: file).pathExtension
        if ending.isEmpty { return nil }
        let format = ListFormat(fileName: "." + ending)
        guard let format, formats.contains(format) else {
            let names = formats.map { "\($0.name) (.\($0.fileExtensions[0]))" }
            let problem = format.map { "\($0.title) (.\(ending)) is only imported" } ?? "unknown format '.\(ending)'"
            throw Failure(.usage, "\(problem). Use --format: \(names.joined(separator: ", "))")
        }
        self = format
    }

    /// Reads one of the names of `formats`.
    fileprivate static func named(among formats: [ListFormat]) -> @Sendable (String) throws -> ListFormat {
        { name in
            let format = allCases.first { $0.name == name }
            if let format, formats.contains(format) { return format }
            let problem = format.map { "\($0.title) is only imported" } ?? "no such format"
            throw ValidationError("\(problem). Use \(names(formats))")
        }
    }

    /// The names for the help.
    fileprivate static func names(_ formats: [ListFormat]) -> String {
        formats.dropLast().map(\.name).joined(separator: ", ") + " or \(formats[formats.count - 1].name)."
    }
}

struct Export: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Write a list as JSON Lines, a Markdown checklist, todo.txt or CSV.",
        discussion: "'hand help formats' says what each format keeps.")

    @OptionGroup var list: ListOptions
    @Argument(help: "The file; '-' for standard output. Its extension selects the format.", completion: .file())
    var file = "-"
    @Option(
        help: .init("\(ListFormat.names(ListFormat.written))", valueName: "format"),
        completion: .list(ListFormat.written.map(\.name)), transform: ListFormat.named(among: ListFormat.written))
    var format: ListFormat?
    @Option(help: .init("The revision to export (default: the newest).", valueName: "revision")) var at: Int?
    @Flag(name: .shortAndLong, help: "Overwrite a file that is not an export, without asking.") var force = false

    func run() async throws {
        let (name, at) = (try list.name(), at)
        let format = try format ?? ListFormat(of: file, among: ListFormat.written) ?? .jsonl
        let target = file == "-" ? nil : try ExportFile(file)
        let state = try await list.whole(at: at)
        if !force, let target, try target.holdsSomethingElse(than: format, of: state.hand) { try askForLeave() }
        guard let target else { return Output.together { format.export(state.hand) { Output.data($0) } } }
        try target.write { write throws(LineWriter.Problem) in try format.export(state.hand, write: write) }
        list.server.tell(
            ["file": .string(file), "exported": JSONValue(state.hand.count), "revision": JSONValue(state.revision)],
            "wrote \(Amount.count(state.hand.count, "item")) of '\(name)' at revision \(state.revision) to \(file)")
    }

    private func askForLeave() throws {
        guard isatty(0) == 1, isatty(2) == 1 else {
            throw Failure(.error, "\(file) has lines that would be lost; --force overwrites it")
        }
        Output.message("\(file) has lines that would be lost. Overwrite it? Type yes to continue:")
        guard readLine() == "yes" else { throw Failure(.error, "nothing was written") }
    }
}

struct Import: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Add the items of a file to a list.",
        discussion: """
            Items are added at the end by default. Items from JSON Lines keep their ids, unless --new-ids is given. A long file is \
            added in portions; an import that stops says how to continue it, with --json as "continue". 'hand help formats' says what is read from each format.
            """)

    @OptionGroup var list: ListOptions
    @OptionGroup var placeOptions: PlaceOptions
    @Argument(help: "The file; '-' for standard input. Its extension selects the format.", completion: .file())
    var file: String
    @Option(
        help: .init("\(ListFormat.names(ListFormat.allCases))", valueName: "format"),
        completion: .list(ListFormat.allCases.map(\.name)), transform: ListFormat.named(among: ListFormat.allCases))
    var format: ListFormat?
    @Flag(help: "Give the items new ids, so that a list can be imported twice.") var newIds = false
    @Flag(help: "Make tasks of plain list items, in Markdown and Org.") var tasks = false
    @Flag(name: .shortAndLong, help: "Import a file that looks as if it had another format.") var force = false
    @Option(
        name: .customLong("continue"),
        help: .init("Continue an import that stopped at this place, which it printed.", valueName: "place"))
    var from: ImportPlace?

    func run() async throws {
        let bytes = try InputFile.bytes(of: file)
        let format = try format(of: bytes)
        if tasks, format != .markdown, format != .org {
            throw ValidationError("--tasks is for list items in Markdown and Org, not for \(format.title).")
        }
        let source = ImportSource(
            bytes: bytes, format: format,
            reading: .init(
                ids: newIds ? .minted : .kept, bullets: tasks ? .tasks : .notes, offset: { LocalTime.offset(at: $0) }),
            seed: (from ?? ImportPlace()).seed)
        Interruption.begin()
        let (count, revision, notKept): (Int, Int?, [String])
        do {
            (count, revision, notKept) = try await add(source, at: try placeOptions.place() ?? .end)
        } catch is Interruption.Interrupted {
            throw Failure(.error, "the import was interrupted. Nothing was imported.")
        }
        let left = notKept.isEmpty ? "" : "; not kept: \(notKept.joined(separator: ", "))"
        list.server.tell(
            [
                "imported": JSONValue(count), "revision": JSONValue(orNull: revision),
                "notKept": .array(notKept.map(JSONValue.string)),
            ],
            "imported \(Amount.count(count, "item"))\(revision.map { ", revision \($0)" } ?? "")\(left)")
    }

    /// The given format, that of the file's extension, or the one that the contents show.
    ///
    /// - Throws: a `Failure` that names what the file is, if it is something else.
    private func format(of bytes: [UInt8]) throws -> ListFormat {
        let named = try? ListFormat(of: file, among: ListFormat.allCases)
        let (isGiven, format) = (format != nil, format ?? named)
        // Of two formats that a file may have, the one that is given counts.
        if let kind = FileKind(of: bytes, otherThan: format),
            kind.isBinary || !force && !(isGiven && kind.format != nil)
        {
            if format == nil, let found = kind.format { return found }
            throw kind.failure(file, as: format)
        }
        if let format = try format ?? ListFormat(of: file, among: ListFormat.allCases) { return format }
        guard bytes.first(where: { !" \t\r\n".utf8.contains($0) }).map({ $0 == UInt8(ascii: "{") }) ?? true else {
            let name = file == "-" ? "standard input" : file
            throw Failure(
                .usage, "\(name) does not show its format: name it, such as --format todotxt if each line is a task")
        }
        return .jsonl
    }

    /// Adds the items portion by portion. `--timeout` limits each portion. Returns how many were added, and what was
    /// left out.
    private func add(
        _ source: ImportSource, at place: Place
    ) async throws -> (count: Int, revision: Int?, notKept: [String]) {
        let (name, server, from) = (try list.name(), list.server, from)
        return try await server.withClient(list: name, timeLimited: false) { client, address in
            try await server.limited(client, address) { try await server.sendWaiting(of: name, client) }
            let rules = try await server.limited(client, address) { try await client.excerpt(of: name) }.rules
            let (all, notKept) = try source.check(under: rules)
            var (added, revision): (Int, Int?) = (0, nil)
            var last: ItemID?
            // The portion that was under way when an import stopped may be in the list.
            var mayBeThere = from != nil
            /// Whether the list has any of these items.
            func isThere(_ items: [Item]) async throws -> Bool {
                try await server.limited(client, address) {
                    let selections = items.map { Excerpt.Selection.ids($0.id...$0.id) }
                    return try await !client.excerpt(of: name, selections).entries.isEmpty
                }
            }
            var before: [Item] = []
            var portions = try source.portions()
            if let from, from.items >= all, all > 0 { throw Self.otherPlace(from, "the file has only \(all) items") }
            while let portion = try portions.next() {
                let (items, behind) = (portion.items, last)
                last = items.last?.id
                if portion.end <= from?.items ?? 0 {
                    before = items
                    continue
                }
                if let from, portion.start < from.items { throw Self.otherPlace(from, "no portion of it ends there") }
                if let from, portion.start == from.items, portion.start > 0, try await !isThere(before) {
                    throw Self.otherPlace(from, "'\(name)' has none of the items before it")
                }
                do {
                    if Interruption.signal != nil { throw Interruption.Interrupted() }
                    if mayBeThere {
                        mayBeThere = try await isThere(items)
                        if mayBeThere { continue }
                    }
                    let outcome = try await server.limited(client, address) {
                        try await Self.insert(items, behind: behind, at: place, of: name, client)
                    }
                    if let rejection = outcome?.rejections.first { throw rejection }
                    revision = outcome?.revision
                } catch {
                    let isUnknown = await client.isOutcomeUnknown()
                    let error = ServerOptions.explained(error, at: address.server)
                    throw Self.stopped(error, at: portion, of: all, source.seed, isUnknown, server)
                }
                added += items.count
                if !server.quiet { Output.progress("imported \(portion.end) of \(all) items") }
            }
            if !server.quiet, added > 0 { Output.progress("") }
            return (added, revision, notKept)
        }
    }

    private static func otherPlace(_ place: ImportPlace, _ reason: String) -> Failure {
        Failure(
            .notFound,
            "--continue \(place) is not a place in this import: \(reason). Use the place that the stopped import printed; nothing "
                + "was imported")
    }

    /// The failure that says where an import stopped, and how to continue it. With `--json` this is printed, too.
    ///
    /// - Parameter isUnknown: whether the portion may have been added.
    private static func stopped(
        _ error: any Error, at portion: ImportSource.Portion, of all: Int, _ seed: UInt64, _ isUnknown: Bool,
        _ server: ServerOptions
    ) -> Failure {
        let rejection = error as? Rejection
        let failure = rejection.map { Failure(ClientError.rejected($0)) } ?? Failure(error)
        let reason = Interruption.signal == nil ? failure.sentence : "the import was interrupted."
        var text = "\(portion.start) of \(all) items were imported, then: \(reason)"
        if case .duplicateItem? = rejection {
            text +=
                " --new-ids imports it again. "
                + "If an earlier import of it was stopped, --continue 0-0 goes on with that one."
        }
        if isUnknown { text += " Items \(portion.start + 1) to \(portion.end) may be imported, too." }
        if isUnknown || portion.start > 0 {
            var place = ImportPlace()
            (place.items, place.seed) = (portion.start, seed)
            text += " The import stopped before line \(portion.line). To continue it: \(command(from: place))"
            if server.json {
                Output.json([
                    "imported": JSONValue(portion.start), "uncertain": JSONValue(isUnknown ? portion.items.count : 0),
                    "continue": .string("\(place)"),
                ])
            }
        }
        return Failure(failure.status, text)
    }

    /// The command line, with the place to continue from.
    private static func command(from place: ImportPlace) -> String {
        var words = CommandLine.arguments
        if let index = words.firstIndex(of: "--continue") { words.removeSubrange(index..<min(index + 2, words.count)) }
        words.removeAll { $0.hasPrefix("--continue=") }
        return Load.command(words + ["--continue", "\(place)"])
    }

    /// Inserts items right after an item, or at a place if that item is missing. Their levels count from that of the
    /// place. Requests only the neighbours from the server.
    private static func insert(
        _ items: [Item], behind last: ItemID?, at place: Place, of name: String, _ client: HandClient
    ) async throws -> Settlement? {
        let behind = place == .end ? [] : [last].compactMap { $0 }.map { ItemReference.prefix($0.description) }
        return try await EditOptions.withBranches(of: place.neighbours) { part, find in
            let part = part + ItemReference.selections(of: behind)
            return try await client.edit(name, knowing: .items(part)) { list in
                _ = try find(list)
                let (gap, side, level) = try place.spot(in: list)
                let above = behind.lazy.compactMap { try? $0.position(in: list) }.first
                let leveled = items.map { item in
                    let level = min(Int(item.level) + level, Int(Item.maxLevel))
                    return Item(id: item.id, level: UInt8(level), content: item.content)
                }
                return Delta.inserting(leveled, at: above.map { $0 + 1 } ?? gap, above == nil ? side : .after)
            }
        }
    }
}

extension FileKind {
    fileprivate func failure(_ file: String, as expected: ListFormat?) -> Failure {
        let start = "\(file == "-" ? "standard input" : file) is \(name)"
        var sentences = [start + (expected.map { ", not \($0.title)." } ?? ", which cannot be imported.")]
        if let format { sentences.append("Import it with --format \(format.name).") }
        if let advice { sentences.append(advice) }
        if let expected, !isBinary { sentences.append("--force imports it as \(expected.title) all the same.") }
        return Failure(.error, sentences.joined(separator: " "))
    }
}

extension ImportPlace: ExpressibleByArgument {
    init?(argument: String) { self.init(argument) }
}
