import ArgumentParser
import HandClient
import HandCore
import HandFormats
import HandSync
import HandWire

/// Takes commits back, using the list's history. The cost is proportional to these commits and all later ones.
struct Undoing: Sendable {
    private let options: EditOptions
    private let person: String
    private let address: HandAddress
    private let client: HandClient
    private let name: String
    /// The list, until an edit of it is made.
    private var list: EphemeralList?
    private let logID: UInt64
    private var past: UndoReconstruction
    /// The only revision at which the list may be edited.
    private var expected: Int?

    static let maxSteps = 1_000

    static func steps(_ step: UndoStep, _ number: Int, _ options: EditOptions) async throws {
        try await begin(options) { undoing, server in
            for count in 0..<number {
                let (before, first) = (undoing, count == 0)
                let (after, isDone) = try await server.limited(before.client, before.address) {
                    var undoing = before
                    if !first { try await undoing.readNewCommits() }
                    let isDone = try await undoing.take(.step(step))
                    return (undoing, isDone)
                }
                undoing = after
                if isDone { continue }
                // A token has a name of its own.
                let person = try await undoing.client.person()
                let since: Printable =
                    undoing.past.horizon.map {
                        " since revision \($0): older commits are not kept, or not searched"
                    } ?? ""
                if first { throw Failure(.notFound, "'\(person)' has nothing to \(step)\(since)") }
                return server.say("'\(person)' has nothing more to \(step)\(since)")
            }
        }
    }

    static func takeBack(_ revision: Int, _ options: EditOptions) async throws {
        try await begin(options) { undoing, server in
            let before = undoing
            undoing = try await server.limited(before.client, before.address) {
                var undoing = before
                guard (1...max(1, before.past.revision)).contains(revision) else {
                    throw Failure(.notFound, "there is no revision \(revision)")
                }
                _ = try await undoing.take(.revision(revision))
                return undoing
            }
        }
    }

    /// Sends the edits that wait on this machine, reads the list's revision, and runs `body`.
    private static func begin(
        _ options: EditOptions, _ body: @escaping @Sendable (inout Undoing, ServerOptions) async throws -> Void
    ) async throws {
        let server = options.list.server
        let (name, person) = (try options.list.name(), try server.user.name())
        Interruption.begin()
        try await options.withHistory {
            try await server.withClient(list: name, timeLimited: false, telling: false) { client, address in
                var undoing = try await server.limited(client, address) {
                    let told = try await Losses.beginTelling(of: name, client, server)
                    let list = try await client.enter(name)
                    let head = try await list.part(.items([]))
                    await told.value
                    try await EditOptions.check(head, is: options.ifRevision, name, client)
                    // The person's number on this server may be on its way to the journal.
                    try await client.journalWritten()
                    let memory = Identity.memory(of: person, at: address, log: head.logID)
                    return Undoing(
                        options: options, person: person, address: address, client: client, name: name, list: list,
                        logID: head.logID,
                        past: UndoReconstruction(memory, revision: head.revision),
                        expected: options.ifRevision.map { _ in head.revision })
                }
                try await body(&undoing, server)
            }
        }
    }

    // MARK: Taking back

    /// Takes back what `wish` names. Returns false if there is nothing to take back.
    private mutating func take(_ wish: UndoReconstruction.Wish) async throws -> Bool {
        while true {
            switch try await client.advice(for: wish, &past, of: name) {
            case .make(let retraction, let step, let revision, let empty):
                if let step { try await client.noteEmpty(step, count: empty, in: logID, at: past.revision) }
                if try await make(retraction, as: step, of: revision) { return true }
                try await readNewCommits()
            case .forgotten(let revision): throw Failure(.notFound, "the server no longer has revision \(revision)")
            case .nothing, .read, .look: return false
            }
        }
    }

