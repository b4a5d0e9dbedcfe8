import HandClient
import HandCore
import HandFormats
import HandSync
import HandWire

/// Edits that need only the items they touch, not the whole list.
extension EditOptions {
    /// An item at a revision.
    func item(_ reference: ItemReference, at revision: Int) async throws -> Item {
        let name = try list.name()
        let selections = ItemReference.selections(of: [reference])
        return try await list.server.withClient(list: name) { client, _ in
            let excerpt = try await client.excerpt(of: name, at: revision, selections)
            let hand = excerpt.hand
            return hand[try reference.resolved(in: excerpt).position(in: hand)]
        }
    }

    /// Edits the named items, or adds items at a place. Waits for the server's answer and prints the result.
    ///
    /// Requests only the named items from the server, unless edits of the list wait on this machine: these are sent
    /// first and need the whole list.
    ///
    /// - Parameter make: receives the list, perhaps with only those items, and the items and the place as indexes.
    func edit(
        _ items: [ItemReference] = [], to place: Place = .end,
        _ make: @escaping @Sendable (Hand, [ItemReference], Place) throws -> Delta
    ) async throws {
        let name = try list.name()
        let summary = EditSummary()
        do {
            if !queue, let outcome = try await onExcerpt(of: name, items, place, summary, make) {
                return try report(outcome, summary)
            }
        } catch is NothingToDo {
            return report(revision: nil)
        }
        try await editWhole { view in try make(view, items, place) }
    }

    /// Makes the edit on an excerpt of the list; returns nil if the edit needs the whole list.
    private func onExcerpt(
        of name: String, _ items: [ItemReference], _ place: Place, _ summary: EditSummary,
        _ make: @escaping @Sendable (Hand, [ItemReference], Place) throws -> Delta
    ) async throws -> Settlement? {
        let expected = ifRevision
        let selections = ItemReference.selections(of: items + [place.neighbour].compactMap { $0 })
        return try await list.server.withClient(list: name) { client, _ in
            guard try await client.canEditExcerpts(of: name) else { return nil }
            while true {
                let excerpt = try await client.excerpt(of: name, selections)
                if let expected, excerpt.revision != expected {
                    throw ClientError.rejected(.revisionMoved(now: excerpt.revision))
                }
                let hand = excerpt.hand
                let items = try items.map { try $0.resolved(in: excerpt) }
                let delta = try make(hand, items, place.resolved(in: excerpt))
                if delta.changesNothing(of: hand) { throw NothingToDo() }
                try summary.note(delta, on: hand)
                if let outcome = try await client.edit(name, on: excerpt, isExact: expected != nil, delta) {
                    try await list.server.noteTold(of: name, client)
                    return outcome
                }
            }
        }
    }

    /// Makes the edit on the whole list, and submits the edit on an excerpt with the edit's items: so the journal can
    /// settle the edit if the answer does not come. Returns nil if edits of the list wait on this machine, which must
    /// be sent first.
    func onWhole(
        of name: String, _ summary: EditSummary, _ make: @escaping @Sendable (Hand) throws -> Delta
    ) async throws -> Settlement? {
        let expected = ifRevision
        return try await list.server.withClient(list: name) { client, _ in
            guard try await client.canEditExcerpts(of: name) else { return nil }
            while true {
                let logID = try await client.excerpt(of: name).logID
                let state = try await client.state(of: name)
                if let expected, state.revision != expected {
                    throw ClientError.rejected(.revisionMoved(now: state.revision))
                }
                let delta = try make(state.hand)
                if delta.changesNothing(of: state.hand) { throw NothingToDo() }
                try summary.note(delta, on: state.hand)
                let excerpt = state.hand.excerpt(delta.selections, logID: logID, revision: state.revision)
                if let outcome = try await client.edit(name, on: excerpt, isExact: expected != nil, delta) {
                    try await list.server.noteTold(of: name, client)
                    return outcome
                }
            }
        }
    }
}
