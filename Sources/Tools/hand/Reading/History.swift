import ArgumentParser
import HandClient
import HandCore
import HandFormats
import HandSync
import HandWire

/// Reads a list's history page by page.
enum ListHistory {
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

    /// Returns an item with its number, and the revision of the list.
    static func item(
        _ reference: ItemReference, of name: String, at revision: Int? = nil, _ client: HandClient
    ) async throws -> (item: Item, number: Int, revision: Int) {
        let part = PartialList(
            try await client.excerpt(of: name, at: revision, ItemReference.selections(of: [reference])))
        let position = try reference.position(in: part)
        return (try part.item(at: position), position + 1, part.revision)
    }

    /// What happened to an item of a list. --timeout limits each answer of the server.
    static func history(
        of item: ItemID, in name: String, _ client: HandClient, _ server: ServerOptions, _ address: HandAddress
    ) async throws -> ItemHistory {
        var history = ItemHistory(of: item, in: name)
        while history.request != nil {
            let known = history
            history = try await server.limited(client, address) { try await client.next(of: known) }
            if history.next > 0, !server.quiet { Output.progress("\(history.next) commits to look at") }
        }
        if !server.quiet { Output.progress("") }
        return history
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

struct Diff: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff", abstract: "Show what changed between two revisions.",
        discussion: "With --json, \"changes\" and \"delta\" are as in 'hand log --json'.")

    @OptionGroup var list: ListOptions
    @Argument(help: "The older revision.") var old: Int
    @Argument(help: "The newer revision (default: the newest).") var new: Int?

    func run() async throws {
        let (name, old, new) = (try list.name(), old, new)
        let (before, after) = try await list.server.withClient(list: name) { client, _ in
            (try await client.state(of: name, at: old), try await client.state(of: name, at: new))
        }
        let delta = Delta(from: before.hand, to: after.hand)
        if list.server.json {
            return Output.json([
                "from": JSONValue(before.revision), "to": JSONValue(after.revision),
                "changes": JSON.changes(delta, from: before.hand, to: after.hand), "delta": JSON.delta(delta),
            ])
        }
        Output.together {
            for line in DeltaText.lines(delta, from: before.hand, to: after.hand, Output.marks) { Output.line(line) }
        }
    }
}

struct Restore: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Restore a list to an earlier revision, as a new commit; its history stays.",
        discussion: "Only the server has the history: if no server answers, --queue keeps nothing.")

    @OptionGroup var options: EditOptions
    @Option(help: .init("The revision to restore.", valueName: "revision")) var at: Int

    func run() async throws {
        let (name, at) = (try options.list.name(), at)
        try await options.withHistory {
            let target = try await options.list.server.withClient(list: name) { client, _ in
                try await client.state(of: name, at: at).hand
            }
            try await options.edit(knowing: .all) { Delta(from: try $0.whole(), to: target) }
        }
    }
}
