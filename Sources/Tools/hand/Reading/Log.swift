import ArgumentParser
import HandClient
import HandCore
import HandFormats
import HandSync
import HandWire

struct Log: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log", abstract: "Show who changed what and when, oldest first.",
        discussion: """
            Each item that a commit touches has a line: + added, - deleted, > moved, ~ edited. An edited text shows the removed \
            and the inserted words: [-cow-]{+oat+} milk, in colours on a terminal. A commit can also record that an edit was \
            refused, and why; such a commit changes nothing.

            With an item, only the commits that touched it are shown, beginning with the last that added it or brought it \
            back; with --json, a line each, with only what happened to the item. With --new, only those of others since you \
            looked at the list last: on a screen, or with 'ls' or 'log' on a terminal.

            \(ListHistory.manual)
            """)

    @OptionGroup var list: ListOptions
    @Argument(help: "An item: show only what happened to it.", completion: Completions.items) var item: String?
    @Option(name: .customLong("from"), help: .init("The first revision to show.", valueName: "revision")) var first = 1
    @Option(name: .shortAndLong, help: .init("Show only this many of the newest commits.", valueName: "number"))
    var number: Int?
    @Flag(
        name: .customLong("new"), help: "Show only what others have changed since you looked at the list last.")
    var isNew = false
    @Flag(help: "Show times in UTC, to the millisecond, instead of this machine's time.") var utc = false

    func validate() throws {
        if isNew, item != nil || number != nil || first != 1 {
            throw ValidationError("--new: expected neither an item nor --from or --number with it")
        }
        try ListOptions.check(number)
        if first < 1 { throw ValidationError("--from: expected 1 or more, found \(first)") }
    }

    func run() async throws {
        if let item { return try await show(ItemReference(item)) }
        let (name, server, reader) = (try list.name(), list.server, try NewsReader(list.server))
        let (isNew, number) = (isNew, number)
        // --timeout limits each answer of the server, but not the reader of the output, which may take longer.
        try await server.withClient(list: name, timeLimited: false) { client, address in
            func answer<Value: Sendable>(_ ask: @escaping @Sendable () async throws -> Value) async throws -> Value {
                try await server.limited(client, address, ask)
            }
            let isNoted = isNew || Output.isTerminal
            let head = isNoted || number != nil ? try await answer { try await client.excerpt(of: name) } : nil
            let last = isNoted ? head.flatMap { reader.lastLook(at: $0.logID) } : nil
            let person = try await client.person()
            var next = isNew ? (last?.revision ?? 0) + 1 : max(1, first)
            if let number, let head { next = max(next, head.revision - number + 1) }
            // The first page needs only the items that it touches. The others need the whole list.
            var whole: Hand?
            var isFirst = true
            var hasNews = false
            let start = next
            while true {
                let from = next
                let (commits, people) = try await answer { try await client.history(of: name, from: from) }
                guard let newest = commits.last else { break }
                next = newest.revision + 1
                // The history may begin later than requested: older commits may have been forgotten.
                let base = commits[0].revision - 1
                if isFirst, from <= base { server.say("what came before revision \(base + 1) is no longer kept") }
                var hand =
                    if let whole { whole } else if isFirst {
                        try await answer { try await ListHistory.list(name, before: commits, client) }
                    } else { try await answer { try await client.state(of: name, at: base).hand } }
                for commit in commits {
                    let new = try hand.applying(commit.delta)
                    let author = people[commit.author] ?? "?"
                    if !isNew || author != person {
                        print(commit, author, hand, new, json: server.json)
                        hasNews = true
                    }
                    hand = new
                }
                if !isFirst || base == 0 { whole = hand }
                isFirst = false
            }
            if isNew, !hasNews, !server.json { server.say("nothing is new in '\(name)'") }
            if isFirst, !isNew, !server.json {
                server.say(next > 1 ? "'\(name)' has no revision \(next) yet" : "nothing has changed in '\(name)' yet")
            }
            if let head, start <= (last?.revision ?? 0) + 1 {
                await server.noteLook(
                    at: name, revision: next - 1, of: head.logID, unseen: last?.unseen ?? [:], client)
            }
        }
    }

    private func print(_ commit: Commit, _ person: String, _ before: Hand, _ after: Hand, json: Bool) {
        if json { return Output.json(ListHistory.json(commit, by: person, from: before, to: after)) }
        Output.together {
            head(commit.revision, commit.time, person)
            for line in DeltaText.lines(commit.delta, from: before, to: after, Output.marks) {
                Output.line("  \(line)")
            }
            if let refusal = commit.refusal { Output.line("  refused an edit: \(refusal)") }
        }
    }

    private func head(_ revision: Int, _ time: UInt64, _ person: String) {
        let time = utc ? JSON.date(milliseconds: time) : LocalTime.here(time)
        Output.line("revision \(revision)  \(time)  \(person)")
    }
}

extension Log {
    /// Prints what happened to one item.
    private func show(_ reference: ItemReference) async throws {
        let (name, server) = (try list.name(), list.server)
        try await server.withClient(list: name, timeLimited: false) { client, address in
            let item = try await server.limited(client, address) {
                try await ListHistory.item(reference, of: name, client).item.id
            }
            let history = try await ListHistory.history(of: item, in: name, client, server, address)
            var first: Item?
            if let oldest = history.steps.last, !history.isWhole {
                let excerpt = try await client.excerpt(of: name, at: oldest.revision - 1, [.ids(item...item)])
                first = excerpt.entries.first?.item
            }
            if !history.isWhole { server.say("older changes of it are no longer kept") }
            let wanted = history.states(from: first).filter { $0.step.revision >= self.first }
            for (step, before, after) in wanted.suffix(number ?? .max) {
                print(step, history.people[step.author] ?? "?", before, after, json: server.json)
            }
        }
    }

    private func print(_ step: ItemHistory.Step, _ person: String, _ before: Item?, _ after: Item, json: Bool) {
        if json {
            let from = before.flatMap { item in step.from.map { (index: $0, item: item) } }
            let fields: [JSONValue.Member] = .init([
                "revision": step.revision, "person": person, "at": JSON.date(milliseconds: step.time),
            ])
            let change = JSON.fields(of: step.mark, from: from, to: (step.to, after))
            return Output.json(.object(fields + change))
        }
        Output.together {
            head(step.revision, step.time, person)
            let former = step.change == nil ? nil : before
            Output.line("  \(DeltaText.line(step.mark, step.to + 1, after, from: former, Output.marks))")
        }
    }
}
