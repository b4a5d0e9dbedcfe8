import ArgumentParser
import FoundationEssentials
import Glibc
import HandClient
import HandCore
import HandFormats
import HandWire

extension ListFormat: ExpressibleByArgument {
    /// The given format, or the format of the file's extension; JSON Lines if there is no extension.
    ///
    /// - Throws: for an unknown extension.
    init(_ given: ListFormat?, of file: String) throws {
        let ending = URL(fileURLWithPath: file).pathExtension
        if let known = given ?? ListFormat(fileName: "." + ending) ?? (ending.isEmpty ? .jsonl : nil) {
            self = known
        } else {
            let formats = Self.allCases.map { "\($0.name) (.\($0.fileExtensions[0]))" }
            throw Failure(
                .usage,
                "unknown format '.\(ending)'. Use --format: \(formats.joined(separator: ", "))")
        }
    }
}

struct Export: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write a list as JSON Lines, a Markdown checklist or todo.txt.")

    @OptionGroup var list: ListOptions
    @Argument(help: "The file; '-' for standard output. Its extension selects the format.") var file = "-"
    @Option(help: .init("jsonl, markdown or todotxt.", valueName: "format")) var format: ListFormat?
    @Option(help: .init("The revision to export (default: the newest).", valueName: "revision")) var at: Int?
    @Flag(name: .shortAndLong, help: "Overwrite a file that is not an export, without asking.") var force = false

    func run() async throws {
        let (name, at) = (try list.name(), at)
        let format = try ListFormat(format, of: file)
        let target = file == "-" ? nil : try ExportFile(file)
        if !force, let target, try target.holdsSomethingElse(than: format) { try askForLeave() }
        let state = try await list.whole(at: at)
        guard let target else { return Output.together { format.export(state.hand) { Output.data($0) } } }
        try target.write { write throws(LineWriter.Problem) in try format.export(state.hand, write: write) }
        list.server.say(
            "wrote \(Amount.count(state.hand.count, "item")) of '\(name)' at revision \(state.revision) to \(file)")
    }

    private func askForLeave() throws {
        guard isatty(0) == 1, isatty(2) == 1 else {
            throw Failure(.error, "\(file) holds something other than an export; --force overwrites it")
        }
        Output.message("\(file) holds something other than an export. Overwrite it? Type yes to continue:")
        guard readLine() == "yes" else { throw Failure(.error, "nothing was written") }
    }
}

