import HandCore
import HandWire

/// Lists that were renamed or deleted since they were opened. Pending edits stay with the list that they were made on,
/// regardless of its current name.
extension ClientMachine {
    /// Renames a followed list. All state of the list moves to the new name.
    mutating func renamed(_ list: ListNumber, to name: String) {
        defer { if let found = names[list] { subscriptions[found]?.named(&common) } }
        guard let old = names[list], old != name, let mine = subscriptions[old] else { return }
        common.note(.renamed)
        let text = "'\(old)' is called '\(name)' now"
        guard let other = subscriptions[name] else {
            subscriptions[old] = nil
            names[list] = name
            // A pending subscription under the former name may be answered for another list that has that name now.
            if case .asked(let request, isByLogID: false, _) = mine.phase { abandoned[request] = old }
            subscriptions[name] = mine
            subscriptions[name]?.renamed(to: name, &common)
            return
        }
        // The list was opened under its new name, too. One of the two replicas continues, with its pending edits. If
        // both replicas have pending edits, those of the other replica wait where they are kept.
        if mine.replica.hasPending, !other.replica.hasPending {
            subscriptions[name]?.continueFrom(mine, &common)
        }
        drop(old, .refused(.noSuchList, text))
        // Until the server has answered, presence messages still arrive under the old number.
        names[list] = name
        // The focus under the new name, if any, is sent when the server has answered.
        if mine.focus != nil { common.send(.presence(list: list, nil)) }
        subscriptions[name]?.subscribe(isAnew: true, &common)
    }

    /// Handles the answer that there is no list of that name. The list may have been renamed, so the client looks for
    /// the list by its log id.
    mutating func missing(_ name: String, _ text: String) {
        guard let subscription = subscriptions[name] else { return }
        let replica = subscription.replica
        if !subscription.isByLogID, replica.logID != 0 {
            subscriptions[name]?.subscribe(isByLogID: true, &common)
            return
        }
        let reason =
            subscription.isOthersName
            ? "'\(name)' is now another list" : subscription.isByLogID ? "there is no list '\(name)'" : text
        guard replica.hasPending else { return drop(name, .refused(.noSuchList, reason)) }
        let wasNeverThere = replica.logID == 0
        drop(name, wasNeverThere ? .editsWait("\(reason); edits of yours wait for it") : Self.editsWait(reason))
    }

    /// Whether the edits pending under a name were made on another list that has since been renamed or deleted.
    func isOther(_ subscribed: DownMessage.Subscribed, than name: String) -> Bool {
        guard let replica = subscriptions[name]?.replica else { return false }
        return replica.hasPending && replica.logID != 0 && !LogID.isSameList(replica.logID, subscribed.logID)
    }

    /// Looks by log id for the list that the pending edits were made on, because another list has its name. If there is
    /// no such list, the edits stay in the journal.
    mutating func turnBack(from subscribed: DownMessage.Subscribed, called name: String) {
        subscriptions[name]?.isOthersName = true
        subscriptions[name]?.goIdle()
        unsubscribe(from: subscribed.list)
        subscriptions[name]?.subscribe(isByLogID: true, &common)
    }

    private static func editsWait(_ reason: String) -> ListEvent {
        .editsWait("\(reason); you have pending edits for the list that had this name before")
    }

    /// Stops following a list, and reports why.
    mutating func drop(_ name: String, _ end: ListEvent) {
        _ = unfollow(name)
        names = names.filter { $0.value != name }
        common.emit(.list(name, end))
    }
}
