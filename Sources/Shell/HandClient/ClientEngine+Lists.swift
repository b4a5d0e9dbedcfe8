import EventLoop
import HandCore
import HandSync

// Followed lists, and their copies in the journal.

extension ClientEngine {
    /// Follows a list, starting from its kept copy or from nothing.
    package func open(_ name: String, from kept: ClientJournal.Kept? = nil) {
        guard lists[name] == nil, !isClosed else { return }
        refusals[name] = nil
        perform { machine in
            machine.open(
                name, from: kept?.replica, keptEvents: kept?.events ?? 0,
                isJournaled: configuration.keepsLists || kept != nil)
        }
        lists[name] = ListFollowers(name, state(of: name) ?? ListState())
    }

    /// Calls `receiver` with all events of a followed list; nil is the end.
    package func listen(to name: String, _ receiver: @escaping (ListEvent?) -> Void) {
        _ = lists[name]?.add(receiver)
    }

    /// Returns the state of a followed list.
    ///
    /// - Throws: the reason why it is not followed any more.
    func followed(_ name: String) throws(ClientError) -> ListState {
        guard lists[name] != nil, let state = state(of: name) else { throw end(of: name) }
        return state
    }

    package func isFollowed(_ name: String) -> Bool { lists[name] != nil || opening[name] != nil }

    /// Returns the reason why a list is not followed any more.
    package func end(of name: String) -> ClientError {
        refusals[name] ?? .refused(.noSuchList, "the list '\(name)' is not followed any more")
    }

    /// Returns the state of a followed list.
    package func state(of name: String) -> ListState? { machine.subscriptions[name]?.state }

    /// Reads the kept copy of a list, and follows the list from there, unless it is followed already. If the
    /// configuration does not keep lists, the copy is read only if edits wait in it.
    package func follow(_ name: String, _ then: @escaping (Result<Void, any Error>) -> Void) {
        if lists[name] != nil { return then(.success(())) }
        opening[name, default: []].append(then)
        guard opening[name]?.count == 1 else { return }
        askJournal(otherwise: nil) { [configuration] journal in
            try configuration.keepsLists || journal.mayHavePending(name) ? journal.kept(name) : nil
        } then: { [unowned self] outcome in
            let waiting = opening.removeValue(forKey: name) ?? []
            if case .success(let kept) = outcome { open(name, from: kept) }
            for body in waiting { body(outcome.map { _ in }) }
        }
    }

    /// The number of edits that the server has not confirmed.
    package var waitingEdits: Int { machine.subscriptions.values.reduce(0) { $0 + $1.replica.unconfirmedCount } }

    /// Calls `body` with the lost edits of a list that earlier runs have kept.
    package func keptLosses(of name: String, _ body: @escaping ([KeptLoss]) -> Void) {
        askJournal(otherwise: []) { [configuration] in
            try $0.losses(of: name, by: configuration.person)
        } then: {
            body((try? $0.get()) ?? [])
        }
    }

    /// Calls `body` with the names of the kept lists, or with none if they cannot be read.
    package func keptLists(_ body: @escaping ([String]) -> Void) {
        askJournal(otherwise: []) {
            try $0.lists()
        } then: {
            body((try? $0.get()) ?? [])
        }
    }
}
