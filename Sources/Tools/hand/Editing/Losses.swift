import HandClient
import HandCore
import HandFormats
import HandScreens
import HandSync
import HandWire

/// Tells a person what became of earlier edits: of edits that were sent without an answer, and of edits that others
/// have overridden or the server has refused.
enum Losses {
    /// Finds out what became of edits that were sent without an answer, and sends the edits that wait, before a command
    /// makes an edit. The rest of what this client's journal knows is found out while the command's requests are under
    /// way; await the result before the edit is made.
    static func beginTelling(
        of list: String, _ client: HandClient, _ server: ServerOptions
    ) async throws -> Task<Void, Never> {
        _ = await settle(client, server)
        try await server.sendWaiting(of: list, client)
        return Task { try? await tell(of: list, client, server) }
    }

    /// Tells what others have overridden of this person's earlier edits.
    static func tell(of list: String, _ client: HandClient, _ server: ServerOptions) async throws {
        // If the comparison fails, the next command tells the person.
        try? await client.compareWork(on: list)
        let untold = try await client.losses(of: list).filter { !$0.isTold }.map(\.loss)
        if untold.isEmpty || server.quiet { return }
        let people = await client.people(behind: untold, on: list)
        tell(untold, people, server)
        try await client.noteTold(of: list)
    }

    /// Finds out what became of edits that were sent without an answer, and tells the person. Returns whether there
    /// were such edits.
    static func settle(_ client: HandClient, _ server: ServerOptions) async -> Bool {
        let settled = await client.settle()
        // Also with --quiet: nothing else tells the person.
        for edit in settled { Output.message("\(text(edit, Suggestion.rejected(of: server.user.person)))") }
        return !settled.isEmpty
    }

    static func tell(_ losses: [Loss], _ people: [AuthorID: String], _ server: ServerOptions, of list: String? = nil) {
        for loss in losses { server.say("\(list.map { "'\($0)': " } ?? "")\(text(loss, people))") }
        if losses.contains(where: { !$0.pieces.isEmpty }) {
            server.say("get \(losses.count == 1 ? "it" : "them") back: \(Suggestion.rejected(of: server.user.person))")
        }
    }

    static func text(_ loss: Loss, _ people: [AuthorID: String]) -> String {
        guard case .overridden(_, _, let override) = loss else { return loss.summary }
        let who = people[override.author] ?? "somebody"
        return "\(who) \(loss.summary) (revision \(override.revision))"
    }

    private static func text(_ settled: HandClient.Settled, _ rejected: String) -> String {
        let edit = "your earlier edit of '\(settled.submission.list)', whose outcome was not known,"
        switch settled.answer {
        case .committed(let revision, _, _): return "\(edit) was made: revision \(revision)"
        case .rejected(let reason):
            return "\(edit) was refused: \(reason) It is kept: \(rejected)"
        case .error(.noSuchList, _):
            return
                "what became of \(edit) cannot be found out: the list is gone. It is kept: \(rejected)"
        default: return "\(edit) was not made. It is kept: \(rejected)"
        }
    }

    /// What was lost of edits that were sent, as JSON members; none if nothing was lost.
    static func members(of outcome: Settlement) -> [JSONValue.Member] {
        let losses = outcome.notices.compactMap(Loss.init).map { json($0, outcome.people) }
        return losses.isEmpty ? [] : [.init("lost", .array(losses))]
    }

    /// `{"what":"…","texts":["…"],"author":7,"person":"bob","revision":2,"deleted":true}`, and what was lost.
    static func json(_ loss: Loss, _ people: [AuthorID: String]) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init("what", .string(text(loss, people))), .init("texts", .array(loss.texts.map(JSONValue.string))),
        ]
        switch loss {
        case .refused(let reason, _): members.append(.init("rejection", JSON.rejection(reason)))
        case .overridden(let item, let loss, let override):
            members += [
                .init("item", .string("\(item.id)")), .init("author", override.author.json),
                .init("person", people[override.author].map(JSONValue.string) ?? .null),
                .init("revision", JSONValue(override.revision)), .init("deleted", .bool(override.deletesItem)),
            ]
            members += JSON.members(of: loss)
        }
        return .object(members)
    }
}
