import EventLoop
import HandCore
import HandStore
import HandSync

// Lists that are followed, and what is kept of them.

extension ClientEngine {
    /// Follows a list, from what was kept of it or from nothing.
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

    /// Tells `receiver` of all events of a followed list; nil is the end.
    package func listen(to name: String, _ receiver: @escaping (ListEvent?) -> Void) {
        _ = lists[name]?.add(receiver)
    }

    /// The state of a followed list.
    ///
    /// - Throws: why it is not followed any more.
    func followed(_ name: String) throws(ClientError) -> ListState {
        guard lists[name] != nil, let state = state(of: name) else { throw end(of: name) }
        return state
    }

    package func isFollowed(_ name: String) -> Bool { lists[name] != nil || opening[name] != nil }

    /// Why a list is not followed any more.
    package func end(of name: String) -> ClientError {
        refusals[name] ?? .refused(.noSuchList, "the list '\(name)' is not followed any more")
    }

    /// Where a list that is followed stands.
    package func state(of name: String) -> ListState? { machine.subscriptions[name]?.state }

    /// Reads what was kept of a list, and follows the list from there, unless it is followed already. If lists are not to
    /// be kept, that is read only if edits wait in it.
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

    /// Calls `body` with the names of the kept lists; none if they cannot be read.
    package func keptLists(_ body: @escaping ([String]) -> Void) {
        askJournal(otherwise: []) {
            try $0.lists()
        } then: {
            body((try? $0.get()) ?? [])
        }
    }
}
