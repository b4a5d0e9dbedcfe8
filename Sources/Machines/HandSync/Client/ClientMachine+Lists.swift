import HandCore
import HandWire

extension ClientMachine {
    /// Follows a list, starting from a stored replica or from nothing.
    ///
    /// - Parameters:
    ///   - events: how many events were stored with the replica.
    ///   - isJournaled: whether the list's events are kept, if this client has a journal.
    public mutating func open(
        _ name: String, from replica: Replica? = nil, keptEvents events: Int = 0, isJournaled: Bool = false
    ) {
        guard subscriptions[name] == nil else { return }
        var subscription = Subscription(
            name, replica: replica, author: common.author, isJournaled: isJournaled && common.journal != nil)
        if subscription.isJournaled {
            // Events need a stored replica to be applied to.
            if replica == nil { common.journal?.replace(name) } else { common.journal?.found(events, of: name) }
        }
        subscription.noteAuthor(&common)
        if isReady { subscription.subscribe(&common) }
        subscriptions[name] = subscription
    }

    public mutating func close(_ name: String) {
        guard let subscription = letGo(name), isReady else { return }
        if let list = subscription.list {
            names[list] = nil
            unsubscribe(from: list)
        } else if let request = subscription.request {
            abandoned[request] = name
        }
    }

    /// Unsubscribes from a list, unless the client follows it under another name. A list whose subscription is pending
    /// may be the same, and its answer may be on the way, so the client subscribes to it again.
    mutating func unsubscribe(from list: UInt64) {
        guard names[list] == nil else { return }
        common.send(.unsubscribe(list: list))
        for name in subscriptions.keys.sorted() { subscriptions[name]?.askAgain(&common) }
    }

    /// Stops following a list. The journal gets its collected events.
    mutating func letGo(_ name: String) -> Subscription? {
        let subscription = subscriptions.removeValue(forKey: name)
        guard let subscription else { return nil }
        let replica = subscription.replica
        common.used[replica.logID] = max(common.used[replica.logID] ?? 0, replica.sequence)
        if subscription.isJournaled { common.journal?.letGo(name, replica) }
        return subscription
    }

    /// Applies an edit to a list's view, and submits it if that is possible now.
    public mutating func edit(_ name: String, _ delta: Delta, isExact: Bool = false) throws(Replica.EditError) {
        try subscriptions[name]?.edit(delta, isExact: isExact, &common)
    }

    /// Undoes the user's newest edit; returns false if there is none.
    public mutating func undo(_ name: String) throws(Replica.EditError) -> Bool {
        try subscriptions[name]?.undo(&common) ?? false
    }

    /// Redoes what was undone last; returns false if there is nothing to redo.
    public mutating func redo(_ name: String) throws(Replica.EditError) -> Bool {
        try subscriptions[name]?.redo(&common) ?? false
    }

    /// Shows others which item this person has selected or edits.
    public mutating func setPresence(_ name: String, _ focus: Focus?) {
        subscriptions[name]?.setFocus(focus, &common)
    }

    /// Sends a request. The answer is an effect with the returned number. Returns nil if there is no connection.
    public mutating func ask(_ message: (UInt64) -> UpMessage) -> UInt64? {
        guard isReady else { return nil }
        let request = common.newRequest()
        let message = message(request)
        requests[request] = Request(asked: message)
        common.send(message)
        return request
    }
}
