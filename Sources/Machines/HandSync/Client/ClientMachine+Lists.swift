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
            replica: replica ?? Replica(), isJournaled: isJournaled && journal != nil,
            isLoaded: replica.map { $0.logID != 0 } ?? false)
        subscription.replica.author = replica?.author ?? author
        subscriptions[name] = subscription
        // Events need a stored replica to be applied to.
        if subscription.isJournaled { replica == nil ? journal?.replace(name) : journal?.found(events, of: name) }
        noteAuthor(of: name)
        if isReady { subscribe(to: name) }
    }

    /// Writes the client's author number to the journal. Without it, the client's own commits would look like somebody
    /// else's when the journal is read again.
    mutating func noteAuthor(of name: String) {
        guard let author, subscriptions[name]?.replica.author != author else { return }
        subscriptions[name]?.replica.author = author
        journal(name, .author(author))
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
        send(.unsubscribe(list: list))
        for (name, subscription) in subscriptions.sorted(by: { $0.key < $1.key }) {
            guard case .asked(_, let isSought, _) = subscription.phase else { continue }
            subscribe(to: name, isSought: isSought)
        }
    }

    /// Stops following a list. The journal gets its collected events.
    mutating func letGo(_ name: String) -> Subscription? {
        let subscription = subscriptions.removeValue(forKey: name)
        guard let subscription else { return nil }
        let replica = subscription.replica
        used[replica.logID] = max(used[replica.logID] ?? 0, replica.sequence)
        if subscription.isJournaled { journal?.letGo(name, replica) }
        return subscription
    }

    /// Subscribes to a list: by its log id if `isSought`. If `isAnew`, messages under an earlier answer no longer
    /// count.
    mutating func subscribe(to name: String, isSought: Bool = false, isAnew: Bool = false) {
        guard let replica = subscriptions[name]?.replica else { return }
        let request = newRequest()
        subscriptions[name]?.ask(request, isSought: isSought, isAnew: isAnew)
        let logID = replica.hasDiverged ? 0 : replica.logID
        let name = isSought ? "" : name
        send(
            .subscribe(
                UpMessage.Subscribe(
                    request: request, name: name, logID: logID, revision: logID == 0 ? 0 : replica.revision)
            ))
    }

    mutating func newRequest() -> UInt64 {
        defer { nextRequest += 1 }
        return nextRequest
    }

    /// Applies an edit to a list's view, and submits it if that is possible now.
    public mutating func edit(
        _ name: String, _ delta: Delta, isExact: Bool = false
    ) throws(Replica.EditError) {
        guard subscriptions[name] != nil else { return }
        let made = try subscriptions[name]?.replica.edit(delta, isExact: isExact)
        finishEdit(name, made.map { Retraction(delta: $0) }, isExact: isExact)
    }

    /// Undoes the user's newest edit; returns false if there is none.
    public mutating func undo(_ name: String) throws(Replica.EditError) -> Bool {
        let made = try subscriptions[name]?.replica.undo()
        finishEdit(name, made, isExact: false)
        return made != nil
    }

    /// Redoes what was undone last; returns false if there is nothing to redo.
    public mutating func redo(_ name: String) throws(Replica.EditError) -> Bool {
        let made = try subscriptions[name]?.replica.redo()
        finishEdit(name, made, isExact: false)
        return made != nil
    }

    private mutating func finishEdit(
        _ name: String, _ made: Retraction?, isExact: Bool
    ) {
        guard let made, let view = subscriptions[name]?.replica.view else { return }
        journal(name, .edit(made.delta, isExact: isExact))
        tell(name, Replica.Update(made, in: view))
        submit(name)
    }

    /// Submits the next portion if none is in flight.
    mutating func submit(_ name: String) {
        guard subscriptions[name]?.isDue == true else { return }
        journal(name, .submitted)
        sendSubmission(of: name)
    }

    /// Sends the submission in flight; if there is none, the next portion becomes it.
    mutating func sendSubmission(of name: String) {
        guard let submission = subscriptions[name]?.takeSubmission(), let subscription = subscriptions[name] else {
            return
        }
        if !subscription.isJournaled { noteUsed(submission.sequence, in: subscription.replica.logID) }
        send(.submit(submission))
    }

    /// Notes that a sequence number is used, so that later submissions to that history, in this run or another,
    /// continue after it.
    mutating func noteUsed(_ sequence: UInt64, in log: UInt64) {
        guard used[log] ?? 0 < sequence else { return }
        used[log] = sequence
        journal?.add(.used(log: log, sequence: sequence), isUrgent: true)
    }

    mutating func journal(_ name: String, _ event: JournalEvent) {
        if subscriptions[name]?.isJournaled == true { journal?.add(event, to: name) }
    }

    mutating func tell(_ name: String, _ update: Replica.Update) {
        if update.notices.contains(where: { if case .acknowledged = $0 { true } else { false } }) { noteCommitted() }
        emit(.update(list: name, update))
    }

    /// Shows others which item this person has selected or edits.
    public mutating func setPresence(_ name: String, _ focus: Focus?) {
        subscriptions[name]?.focus = focus
        guard isReady, let list = subscriptions[name]?.list else { return }
        send(.presence(list: list, focus))
    }

    /// Sends a request. The answer is an effect with the returned number. Returns nil if there is no connection.
    public mutating func ask(_ message: (UInt64) -> UpMessage) -> UInt64? {
        guard isReady else { return nil }
        let request = newRequest()
        requests[request] = Request()
        send(message(request))
        return request
    }
}
