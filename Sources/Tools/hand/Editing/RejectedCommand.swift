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
            edits that somebody overrode; of those, only the newest are kept. Each keeps its number. What is refused at once, the \
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
            for edit in shelf.all { list.server.json ? json(edit) : line(edit) }
            if shelf.all.isEmpty { list.server.say("no refused or overridden edits wait for you") }
        }

        private func line(_ edit: Shelf.Edit) {
            let time = LocalTime.here(UInt64(max(0, edit.kept.time)) * 1_000)
            Output.line("\(edit.number)  \(time)  \(edit.kept.list)  \(Losses.text(edit.kept.loss, [:]))")
        }

        private func json(_ edit: Shelf.Edit) {
            let kept = edit.kept
            guard case .object(let members) = Losses.json(kept.loss, [:]) else { return }
            Output.json(
                .object(
                    [
                        .init("number", JSONValue(edit.number)), .init("list", .string(kept.list)),
                        .init("at", .string(JSON.date(milliseconds: UInt64(max(0, kept.time)) * 1_000))),
                    ] + members))
        }
    }

    struct Retry: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "retry", abstract: "Make edits again, on the list as it is now.",
            discussion: """
                An edit of an item that was deleted adds the item again. What is refused again stays. If its list has another \
                name now, give that one: -l NAME.
                """)
        @OptionGroup var chosen: Chosen
        @Flag(help: "If the server cannot be reached, keep the edit for 'hand sync' to send.") var queue = false

        func run() async throws {
            let shelf = try Shelf(chosen.list.server, of: nil)
            var edits = try chosen.edits(on: shelf)
            if chosen.numbers == ["all"], let given = try chosen.list.given {
                // The list may have had another name when they were made.
                let log =
                    queue
                    ? nil
                    : try await chosen.list.server.withClient(list: given) { client, _ in
                        try await client.excerpt(of: given).logID
                    }
                edits = edits.filter { edit in
                    log.map { LogID.isSameList(edit.kept.log, $0) } ?? (edit.kept.list == given)
                }
                if edits.isEmpty { chosen.list.server.say("no refused or overridden edits of '\(given)' wait for you") }
            }
            var refused: (any Error)?
            for edit in edits {
                // What is refused again stays, and does not hold up the others.
                do { try await retry(edit, on: shelf) } catch {
                    guard edits.count > 1, Failure(error).isOurs, Failure(error).status != .unreachable,
                        Interruption.signal == nil
                    else { throw error }
                    refused.map { Output.message("hand: \(Failure($0).message)") }
                    refused = error
                }
            }
            if let refused { throw refused }
        }

        private func retry(_ edit: Shelf.Edit, on shelf: Shelf) async throws {
            let (number, kept) = (edit.number, edit.kept)
            var options = EditOptions()
            options.list = chosen.list
            options.list.list = chosen.list.list ?? kept.list
            (options.queue, options.ifRevision) = (queue, nil)
            try await options.edit(knowing: .all) { list in
                guard list.logID == 0 || LogID.isSameList(list.logID, kept.log) else {
                    let advice = Suggestion.command("rejected retry -l NEWNAME", "\(number)")
                    throw Failure(
                        .conflict,
                        "\(number) was made on another list, which was called '\(kept.list)' then. Nothing was done. If it "
                            + "has another name now: \(advice)")
                }
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
            try shelf.forget(edit)
        }
    }

    struct Text: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "text", abstract: "Print the words of edits, one text a line.")
        @OptionGroup var chosen: Chosen

        func run() async throws {
            let shelf = try Shelf(chosen.list.server, of: chosen.list.given)
            for edit in try chosen.edits(on: shelf) {
                let texts = edit.kept.loss.texts
                guard !chosen.list.server.json else {
                    Output.json(["number": JSONValue(edit.number), "texts": .array(texts.map(JSONValue.string))])
                    continue
                }
                for text in texts { Output.line("\(text)") }
            }
        }
    }

    struct Drop: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "drop", abstract: "Forget edits.")
        @OptionGroup var chosen: Chosen

        func run() async throws {
            let shelf = try Shelf(chosen.list.server, of: chosen.list.given)
            for edit in try chosen.edits(on: shelf) {
                try shelf.forget(edit)
                chosen.list.server.tell(
                    ["number": JSONValue(edit.number), "dropped": true],
                    "dropped: \(Losses.text(edit.kept.loss, [:]))")
            }
        }
    }

    /// The numbers of edits.
    struct Chosen: ParsableArguments {
        @OptionGroup var list: ListOptions
        @Argument(
            help: "The numbers that 'hand rejected' prints; 'all' for all.", completion: Completions.losses)
        var numbers: [String]

        /// The edits with these numbers, each once.
        fileprivate func edits(on shelf: Shelf) throws -> [Shelf.Edit] {
            if numbers == ["all"] { return shelf.all }
            var left = shelf.all
            return try numbers.compactMap { text in
                guard let number = Int(text), shelf.all.contains(where: { $0.number == number }) else {
                    let known = shelf.all.isEmpty ? "there is nothing" : "'hand rejected' prints the numbers"
                    throw Failure(.notFound, "no edit has the number '\(text)': \(known)")
                }
                return left.firstIndex { $0.number == number }.map { left.remove(at: $0) }
            }
        }
    }
}

/// The lost edits that this machine keeps for a person and a server, of all client ids, the oldest first.
struct Shelf {
    struct Edit {
        /// The edit has this number until it is forgotten.
        let number: Int
        fileprivate let path: String
        let kept: KeptLoss
    }

    let all: [Edit]

    init(_ server: ServerOptions, of list: String?) throws {
        let person = try server.user.name()
        let address = try server.address(list)
        all = try Identity.used(at: address).flatMap { id in
            let path = Identity.path(id, address.server)
            return try ClientJournal.losses(of: list, inJournalAt: path).filter { $0.person == person }.map {
                // Each journal counts by itself. Most people have only the first one.
                Edit(number: id * 1_000_000 + Int($0.number), path: path, kept: $0)
            }
        }.sorted { ($0.kept.time, $0.number) < ($1.kept.time, $1.number) }
    }

    func forget(_ edit: Edit) throws { try ClientJournal.forget([edit.kept.number], inJournalAt: edit.path) }

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
        return (finding, Suggestion.rejected(of: server.user.person))
    }
}
