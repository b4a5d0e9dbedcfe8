import ArgumentParser
import HandClient
import HandCore
import HandFormats
import HandScreens
import HandSync
import HandWire

/// A person's edits that no list has, because the server refused them or others overrode them.
struct RejectedCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rejected",
        abstract: "Show what you wrote and the server refused or somebody overrode, and get it back.",
        discussion: """
            Whatever the server refuses of edits that waited, or were made in 'hand open', is kept on this machine until you \
            decide: try it again on the list as it is now, print it as text to use it elsewhere, or drop it. The same goes for \
            edits that somebody overrode; of those, only the newest are kept. Each has a number. What is refused at once, the \
            command itself says.

              hand rejected              what there is
              hand rejected retry 3      makes the edit again
              hand rejected text 3       prints its words, and nothing else
              hand rejected drop 3       forgets it
            """,
        subcommands: [Show.self, Retry.self, Text.self, Drop.self], defaultSubcommand: Show.self)

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "Print what was refused or overridden, with its number.")
        @OptionGroup var list: ListOptions

        func run() async throws {
            let shelf = try Shelf(list.server, of: list.given)
            for (number, kept) in shelf.all { list.server.json ? json(number, kept) : line(number, kept) }
            if shelf.all.isEmpty { list.server.say("no refused or overridden edits wait for you") }
        }

        private func line(_ number: Int, _ kept: KeptLoss) {
            Output.line(
                "\(number)  \(LocalTime.here(UInt64(max(0, kept.time)) * 1_000))  \(kept.list)  \(Losses.text(kept.loss, [:]))"
            )
        }

        private func json(_ number: Int, _ kept: KeptLoss) {
            guard case .object(let members) = Losses.json(kept.loss, [:]) else { return }
            Output.json(
                .object(
                    [
                        .init("number", JSONValue(number)), .init("list", .string(kept.list)),
                        .init("at", .string(JSON.date(milliseconds: UInt64(max(0, kept.time)) * 1_000))),
                    ] + members))
        }
    }

    struct Retry: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make edits again, on the list as it is now.",
            discussion: "An edit of an item that was deleted adds the item again. What is refused again stays.")
        @OptionGroup var chosen: Chosen
        @Flag(help: "If the server cannot be reached, keep the edit for 'hand sync' to send.") var queue = false

        func run() async throws {
            let shelf = try Shelf(chosen.list.server, of: chosen.list.given)
            for number in try chosen.numbers(in: shelf) {
                let kept = shelf.all[number - 1].kept
                var options = EditOptions()
                options.list = chosen.list
                options.list.list = kept.list
                (options.queue, options.ifRevision) = (queue, nil)
                try await options.edit(knowing: .all) { list in
                    let delta = kept.loss.delta(on: try list.whole()) {
                        var random = SystemRandomNumberGenerator()
                        return .random(using: &random)
                    }
                    guard let delta else {
                        let words = chosen.list.list.map { Suggestion.command("rejected text -l", $0, "\(number)") }
                        let advice = words ?? Suggestion.command("rejected text", "\(number)")
                        throw Failure(.notFound, "\(number): the item is gone; print its words with: \(advice)")
                    }
                    return delta
                }
                try shelf.forget([number])
            }
        }
    }

    struct Text: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the words of edits, one text a line.")
        @OptionGroup var chosen: Chosen

        func run() async throws {
            let shelf = try Shelf(chosen.list.server, of: chosen.list.given)
            for number in try chosen.numbers(in: shelf) {
                let texts = shelf.all[number - 1].kept.loss.texts
                guard !chosen.list.server.json else {
                    Output.json(["number": JSONValue(number), "texts": .array(texts.map(JSONValue.string))])
                    continue
                }
                for text in texts { Output.line("\(text)") }
            }
        }
    }

    struct Drop: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Forget edits.")
        @OptionGroup var chosen: Chosen

        func run() async throws {
            let shelf = try Shelf(chosen.list.server, of: chosen.list.given)
            let numbers = try chosen.numbers(in: shelf)
            for number in numbers {
                chosen.list.server.say("dropped: \(Losses.text(shelf.all[number - 1].kept.loss, [:]))")
            }
            try shelf.forget(numbers)
        }
    }

    /// The numbers of edits.
    struct Chosen: ParsableArguments {
        @OptionGroup var list: ListOptions
        @Argument(help: "The numbers that 'hand rejected' prints; 'all' for all.") var numbers: [String]

        fileprivate func numbers(in shelf: Shelf) throws -> [Int] {
            if numbers == ["all"] { return shelf.all.map(\.number) }
            return try numbers.map { text in
                guard let number = Int(text), shelf.all.indices.contains(number - 1) else {
                    let count = shelf.all.count
                    let known = count == 0 ? "there is nothing" : "there are 1 to \(count)"
                    throw Failure(.notFound, "no edit has the number '\(text)': \(known); 'hand rejected' prints them")
                }
                return number
            }
        }
    }
}

/// The lost edits that this machine keeps for a person and a server, of all client ids, the oldest first.
struct Shelf {
    private let places: [(path: String, number: Int64)]
    let all: [(number: Int, kept: KeptLoss)]

    init(_ server: ServerOptions, of list: String?) throws {
        let person = try server.user.name()
        var found: [(path: String, kept: KeptLoss)] = []
        for path in try Identity.journals(at: try server.address(list)) {
            found += try ClientJournal.losses(of: list, inJournalAt: path).filter { $0.person == person }
                .map { (path, $0) }
        }
        found.sort { ($0.kept.time, $0.path, $0.kept.number) < ($1.kept.time, $1.path, $1.kept.number) }
        places = found.map { ($0.path, $0.kept.number) }
        all = zip(1..., found).map { ($0, $1.kept) }
    }

    func forget(_ numbers: [Int]) throws {
        for number in numbers {
            let place = places[number - 1]
            try ClientJournal.forget([place.number], inJournalAt: place.path)
        }
    }

    /// A line that says how many edits wait for a decision; nil if there are none.
    static func summary(_ server: ServerOptions, of list: String? = nil) -> String? {
        refused(server, of: list).map { "\($0.finding): \($0.command)" }
    }

    /// How many refused edits wait for a decision, and the command that shows them; nil if there are none.
    static func refused(_ server: ServerOptions, of list: String?) -> (finding: String, command: String)? {
        let count = (try? Shelf(server, of: list).all.count { $0.kept.loss.isRefused }) ?? 0
        if count == 0 { return nil }
        let (was, isKept) = count == 1 ? ("was", "is") : ("were", "are")
        let finding = "\(Amount.count(count, "edit")) of yours \(was) refused and \(isKept) kept"
        return (finding, "\(Suggestion.command("rejected"))")
    }
}
