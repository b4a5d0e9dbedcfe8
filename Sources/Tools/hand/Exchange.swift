import ArgumentParser
import Foundation
import HandClient
import HandCore
import HandFormats
import HandSync

extension ListFormat: ExpressibleByArgument {}

struct Export: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write a list as JSON Lines, a Markdown checklist or todo.txt.")

    @OptionGroup var list: ListOptions

    @Argument(help: "The file; '-' or nothing for standard output. Its ending tells the format.")
    var file = "-"

    @Option(help: ArgumentHelp("jsonl, markdown or todotxt.", valueName: "format"))
    var format: ListFormat?

    @Option(help: ArgumentHelp("The revision to export (default: the newest).", valueName: "revision"))
    var at: Int?

    func run() async throws {
        let (name, at) = (try list.name(), at)
        let format = format ?? ListFormat(fileName: file) ?? .jsonl
        let state = try await list.server.withClient(list: name) { client, _ in try await client.state(of: name, at: at)
        }
        if file == "-" {
            return format.export(state.hand) { Output.line(String($0.dropLast())) }
        }
        var text = ""
        format.export(state.hand) { text += $0 }
        try Data(text.utf8).write(to: URL(fileURLWithPath: file), options: .atomic)
        list.server.say(
            "wrote \(Words.count(state.hand.count, "item")) of '\(name)' at revision \(state.revision) to \(file)")
    }
}

struct Import: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Add the items of a file to a list.",
        discussion: "Items keep their ids (JSON Lines), unless --new-ids is given. At the end unless said otherwise.")

    @OptionGroup var list: ListOptions
    @OptionGroup var placeOptions: PlaceOptions

    @Argument(help: "The file; '-' for standard input. Its ending tells the format.")
    var file: String

    @Option(help: ArgumentHelp("jsonl, markdown or todotxt.", valueName: "format"))
    var format: ListFormat?

    @Flag(help: "Give the items new ids, so that a list can be imported twice.")
    var newIds = false

    /// Items, and about how many bytes of them, in one edit: small enough for a frame, large enough to go fast.
    private static let portion = 2_000
    private static let portionBytes = 1 << 20

    /// Cuts the items into portions.
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
        let data =
            file == "-"
            ? FileHandle.standardInput.readDataToEndOfFile() : try Data(contentsOf: URL(fileURLWithPath: file))
        var random = SystemRandomNumberGenerator()
        let items = try (format ?? ListFormat(fileName: file) ?? .jsonl).read(
            data, ids: newIds ? .minted : .kept, using: &random)
        let place = try placeOptions.place() ?? .end
        let quiet = list.server.quiet
        let revision = try await list.withList(timeLimited: false) { _, followed -> Int? in
            try await Self.add(items, at: place, to: followed, quiet: quiet)
        }
        if list.server.json {
            Output.json(["imported": JSONValue(items.count), "revision": revision.map { JSONValue($0) } ?? .null])
        } else {
            list.server.say(
                "imported \(Words.count(items.count, "item"))" + (revision.map { ", revision \($0)" } ?? ""))
        }
    }

    /// Adds the items portion by portion, each behind the one before.
    private static func add(
        _ items: [Item], at place: Place, to list: FollowedList, quiet: Bool
    ) async throws -> Int? {
        var revision: Int?
        var previous: ItemID?
        for range in portions(of: items) {
            let part = Array(items[range])
            let last = previous
            try await list.edit { state in
                var (gap, side) = try place.gap(in: state.view)
                if place != .end, let last, let index = state.view.index(of: last) { (gap, side) = (index + 1, .after) }
                return HandCore.Operation.insert(part, at: gap, side).delta
            }
            let outcome = try await list.settled()
            if let rejection = outcome.rejections.first {
                throw Failure(
                    .rejected, "\(range.lowerBound) of \(items.count) items were imported, then: \(rejection)")
            }
            revision = outcome.revision
            previous = part.last?.id
            if !quiet { Output.progress("imported \(range.upperBound) of \(items.count) items") }
        }
        if !quiet, items.count > portion { Output.progress("") }
        return revision
    }
}

struct VectorsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "vectors", abstract: "Answer test vectors, for authors of other clients.",
        discussion:
            "Reads one JSON line a question from standard input and answers each on standard output, as Protocol.md says."
    )

    @Flag(help: "Compare each line's \"expect\" with the answer, and print only lines where they differ.")
    var check = false

    func run() throws {
        var failures = 0
        var number = 0
        while let line = readLine() {
            number += 1
            if line.isEmpty { continue }
            if !check {
                Output.line(Vectors.answer(line: line))
            } else if let mismatch = Vectors.mismatch(in: line) {
                failures += 1
                Output.line("line \(number): \(mismatch)")
            }
        }
        if failures > 0 { throw Failure(.error, "\(failures) of \(number) vectors differ") }
    }
}
