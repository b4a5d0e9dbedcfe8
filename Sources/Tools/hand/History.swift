import ArgumentParser
import Foundation
import HandClient
import HandCore
import HandFormats
import HandWire

/// Reads a list's history page by page.
enum HistoryReader {
    /// The list before these commits, in which at least those items are known that the commits touch.
    static func list(
        _ name: String, before commits: [Commit], _ client: HandClient
    ) async throws -> Hand {
        guard let first = commits.first else { return Hand() }
        let touched = commits.reduce(0) { $0 + $1.delta.touched.reduce(0) { $0 + $1.count } }
        if touched > most { return try await client.state(of: name, at: first.revision - 1).hand }
        return try await client.excerpt(of: name, at: first.revision - 1, selections(of: commits)).hand
    }

    /// Items beyond which the whole list is asked for.
    private static let most = 2_000

    /// Where the items stood, before the first of the commits, that any of them touches. Items that one of them inserted are
    /// known from that.
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

    /// All commits from `first` to `last`, with the names of their authors.
    static func commits(
        of name: String, from first: Int, through last: Int = .max, _ client: HandClient,
        _ body: ([Commit], [UInt64: String]) async throws -> Void
    ) async throws {
        var next = max(1, first)
        while next <= last {
            let page = try await client.history(of: name, from: next)
            let commits = page.commits.filter { $0.revision <= last }
            guard let newest = commits.last else { return }
            try await body(commits, page.people)
            next = newest.revision + 1
        }
    }

    /// A commit with what it did, for scripts.
    static func json(_ commit: Commit, by person: String, from old: Hand, to new: Hand) -> JSONValue {
        JSON.commit(
            commit, person: person, at: JSON.date(milliseconds: commit.time),
            changes: JSON.changes(commit.delta, from: old, to: new))
    }
    /// How the help says it.
    static let manual = """
        With --json each commit is one line. "revision", "person" and "at" say which, whose and when; "changes" says what \
        happened to each item: "change" is added, deleted, moved or edited; "item" is its id; "from" and "to" are its \
        numbers in the list before and after; "before" and "after" what it says. "delta" is the same for programs that \
        replay it, as Protocol.md has it.
        """
}

struct Log: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show who changed what and when, oldest first.", discussion: HistoryReader.manual)

    @OptionGroup var list: ListOptions

    @Option(name: .customLong("from"), help: ArgumentHelp("The first revision to show.", valueName: "revision"))
    var first = 1

    @Option(name: .shortAndLong, help: ArgumentHelp("Only the last so many.", valueName: "number"))
    var number: Int?

    @Flag(help: "Show times in UTC, to the millisecond, instead of this machine's time.")
    var utc = false

    func run() async throws {
        let (name, json) = (try list.name(), list.server.json)
        let (first, number) = (first, number)
        try await list.server.withClient(list: name) { client, _ in
            var from = first
            if let number { from = max(from, try await client.excerpt(of: name).revision - number + 1) }
            // One page is told with the items that it touches; who reads on is told with the whole list.
            var whole: Hand?
            var isFirst = true
            try await HistoryReader.commits(of: name, from: from, client) { commits, people in
                // The history may begin later than was asked for: older commits may have been forgotten.
                let base = commits[0].revision - 1
                var hand =
                    if let whole { whole } else if isFirst {
                        try await HistoryReader.list(name, before: commits, client)
                    } else { try await client.state(of: name, at: base).hand }
                for commit in commits {
                    let new = try hand.applying(commit.delta)
                    print(commit, people[commit.author] ?? "?", hand, new, json: json)
                    hand = new
                }
                if !isFirst || base == 0 { whole = hand }
                isFirst = false
            }
        }
    }

    /// By the clock on the wall, as it was set then: summer or winter time.
    private static func localTime(_ milliseconds: UInt64) -> String {
        let time = Date(timeIntervalSince1970: Double(milliseconds) / 1_000)
        return LocalTime.text(milliseconds, offset: TimeZone.current.secondsFromGMT(for: time))
    }

    private func print(_ commit: Commit, _ person: String, _ before: Hand, _ after: Hand, json: Bool) {
        if json { return Output.json(HistoryReader.json(commit, by: person, from: before, to: after)) }
        let time = utc ? JSON.date(milliseconds: commit.time) : Self.localTime(commit.time)
        Output.together {
            Output.line("revision \(commit.revision)  \(time)  \(Printable.clean(person))")
            for line in DeltaText.lines(commit.delta, from: before, to: after) { Output.line("  \(line)") }
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
        Output.together { for line in DeltaText.lines(delta, from: before, to: after) { Output.line(line) } }
    }
}

