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
            name, replica: replica ?? Replica(author: common.author, persons: common.persons),
            isJournaled: isJournaled && common.journal != nil)
        if subscription.isJournaled {
            // Events need a stored replica to be applied to.
            if replica == nil { common.journal?.replace(name) } else { common.journal?.found(events, of: name) }
        }
        subscription.noteAuthor(&common)
        if isReady { subscription.subscribe(&common) }
        subscriptions[name] = subscription
    }

    public mutating func close(_ name: String) {
        guard let subscription = unfollow(name), isReady else { return }
        if let list = subscription.list {
            names[list] = nil
            unsubscribe(from: list)
        } else if let request = subscription.request {
            abandoned[request] = name
        }
    }

    /// Unsubscribes from a list, unless the client follows it under another name. A pending subscription may be for the
    /// same list, and its answer may be on the way, so the client repeats each pending subscription.
    mutating func unsubscribe(from list: ListNumber) {
        guard names[list] == nil else { return }
        common.send(.unsubscribe(list: list))
        for name in subscriptions.keys.sorted() { subscriptions[name]?.askAgain(&common) }
        for (number, request) in requests.sorted(by: { $0.key < $1.key }) where request.isSent {
            if let ephemeral = request.ephemeral, ephemeral.list == nil { send(number) }
        }
    }

    /// Writes to the journal what this person's other clients should know of the followed lists. Call it at the end.
    public mutating func noteMemory() {
        for subscription in subscriptions.values where subscription.isJournaled { subscription.noteMemory(&common) }
    }

    /// Forgets a lost edit that its person has got back.
    public mutating func forget(_ loss: Loss, of name: String) {
        common.journal?.add(.found(loss, list: name), isUrgent: false)
    }

    /// Notes that the person has been told of all lost edits of a list.
    public mutating func noteTold(of name: String) {
        common.journal?.add(.told(list: name, person: common.hello.person), isUrgent: false)
    }

    /// Whether a commit's author is this person, with this client or another one.
    public func isPersons(_ author: AuthorID) -> Bool { common.persons.contains(author) }

    /// Stops following a list. The journal gets the list's collected events.
    mutating func unfollow(_ name: String) -> Subscription? {
        let subscription = subscriptions.removeValue(forKey: name)
        guard let subscription else { return nil }
        let replica = subscription.replica
        common.used[replica.logID] = max(common.used[replica.logID] ?? 0, replica.sequence)
        if subscription.isJournaled {
            subscription.noteMemory(&common)
            common.journal?.close(name, replica)
        }
        return subscription
    }

    /// Applies an edit to a list's view, and submits it if that is possible now.
    public mutating func edit(_ name: String, _ delta: Delta, isExact: Bool = false) throws(Replica.EditError) {
        try subscriptions[name]?.edit(delta, isExact: isExact, &common)
    }

    /// Undoes the user's newest edit, or redoes the edit that was undone last; returns false if there is no such edit.
    public mutating func take(_ step: UndoStep, _ name: String) throws(Replica.EditError) -> Bool {
        try subscriptions[name]?.take(step, &common) ?? false
    }

    /// Makes a step that reverses an edit from before the history of the list's replica. The retraction is made on the
    /// list at `revision`. Returns false if the list is not at that revision any more, or has pending edits.
    package mutating func take(
        _ step: UndoStep, _ retraction: Retraction, on name: String, at revision: Int
    ) throws(Replica.EditError) -> Bool {
        guard let replica = subscriptions[name]?.replica, replica.revision == revision, !replica.hasPending else {
            return false
        }
        try subscriptions[name]?.take(step, retraction, &common)
        return true
    }

    /// Shows others which item this person has selected or edits.
    public mutating func setPresence(_ name: String, _ focus: Focus?) {
        subscriptions[name]?.setFocus(focus, &common)
    }

    /// Sends a request. The answer is an effect with the returned number.
    ///
    /// - Parameter waits: whether the request waits for a connection. It is sent right behind the hello if it changes
    ///   no lists, and again on the next connection if this one is lost.
    /// - Returns: nil if there is no connection, or, if the request waits, if there will be none soon.
    public mutating func ask(waits: Bool = false, _ message: (RequestNumber) -> UpMessage) -> RequestNumber? {
        begin(waits: waits) { Request(asked: message($0)) }
    }

    mutating func begin(waits: Bool, _ make: (RequestNumber) -> Request) -> RequestNumber? {
        let isConnecting = state.isUp || hasHeard && state.isBetweenConnections
        guard isReady || waits && isConnecting else { return nil }
        let number = common.newRequest()
        requests[number] = make(number)
        requests[number]?.waits = waits
        send(number)
        return number
    }

    /// Sends a request, if there is a connection. What changes lists is sent only after the welcome: if the hello is
    /// refused, it is certain that nothing was changed.
    mutating func send(_ number: RequestNumber) {
        guard let request = requests[number], isReady || state == .greeting && !request.changesLists,
            let message = request.asked ?? request.ephemeral?.subscribe(number)
        else { return }
        if let problem = message.problem { return answer(number, .error(.malformedMessage, problem)) }
        requests[number]?.isSent = true
        common.send(message)
    }

    /// Sends the requests that have waited for the connection.
    mutating func sendWaiting() {
        for number in requests.keys.sorted() where requests[number]?.isSent == false { send(number) }
    }
}

extension UpMessage {
    /// Whether the message changes the server's lists, other than by an edit.
    var changesLists: Bool {
        switch self {
        case .create, .delete, .rename, .undelete: true
        default: false
        }
    }
}