    /// Makes the edit that takes a revision back, based on the revision for which it was computed: the server
    /// transforms it over later commits. Prints the result. Returns false if the edit must be computed again.
    ///
    /// - Parameter revision: what is taken back; nil if it is only known as the person's newest edit.
    private mutating func make(
        _ retraction: Retraction, as step: UndoStep?, of revision: Int?
    ) async throws -> Bool {
        let delta = retraction.delta
        let named = revision.map { step == .redo ? "the undo at revision \($0)" : "revision \($0)" }
        let what = named ?? (step == .redo ? "your last undo" : "your last edit")
        let keptWords = retraction.keptWords.map { JSONValue.object(JSON.members(of: $0.loss)) }
        let told =
            [JSONValue.Member("takenBack", JSONValue(orNull: revision))]
            + (keptWords.isEmpty ? [] : [JSONValue.Member("keptWords", .array(keptWords))])
        let nothing: Printable = "nothing is left of \(revision == nil ? what : "that edit: \(what)")"
        let list = if let list { list } else { try await client.enter(name) }
        self.list = nil
        let known = try await list.part(.items(delta.selections), at: past.revision)
        tell(keptWords: retraction.keptWords)
        if Self.isIneffective(delta, on: known) {
            list.leave()
            if let step { try await client.noteEmpty(step, count: 1, in: logID, at: past.revision) }
            if !options.list.server.json { options.list.server.say(nothing) }
            options.report(revision: nil, EditSummary(), told)
            return true
        }
        let summary = EditSummary(under: "took back \(what):")
        try summary.note(delta, on: known)
        guard let outcome = try await submit(delta, to: list, on: known, of: revision, as: step) else { return false }
        if case .duplicateItem? = outcome.rejections.first {
            let missing = try await withoutExistingItems(delta)
            if missing == delta { return false }
            return try await make(Retraction(delta: missing), as: step, of: revision)
        }
        if outcome.commits.last?.delta.isIdentity == true {
            // Another program of this person took it back meanwhile, and says so.
            if !options.list.server.json { options.list.server.say(nothing) }
            try options.report(outcome, summary, [.init("takenBack", .null)])
        } else {
            try options.report(outcome, summary, told)
        }
        if expected != nil { expected = outcome.revision }
        return true
    }

    private func submit(
        _ delta: Delta, to list: EphemeralList, on known: PartialList, of revision: Int?, as step: UndoStep?
    ) async throws -> Settlement? {
        do {
            return try await list.submit(delta, on: known, isExact: expected != nil, as: step)
        } catch ClientError.notMade(.tooLarge(let bytes, let limit)) {
            // A deletion is short, but what takes it back has all the texts.
            let before = (revision ?? past.revision) - 1
            throw Failure(
                .error,
                """
                taking this back is an edit of about \(bytes) bytes; at most \(limit) can be sent as one. To bring items back in \
                parts: \(Suggestion.command("export -l", name)) --at \(before) FILE, then \(Suggestion.command("import -l", name)) FILE
                """)
        }
    }

    /// Whether a step changes nothing. One that does not fit is none, either: if several programs of a person undo at
    /// once, nobody knows which of them took back what.
    private static func isIneffective(_ delta: Delta, on known: PartialList) -> Bool {
        (try? known.hand(for: delta))?.isUnchanged(by: delta) ?? true
    }

    /// Prints the words that were not taken back.
    private func tell(keptWords: [Superseded]) {
        for case .words(let loss, _) in keptWords.map(\.loss) {
            options.list.server.say("\(Printable.stays(loss))")
        }
    }

    /// Returns the delta without the items that somebody else has already brought back.
    private func withoutExistingItems(_ delta: Delta) async throws -> Delta {
        let ids = delta.insertedItems.map(\.id)
        let existing = Set(try await client.excerpt(of: name, ids.map { .ids($0...$0) }).entries.map(\.item.id))
        return delta.inserting(only: { !existing.contains($0.id) })
    }

    // MARK: The history

    /// Reads the commits made since the last read.
    private mutating func readNewCommits() async throws {
        let commits = try await client.commits(of: name, from: past.revision + 1)
        past.append(commits)
        past.remember(Identity.memory(of: person, at: address, log: logID))
        if let expected, commits.contains(where: { $0.revision > expected && $0.refusal == nil }) {
            throw ClientError.rejected(.revisionMoved(now: past.revision))
        }
    }
}
