import EventLoop
import HandCore
import HandStore
import HandSync

// Lists that are followed, and what is kept of them.

extension ClientEngine {
    /// Follows a list, from what was kept of it or from nothing.
    package func open(_ name: String, from replica: Replica?) {
        guard lists[name] == nil else { return }
        let followers = ListFollowers()
        lists[name] = followers
        refusals[name] = nil
        perform { machine in
            machine.open(name, from: replica, isJournaled: keepsLists || replica != nil)
        }
        followers.collect(Replica.Update())
        followers.publish(machine.subscriptions[name])
    }

    /// Has `receiver` told of all that happens to a list that is followed; nil is the end.
    package func follow(_ name: String, _ receiver: @escaping (ListEvent?) -> Void) {
        _ = lists[name]?.add(receiver)
    }

    /// Those who follow a list, and what the machine knows of it.
    ///
    /// - Throws: why it is not followed any more.
    func followed(_ name: String) throws(ClientError) -> (ListFollowers, ClientMachine.Subscription) {
        guard let followers = lists[name], let subscription = machine.subscriptions[name] else { throw end(of: name) }
        return (followers, subscription)
    }

    /// Why a list is not followed any more.
    package func end(of name: String) -> ClientError {
        refusals[name] ?? .refused(.noSuchList, "the list '\(name)' is not followed any more")
    }

    /// Where a list that is followed stands.
    package func state(of name: String) -> ListState? { machine.subscriptions[name]?.state }

    /// The items of a list that edits not confirmed yet have touched. O(size of what is pending).
    package func pendingItems(of name: String) -> Set<ItemID> {
        machine.subscriptions[name]?.replica.pendingItems ?? []
    }

    /// The replica that was kept of a list; blocks.
    func kept(_ name: String) throws -> Replica? { try journal?.load(name, machine) }

    /// Whether edits of a list that is not followed wait to be sent; blocks.
    func isWaiting(_ name: String) throws -> Bool { try mayHavePending(name) && kept(name)?.hasPending == true }

    /// Keeps a copy of a list that is not followed, unless edits wait on the one that is kept; blocks.
    func keep(_ hand: Hand, of name: String, at revision: Int, of logID: UInt64) throws {
        guard let journal, lists[name] == nil, try !isWaiting(name) else { return }
        let copy = Replica(confirmed: hand, revision: revision, logID: logID, sequence: 0)
        try journal.journal.checkpoint(copy, of: name)
    }

    /// Reads the replica that was kept of a list on another thread, and hands it over on this one.
    package func load(_ name: String, _ body: @escaping (Result<Replica?, any Error>) -> Void) {
        guard let journal else { return body(.success(nil)) }
        do { try journal.writeEverything(machine) } catch { return body(.failure(error)) }
        let reader = journal.journal
        Work.submit(loop) {
            Result { try reader.load(name) }
        } then: { outcome in
            body(outcome)
        }
    }

    /// Whether edits of a list may be kept that the server has not answered; what cannot be read counts as such.
    func mayHavePending(_ list: String) -> Bool {
        guard let journal else { return false }
        return (try? journal.journal.mayHavePending(list)) ?? true
    }

    /// The lists of which something is kept.
    package func keptLists() -> [String] { (try? journal?.journal.lists()) ?? [] }

    /// Writes down what was collected of the lists, before one of them is let go.
    func keep() {
        _ = try? journal?.writeEverything(machine)
    }

    /// Calls `body` when all that was edited so far is kept, with what went wrong if it could not be; at the end of this turn.
    func whenKept(_ body: @escaping (String?) -> Void) {
        keptWaiters.append(body)
    }

    var keepsLists: Bool { journal != nil && configuration.keepsLists }
}
