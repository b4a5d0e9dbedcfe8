import ArgumentParser
import FoundationEssentials
import Glibc
import HandClient
import HandCore
import HandFormats
import HandSync
import HandWire

extension ListFormat: ExpressibleByArgument {
    /// The given format, or the one of the file's extension; JSON Lines if there is no extension.
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
        discussion:
            "Items are added at the end by default. Items from JSON Lines keep their ids, unless --new-ids is given.")

    @OptionGroup var list: ListOptions
    @OptionGroup var placeOptions: PlaceOptions
    @Argument(help: "The file; '-' for standard input. Its extension selects the format.") var file: String
    @Option(help: .init("jsonl, markdown or todotxt.", valueName: "format")) var format: ListFormat?
    @Flag(help: "Give the items new ids, so that a list can be imported twice.") var newIds = false

    /// The most items in one edit: small enough for a frame, large enough to be fast.
    private static let portion = 2_000
    /// The approximate most bytes in one edit.
    private static let portionBytes = 1 << 20

    /// Splits the items into portions.
    private static func portions(of items: [Item]) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        var start = 0
        var bytes = 0
        for (index, item) in items.enumerated() {
            let size = item.content.size + 32
            if index > start, index - start == portion || bytes + size > portionBytes {
                ranges.append(start..<index)
                (start, bytes) = (index, 0)
            }
            bytes += size
        }
        return items.isEmpty ? [] : ranges + [start..<items.count]
    }

    func run() async throws {
        let format = try ListFormat(format, of: file)
        let data = try file == "-" ? StandardInput.bytes() : [UInt8](Data(contentsOf: URL(fileURLWithPath: file)))
        var random = SystemRandomNumberGenerator()
        let items = try format.read(data, ids: newIds ? .minted : .kept, using: &random)
        let place = try placeOptions.place() ?? .end
        let revision = try await add(items, at: place)
        list.server.tell(
            ["imported": JSONValue(items.count), "revision": JSONValue(orNull: revision)],
            "imported \(Amount.count(items.count, "item"))\(revision.map { ", revision \($0)" } ?? "")")
    }

    /// Adds the items portion by portion. `--timeout` limits each portion.
    private func add(_ items: [Item], at place: Place) async throws -> Int? {
        let name = try list.name()
        let server = list.server
        return try await server.withClient(list: name, timeLimited: false) { client, address in
            try await server.limited(client, address) { try await server.sendWaiting(of: name, client) }
            var revision: Int?
            var previous: ItemID?
            for range in Self.portions(of: items) {
                let (part, last) = (Array(items[range]), previous)
                let outcome = try await server.limited(client, address) {
                    try await Self.insert(part, behind: last, at: place, of: name, client)
                }
                if let rejection = outcome.rejections.first {
                    let advice = if case .duplicateItem = rejection { " --new-ids imports it again." } else { "" }
                    throw Failure(
                        .rejected,
                        "\(range.lowerBound) of \(items.count) items were imported, then: \(rejection)\(advice)")
                }
                revision = outcome.revision
                previous = part.last?.id
                if !server.quiet { Output.progress("imported \(range.upperBound) of \(items.count) items") }
            }
            if !server.quiet, items.count > Self.portion { Output.progress("") }
            return revision
        }
    }

    /// Inserts items after an item, or at a place if that item is missing. Requests only the neighbours from the
    /// server.
    private static func insert(
        _ items: [Item], behind last: ItemID?, at place: Place, of name: String, _ client: HandClient
    ) async throws -> Settlement {
        let behind = place == .end ? nil : last.map { Place.after(.prefix($0.description)) }
        let neighbours = [behind, place].compactMap { $0?.neighbour }
        while true {
            let excerpt = try await client.excerpt(of: name, ItemReference.selections(of: neighbours))
            let here = try (try? behind?.resolved(in: excerpt)) ?? place.resolved(in: excerpt)
            let (gap, side) = try here.gap(in: excerpt.hand)
            let delta = Delta.inserting(items, at: gap, side)
            if let outcome = try await client.edit(name, on: excerpt, delta) { return outcome }
        }
    }
}

struct VectorsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "vectors", abstract: "Compute test vectors, for authors of other clients.",
        discussion:
            "Reads questions from standard input, one JSON object per line, and writes the answers to standard output. "
            + "See Protocol.md.")

    @Flag(help: "Compare each line's \"expect\" with the answer, and print only the differences.")
    var check = false

    func run() throws {
        var failures = 0
        var number = 0
        while let line = readLine() {
            number += 1
            if line.isEmpty { continue }
            if !check {
                Output.data(Vectors.answer(line: line) + "\n")
            } else if let mismatch = Vectors.mismatch(in: line) {
                failures += 1
                Output.line("line \(number): \(mismatch)")
            }
        }
        if failures > 0 { throw Failure(.error, "\(failures) of \(number) vectors differ") }
    }
}
