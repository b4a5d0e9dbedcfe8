import ArgumentParser
import HandClient
import HandCore
import HandFormats
import HandSync
import HandWire

/// Options of commands that edit.
struct EditOptions: ParsableArguments {
    @OptionGroup var list: ListOptions

    @Option(
        help: .init("Edit only if the list is still at that revision; otherwise exit with 7.", valueName: "revision"))
    var ifRevision: Int?

    @Flag(help: "If the server cannot be reached, keep the edit for 'hand sync' to send.") var queue = false

    /// Makes an edit on the whole list, waits for the server's answer, and prints the result.
    func editWhole(_ make: @escaping @Sendable (Hand) throws -> Delta) async throws {
        let (name, expected) = (try list.name(), ifRevision)
        let summary = EditSummary()
        do {
            if !queue, let outcome = try await onWhole(of: name, summary, make) { return try report(outcome, summary) }
        } catch is NothingToDo {
            return report(revision: nil)
        }
        try await perform(summary) { _, followed in
            try await followed.edit(isExact: expected != nil) { state in
                do {
                    if let expected, state.revision != expected {
                        throw ClientError.rejected(.revisionMoved(now: state.revision))
                    }
                    let delta = try make(state.view)
                    if delta.changesNothing(of: state.view) { throw NothingToDo() }
                    try summary.note(delta, on: state.view)
                    return delta
                } catch {
                    if state.isLoaded { throw error }
                    throw Failure(
                        .unreachable,
                        "no server answers, and this machine has no copy of '\(name)': without a copy, items can only be added "
                            + "at the end or the top. '\(Suggestion.command("ls"))' keeps a copy")
                }
            }
        }
    }

    /// Lets `body` edit the list, waits for the server's answer, and prints the result.
    func perform(
        _ summary: EditSummary = EditSummary(),
        _ body: @escaping @Sendable (HandClient, FollowedList) async throws -> Void
    ) async throws {
        do {
            if queue { return try await performOrKeep(summary, body) }
            let outcome = try await list.withList { client, followed -> Settlement in
                try await body(client, followed)
                let outcome = try await followed.settled()
                try await list.server.noteTold(of: followed.name, client)
                return outcome
            }
            try report(outcome, summary)
        } catch is NothingToDo {
            report(revision: nil)
        }
    }

    /// Thrown if the edit would change nothing. In that case no commit is made.
    struct NothingToDo: Error {}

    /// Edits this machine's copy of the list, and keeps the edit on disk if the server does not answer in time.
    private func performOrKeep(
        _ summary: EditSummary, _ body: @escaping @Sendable (HandClient, FollowedList) async throws -> Void
    ) async throws {
        let name = try list.name()
        let server = list.server
        let address = try server.address(name)
        let client = try Identity.client(at: address, person: try server.user.name(), keepsLists: true)
        let outcome: Settlement?
        do {
            // Another command may have a newer copy.
            if let seen = try Identity.kept(name, at: address).first { try await client.adopt(seen, of: name) }
            // The current list if the server answers, otherwise the copy.
            let reached = try await ifReached {
                try await client.connected()
                return try await live(name, client)
            }
            let isHere = reached != nil
            let followed = if let reached { reached } else { try await client.open(name) }
            // The edit has no time limit: it needs no server, and the disk may be slow.
            try await body(client, followed)
            outcome = isHere ? try await ifReached { try await followed.settled() } : nil
        } catch {
            await client.close()
            throw error
        }
        await client.close()
        if let outcome { return try report(outcome, summary) }
        summary.tell(server)
        server.say("\(address.server) cannot be reached: the edit is kept, '\(Suggestion.command("sync"))' sends it")
    }

    /// Follows the list that has the name now. Edits that waited under the name may belong to a list that has another
    /// name now; these edits are sent to that list.
    private func live(_ name: String, _ client: HandClient) async throws -> FollowedList {
        let followed = try await client.open(name)
        _ = try await followed.live()
        do { _ = try await followed.state() } catch let renamed {
            let other = try await client.open(name)
            do { _ = try await other.live() } catch ClientError.refused(.noSuchList, _) { throw renamed }
            return other
        }
        return followed
    }

    /// Returns the result of `body`; nil if the server cannot be reached in time.
    private func ifReached<Result: Sendable>(
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result? {
        do { return try await list.server.inTime(body) } catch ClientError.unreachable { return nil }
    }

    /// Prints the outcome of an edit.
    ///
    /// - Parameter more: additional JSON members.
    func report(_ outcome: Settlement, _ summary: EditSummary, _ more: [JSONValue.Member] = []) throws {
        list.server.tell(outcome)
        if let rejection = outcome.rejections.first { throw ClientError.rejected(rejection) }
        let losses = outcome.notices.compactMap(Loss.init).map { Losses.json($0, outcome.people) }
        let more = more + (losses.isEmpty ? [] : [.init("lost", .array(losses))])
        report(revision: outcome.revision, summary, more)
    }

    func report(revision: Int?, _ summary: EditSummary = EditSummary(), _ more: [JSONValue.Member] = []) {
        let deleted = summary.deleted
        if !list.server.json { summary.tell(list.server) }
        list.server.tell(
            .object(
                [.init("revision", JSONValue(orNull: revision))] + more
                    + (deleted.isEmpty ? [] : [.init("deleted", JSON.items(deleted))])),
            revision.map { "revision \($0)" } ?? "nothing to do")
    }
}

extension Delta {
    /// Whether the list stays the same, for example after ticking a ticked task. O(size of the delta · log n).
    func changesNothing(of list: Hand) -> Bool {
        (try? list.applying(self).digest) == list.digest
    }
}

/// Messages about what happened to the user's edits, except for losses.
enum Notices {
    static func text(_ notice: Replica.Notice) -> String? {
        switch notice {
        case .acknowledged, .superseded, .rejected: return nil
        case .keptWords(let item, .words(let loss, _)): return Printable.stays(loss, in: item.content)
        case .keptWords: return nil
        case .usedTwice(let revision):
            return "another program used this one's client id for revision \(revision), perhaps from a copy of "
                + "\(Settings.stateFolder)/clients; your edit was sent again, under a new id"
        case .diverged(let revision):
            return "this list differed from the server's at revision \(revision); it was loaded again"
        }
    }
}

extension JSONValue {
    /// The number, or `null` for nil.
    init(orNull number: Int?) { self = number.map { JSONValue($0) } ?? .null }
}