struct Import: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Add the items of a file to a list.",
        discussion: """
            Items are added at the end by default. Items from JSON Lines keep their ids, unless --new-ids is given. A long file is \
            added in portions; an import that stops says how to continue it.

            In Markdown, list items become tasks, links and notes, and lines that begin with # become headings. Any other block, such as a paragraph \
            or code, becomes a note that ends with a line break. 'hand export' writes what was not edited as it was. Not kept are: blank \
            lines between blocks, indentation and spaces at the ends of list items, the difference between -, * and +, the \
            numbers of tasks, and X for x.

            In todo.txt, every line is a task, also with its indentation. Blank lines and spaces at the ends of lines are not kept.

            Invisible and control characters are kept, but exported in an escaped form.
            """)

    @OptionGroup var list: ListOptions
    @OptionGroup var placeOptions: PlaceOptions
    @Argument(help: "The file; '-' for standard input. Its extension selects the format.") var file: String
    @Option(help: .init("jsonl, markdown or todotxt.", valueName: "format")) var format: ListFormat?
    @Flag(help: "Give the items new ids, so that a list can be imported twice.") var newIds = false
    @Option(
        name: .customLong("continue"),
        help: .init("Continue an import that stopped at this place, which it printed.", valueName: "place"))
    var from: ImportPlace?

    func run() async throws {
        let format = try ListFormat(format, of: file)
        let source = ImportSource(
            bytes: try InputFile.bytes(of: file), format: format,
            identity: newIds ? .minted : .kept, seed: (from ?? ImportPlace()).seed)
        Interruption.begin()
        let (count, revision): (Int, Int?)
        do { (count, revision) = try await add(source, at: try placeOptions.place() ?? .end) } catch {
            if Interruption.signal == nil { throw error }
            Output.message("hand: \(Failure(error).message)")
            Interruption.end()
        }
        list.server.tell(
            ["imported": JSONValue(count), "revision": JSONValue(orNull: revision)],
            "imported \(Amount.count(count, "item"))\(revision.map { ", revision \($0)" } ?? "")")
    }

    /// Adds the items portion by portion. `--timeout` limits each portion. Returns how many were added.
    private func add(_ source: ImportSource, at place: Place) async throws -> (count: Int, revision: Int?) {
        let (name, server, from) = (try list.name(), list.server, from)
        return try await server.withClient(list: name, timeLimited: false) { client, address in
            try await server.limited(client, address) { try await server.sendWaiting(of: name, client) }
            let rules = try await server.limited(client, address) { try await client.excerpt(of: name) }.rules
            let all = try source.count(under: rules)
            var (added, revision): (Int, Int?) = (0, nil)
            var last: ItemID?
            // The portion that was under way when an import stopped may be in the list.
            var mayBeThere = from != nil
            var portions = try source.portions()
            while let portion = try portions.next() {
                let (items, behind) = (portion.items, last)
                last = items.last?.id
                if portion.end <= from?.items ?? 0 { continue }
                do {
                    if Interruption.signal != nil { throw Interruption.failure }
                    if mayBeThere {
                        mayBeThere = try await server.limited(client, address) {
                            let selections = items.map { Excerpt.Selection.ids($0.id...$0.id) }
                            return try await !client.excerpt(of: name, selections).entries.isEmpty
                        }
                        if mayBeThere { continue }
                    }
                    let outcome = try await server.limited(client, address) {
                        try await Self.insert(items, behind: behind, at: place, of: name, client)
                    }
                    if let rejection = outcome?.rejections.first { throw rejection }
                    revision = outcome?.revision
                } catch {
                    throw Self.stopped(
                        ServerOptions.explained(error, at: address.server), at: portion, of: all, source.seed)
                }
                added += items.count
                if !server.quiet { Output.progress("imported \(portion.end) of \(all) items") }
            }
            if !server.quiet, added > 0 { Output.progress("") }
            return (added, revision)
        }
    }

    /// The failure that says where an import stopped, and how to continue it.
    private static func stopped(
        _ error: any Error, at portion: ImportSource.Portion, of all: Int, _ seed: UInt64
    ) -> Failure {
        let rejection = error as? Rejection
        let failure = rejection.map { Failure(ClientError.rejected($0)) } ?? Failure(error)
        let reason = failure.message.hasSuffix(".") ? failure.message : failure.message + "."
        var text = "\(portion.start) of \(all) items were imported, then: \(reason)"
        if case .duplicateItem? = rejection { text += " --new-ids imports it again." }
        // Without an answer, nobody knows whether the portion was added.
        let isUnknown = rejection == nil && Interruption.signal == nil
        if isUnknown { text += " Items \(portion.start + 1) to \(portion.end) may be imported, too." }
        if isUnknown || portion.start > 0 {
            var place = ImportPlace()
            (place.items, place.seed) = (portion.start, seed)
            text += " The import stopped before line \(portion.line). To continue it: \(command(from: place))"
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

    /// Inserts items after an item, or at a place if that item is missing. Requests only the neighbours from the
    /// server.
    private static func insert(
        _ items: [Item], behind last: ItemID?, at place: Place, of name: String, _ client: HandClient
    ) async throws -> Settlement? {
        let behind = place == .end ? nil : last.map { Place.after(.prefix($0.description)) }
        let neighbours = [behind, place].compactMap { $0?.neighbour }
        return try await client.edit(name, knowing: .items(ItemReference.selections(of: neighbours))) { list in
            let (gap, side) = try (try? behind?.gap(in: list)) ?? place.gap(in: list)
            return Delta.inserting(items, at: gap, side)
        }
    }
}

extension ImportPlace: ExpressibleByArgument {
    init?(argument: String) { self.init(argument) }
}