struct Restore: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make a list what it was at a revision, as a new commit; nothing of its history is lost.")

    @OptionGroup var options: EditOptions

    @Option(help: ArgumentHelp("The revision to go back to.", valueName: "revision"))
    var at: Int

    func run() async throws {
        let (name, at) = (try options.list.name(), at)
        let target = try await options.list.server.withClient(list: name) { client, _ in
            try await client.state(of: name, at: at).hand
        }
        try await options.editWhole { view in Delta(from: view, to: target) }
    }
}

struct Undo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Take back your newest commit, or the one named; others' edits since then stay.",
        discussion: """
            Yours are the commits that this machine made under your name (--as), not those of others with the same name. Undoing
            once more makes the edit again.
            """)

    @OptionGroup var options: EditOptions

    @Argument(help: "The revision to take back.")
    var revision: Int?

    /// How many of the newest commits are searched for one's own.
    private static let depth = 10_000

    func run() async throws {
        let name = try options.list.name()
        let person = try Settings.person(flag: options.list.server.person)
        let revision = revision
        let expected = options.ifRevision
        let quiet = options.list.server.quiet
        let address = try Settings.address(flag: options.list.server.url, list: name)
        try await options.perform(from: .history) { client, followed in
            // Edits of one's own that were kept go out first: what takes a commit back is worked out without them.
            _ = try await followed.settled()
            if let expected, try await followed.state().revision != expected {
                throw ClientError.rejected(.revisionMoved(now: try await followed.state().revision))
            }
            let state = try await followed.state()
            let mine = Identity.authors(named: person, at: address).union(state.author.map { [$0] } ?? [])
            var undo = try await Self.find(revision, by: mine, person, in: name, client, head: state.revision)
            // Others may commit meanwhile; what takes the edit back is carried over that, too.
            while try await !undo.make(on: followed, isExact: expected != nil) {
                if expected != nil {
                    throw ClientError.rejected(.revisionMoved(now: try await followed.state().revision))
                }
                let base = undo.base
                try await HistoryReader.commits(of: name, from: base + 1, client) { commits, _ in
                    for commit in commits { undo.pass(commit) }
                }
            }
            guard !quiet else { return }
            for line in undo.lines { Output.message("taking back revision \(undo.target): \(line)") }
        }
    }

    /// What takes a commit back, on the list at revision `base`.
    private struct Reversal: Sendable {
        /// The revision that is taken back, and what it did.
        let target: Int
        let lines: [String]
        var inverse: Delta
        var base: Int

        mutating func pass(_ later: Commit) {
            inverse = inverse.transformed(over: later.delta, as: .later)
            base = later.revision
        }

        /// Whether the list was still at `base`, so that the edit could be made.
        func make(on list: FollowedList, isExact: Bool) async throws -> Bool {
            struct MovedOn: Error {}
            let (inverse, base) = (inverse, base)
            do {
                try await list.edit(isExact: isExact) { state in
                    guard state.revision == base, state.pendingCount == 0 else { throw MovedOn() }
                    return inverse
                }
                return true
            } catch is MovedOn {
                return false
            }
        }
    }

    private static func find(
        _ revision: Int?, by mine: Set<UInt64>, _ person: String, in name: String, _ client: HandClient, head: Int
    ) async throws -> Reversal {
        var commits: [Commit] = []
        let first = revision ?? max(1, head - depth + 1)
        try await HistoryReader.commits(of: name, from: first, through: head, client) { page, _ in commits += page }
        let found =
            revision != nil
            ? commits.first { $0.revision == revision }
            : commits.last { mine.contains($0.author) && !$0.delta.isIdentity }
        guard let target = found else {
            throw Failure(.notFound, revision.map { "there is no revision \($0)" } ?? "'\(person)' has nothing to undo")
        }
        let before = try await client.state(of: name, at: target.revision - 1).hand
        let lines = DeltaText.lines(target.delta, from: before, to: try before.applying(target.delta))
        var reversal = Reversal(
            target: target.revision, lines: lines, inverse: target.delta.inverted(on: before), base: target.revision)
        for later in commits where later.revision > target.revision { reversal.pass(later) }
        return reversal
    }
}
