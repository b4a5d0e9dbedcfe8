import HandCore
import HandWire

/// Lists that were renamed or deleted since they were opened. Pending edits stay with the list that they were made on,
/// regardless of its current name.
extension ClientMachine {
    /// Renames a followed list. All state of the list moves to the new name.
    mutating func renamed(_ list: UInt64, to name: String) {
        guard let old = names[list], old != name, let mine = subscriptions[old] else { return }
        let text = "'\(old)' is called '\(name)' now"
        guard let other = subscriptions[name] else {
            subscriptions[old] = nil
            subscriptions[name] = mine
            names[list] = name
            if mine.isJournaled { journal?.move(old, to: name) }
            emit(.list(old, .renamed(to: name)))
            // A pending subscription under the former name may be answered for another list that has that name now.
            guard case .asked(let request, isSought: false, _) = mine.phase else { return }
            abandoned[request] = old
            return subscribe(to: name)
        }
        // It was opened under its new name too. One of the two replicas continues, with its pending edits; if both
        // have some, the other's waits where it is kept.
        if mine.replica.hasPending, !other.replica.hasPending {
            subscriptions[name]?.replica = mine.replica
            subscriptions[name]?.isLoaded = mine.isLoaded
            if mine.isJournaled { journal?.move(old, to: name) }
            let delta = Delta(from: other.replica.view, to: mine.replica.view)
            tell(name, Replica.Update(delta: delta))
        }
        drop(old, .refused(.noSuchList, text))
        // Until then, presence messages still arrive under the old number.
        names[list] = name
        // The focus under the new name, if any, is sent when the server has answered.
        if mine.focus != nil { send(.presence(list: list, nil)) }
        subscribe(to: name, isAnew: true)
    }

    /// Handles the answer that there is no list of that name. The list may have been renamed, so the client looks for
    /// its log id.
    mutating func missing(_ name: String, _ text: String) {
        guard let subscription = subscriptions[name] else { return }
        let replica = subscription.replica
        if !subscription.isSought, replica.logID != 0, !replica.hasDiverged {
            return subscribe(to: name, isSought: true)
        }
        let reason = subscription.isSought ? "there is no list '\(name)'" : text
        drop(name, replica.hasPending ? Self.editsWait(reason) : .refused(.noSuchList, reason))
    }

    /// Whether the edits pending under a name were made on another list that has since been renamed or deleted.
    func isOther(_ subscribed: DownMessage.Subscribed, than name: String) -> Bool {
        guard let replica = subscriptions[name]?.replica else { return false }
        return replica.hasPending && replica.logID != 0 && !LogID.isSameList(replica.logID, subscribed.logID)
    }

    /// Drops the subscription. Pending edits stay in the journal, under the list that they were made on.
    mutating func turnBack(from subscribed: DownMessage.Subscribed, called name: String) {
        drop(name, Self.editsWait("'\(name)' is now another list"))
        unsubscribe(from: subscribed.list)
    }

    private static func editsWait(_ reason: String) -> ListEvent {
        .editsWait("\(reason); you have pending edits for the list that had this name before")
    }

    /// Stops following a list, and reports why.
    mutating func drop(_ name: String, _ end: ListEvent) {
        _ = letGo(name)
        names = names.filter { $0.value != name }
        emit(.list(name, end))
    }
}
