import ArgumentParser
import HandClient
import HandCore
import HandFormats
import HandWire

/// Reads a list's history page by page.
enum HistoryReader {
    /// The list before these commits. It may hold only the items that the commits touch.
    static func list(_ name: String, before commits: [Commit], _ client: HandClient) async throws -> Hand {
        guard let first = commits.first else { return Hand() }
        let touched = commits.reduce(0) { $0 + $1.delta.touched.reduce(0) { $0 + $1.count } }
        if touched > maxItems { return try await client.state(of: name, at: first.revision - 1).hand }
        let part = PartialList(try await client.excerpt(of: name, at: first.revision - 1, selections(of: commits)))
        // The other items stay as they are.
        return try part.hand(for: .identity)
    }

    /// If the commits touch more items than this, the whole list is requested.
    private static let maxItems = 2_000

    /// The positions, before the first commit, of all items that the commits touch. Items that a commit inserted need
    /// no request.
    private static func selections(of commits: [Commit]) -> [Excerpt.Selection] {
        var selections: [Excerpt.Selection] = []
        for (index, commit) in commits.enumerated() {
            for run in commit.delta.touched {
                if index == 0 {
                    selections.append(.positions(start: run.lowerBound, count: run.count))
                    continue
                }
                for position in run {
                    var origin: Int? = position
                    for earlier in commits[..<index].reversed() { origin = origin.flatMap(earlier.delta.origin) }
                    if let origin { selections.append(.positions(start: origin, count: 1)) }
                }
            }
        }
        return selections
    }

    /// A commit and its changes, for scripts.
    static func json(_ commit: Commit, by person: String, from old: Hand, to new: Hand) -> JSONValue {
        JSON.commit(
            commit, person: person, at: JSON.date(milliseconds: commit.time),
            changes: JSON.changes(commit.delta, from: old, to: new))
    }

    /// The help text about `json(_:by:from:to:)`.
    static let manual = """
        With --json each commit is one line. "revision", "person" and "at" identify it; "changes" describes what \
        happened to each item: "change" is added, deleted, moved or edited; "item" is its id; "from" and "to" are its \
        numbers in the list before and after; "before" and "after" are its contents. "delta" is the same change in the form \
        of the test vectors, for programs that replay it. A commit with "refused" changes nothing; it gives the reason why an edit \
        was refused.
        """
}

struct Log: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show who changed what and when, oldest first.",
        discussion: """
            Each item that a commit touches has a line: + added, - deleted, > moved, ~ edited. An edited text shows the removed \
            and the inserted words: [-cow-]{+oat+} milk, in colours on a terminal. A commit can also record that an edit was \
            refused, and why; such a commit changes nothing.

            """ + HistoryReader.manual)

    @OptionGroup var list: ListOptions
    @Option(name: .customLong("from"), help: .init("The first revision to show.", valueName: "revision")) var first = 1
    @Option(name: .shortAndLong, help: .init("Show only this many of the newest commits.", valueName: "number"))
    var number: Int?
    @Flag(help: "Show times in UTC, to the millisecond, instead of this machine's time.") var utc = false

    func run() async throws {
        let (name, server) = (try list.name(), list.server)
        let (first, number) = (first, number)
        // --timeout limits each answer of the server, but not the reader of the output, which may take longer.
        try await server.withClient(list: name, timeLimited: false) { client, address in
            func answer<Value: Sendable>(_ ask: @escaping @Sendable () async throws -> Value) async throws -> Value {
                try await server.limited(client, address, ask)
            }
            var next = max(1, first)
            if let number {
                next = max(next, try await answer { try await client.excerpt(of: name).revision } - number + 1)
            }
            // The first page needs only the items that it touches. The others need the whole list.
            var whole: Hand?
            var isFirst = true
            while true {
                let from = next
                let (commits, people) = try await answer { try await client.history(of: name, from: from) }
                guard let newest = commits.last else { return }
                next = newest.revision + 1
                // The history may begin later than requested: older commits may have been forgotten.
                let base = commits[0].revision - 1
                var hand =
                    if let whole { whole } else if isFirst {
                        try await answer { try await HistoryReader.list(name, before: commits, client) }
                    } else { try await answer { try await client.state(of: name, at: base).hand } }
                for commit in commits {
                    let new = try hand.applying(commit.delta)
                    print(commit, people[commit.author] ?? "?", hand, new, json: server.json)
                    hand = new
                }
                if !isFirst || base == 0 { whole = hand }
                isFirst = false
            }
        }
    }

    private func print(_ commit: Commit, _ person: String, _ before: Hand, _ after: Hand, json: Bool) {
        if json { return Output.json(HistoryReader.json(commit, by: person, from: before, to: after)) }
        let time = utc ? JSON.date(milliseconds: commit.time) : LocalTime.here(commit.time)
        Output.together {
            Output.line("revision \(commit.revision)  \(time)  \(person)")
            for line in DeltaText.lines(commit.delta, from: before, to: after, Output.marks) {
                Output.line("  \(line)")
            }
            if let refusal = commit.refusal { Output.line("  refused an edit: \(refusal)") }
        }
    }
}

struct Diff: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Show what changed between two revisions.")

    @OptionGroup var list: ListOptions
    @Argument(help: "The older revision.") var old: Int
    @Argument(help: "The newer revision (default: the newest).") var new: Int?

    func run() async throws {
        let (name, old, new) = (try list.name(), old, new)
        let (before, after) = try await list.server.withClient(list: name) { client, _ in
            (try await client.state(of: name, at: old).hand, try await client.state(of: name, at: new).hand)
        }
        let delta = Delta(from: before, to: after)
        if list.server.json { return Output.json(JSON.delta(delta)) }
        Output.together {
            for line in DeltaText.lines(delta, from: before, to: after, Output.marks) { Output.line(line) }
        }
    }
}

struct Restore: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Restore a list to an earlier revision, as a new commit; its history stays.")

    @OptionGroup var options: EditOptions
    @Option(help: .init("The revision to restore.", valueName: "revision")) var at: Int

    func run() async throws {
        let (name, at) = (try options.list.name(), at)
        let target = try await options.list.server.withClient(list: name) { client, _ in
            try await client.state(of: name, at: at).hand
        }
        try await options.edit(knowing: .all) { Delta(from: try $0.whole(), to: target) }
    }
}
