import HandCore
import HandWire

// What the client does when something happens to a subscription: it journals, sends, and tells the user.

extension ClientMachine.Subscription {
    typealias Common = ClientMachine.Common

    /// Progress is reported if at least this many commits were missed.
    private static let longWay = 1_000

    /// Subscribes to the list: by its log id if `isByLogID`. If `isAnew`, messages under an earlier answer no longer
    /// count.
    mutating func subscribe(isByLogID: Bool = false, isAnew: Bool = false, _ common: inout Common) {
        let request = common.newRequest()
        move(&common) { $0.ask(request, isByLogID: isByLogID, isAnew: isAnew) }
        // A diverged list asks for a snapshot: it names the list, and no history of it.
        let (logID, revision) =
            replica.hasDiverged ? (UInt64(LogID.list(replica.logID)), 0) : (replica.logID, replica.revision)
        common.send(
            .subscribe(
                UpMessage.Subscribe(
                    request: request, name: isByLogID ? "" : name, logID: logID, revision: revision)))
    }

    /// Subscribes again if the answer is pending: the client has just unsubscribed from a list that may be the same.
    mutating func askAgain(_ common: inout Common) {
        if case .asked(_, let isByLogID, _) = phase { subscribe(isByLogID: isByLogID, &common) }
    }

    /// Writes the client's and its person's author numbers to the journal. Without them, the person's own commits would
    /// look like somebody else's when the journal is read again. A submission in flight may have been sent under
    /// another name: its commit has the former number, and arrives before the list is live.
    mutating func noteAuthor(_ common: inout Common) {
        let isSettled = isLive || replica.inFlight == nil || replica.author == nil
        let (former, author) = (replica.author, isSettled ? common.author ?? replica.author : replica.author)
        var persons = common.persons
        if common.author == nil, let author { persons.insert(author) }
        guard author != former || persons != replica.persons else { return }
        replica.identify(as: author, persons: persons)
        journal(.authors(own: author, persons: persons), &common)
        if author != former { tell(Replica.Update(), &common) }
    }

    mutating func lost(_ common: inout Common) {
        move(&common) { $0.goIdle() }
    }

    /// Makes a transition, and tells the user if the list is no longer live.
    private mutating func move(_ common: inout Common, _ transition: (inout Self) -> Void) {
        let wasLive = isLive
        transition(&self)
        if wasLive, !isLive { tell(Replica.Update(), &common) }
    }

    mutating func renamed(to new: String, _ common: inout Common) {
        if isJournaled { common.journal?.move(name, to: new) }
        common.emit(.list(name, .renamed(to: new)))
        name = new
        // The answer that is pending may be for another list, which has the former name now.
        if case .asked(_, isByLogID: false, _) = phase { subscribe(&common) }
    }

    /// Handles the name of a list that was found by its log id.
    mutating func named(_ common: inout Common) {
        noteNamed()
        catchUp(&common)
    }

    /// Continues with the replica of the same list under its former name.
    mutating func continueFrom(_ former: Self, _ common: inout Common) {
        let delta = Delta(from: replica.view, to: former.replica.view)
        (replica, isLoaded) = (former.replica, former.isLoaded)
        if former.isJournaled { common.journal?.move(former.name, to: name) }
        tell(Replica.Update(delta: delta), &common)
    }

    // MARK: The user's edits

    mutating func edit(_ delta: Delta, isExact: Bool, _ common: inout Common) throws(Replica.EditError) {
        let made = Retraction(delta: try replica.edit(delta, isExact: isExact))
        finish(made, .edit(made.delta, isExact: isExact), &common)
    }

    /// Undoes or redoes an edit; returns false if there is nothing to undo or redo.
    mutating func take(_ step: UndoStep, _ common: inout Common) throws(Replica.EditError) -> Bool {
        guard let made = try replica.take(step) else { return false }
        finish(made, .step(step, made.delta), &common)
        return true
    }

    /// Makes a step that reverses an edit from before the replica's history.
    mutating func take(
        _ step: UndoStep, _ retraction: Retraction, _ common: inout Common
    ) throws(Replica.EditError) {
        try replica.take(step, retraction.delta)
        finish(retraction, .step(step, retraction.delta), &common)
    }

    private mutating func finish(_ made: Retraction, _ event: JournalEvent, _ common: inout Common) {
        journal(event, &common)
        tell(Replica.Update(made, in: replica.view), &common)
        submit(&common)
    }

    mutating func setFocus(_ focus: Focus?, _ common: inout Common) {
        self.focus = focus
        if let list { common.send(.presence(list: list, focus)) }
    }

    // MARK: Submissions

    /// Submits the next portion if none is in flight.
    private mutating func submit(_ common: inout Common) {
        guard isDue else { return }
        journal(.submitted, &common)
        sendSubmission(&common)
    }

    /// Sends the submission in flight. If there is none, the next portion becomes the submission in flight.
    private mutating func sendSubmission(_ common: inout Common) {
        guard let submission = takeSubmission() else { return }
        if !isJournaled { common.noteUsed(submission.sequence, in: replica.logID) }
        if let mine = replica.inFlight, mine.step != nil || mine.count > 1 {
            let known = JournalSubmission(
                log: replica.logID, sequence: mine.sequence, list: name, step: mine.step, count: mine.count)
            common.note(known, isUrgent: false)
        }
        common.send(.submit(submission))
    }

    /// Submits the edit in flight under a new sequence, as another program has used its sequence.
    private mutating func submitAnew(after sequence: SequenceNumber, _ common: inout Common) {
        common.noteShared()
        guard renumber(after: sequence) else { return }
        journal(.caughtUp(lastSequence: sequence), &common)
        sendSubmission(&common)
    }

    // MARK: The server's messages

    mutating func entered(_ subscribed: DownMessage.Subscribed, _ common: inout Common) {
        // With each answer to a request the server tells anew who is there.
        let former = isAsked ? forgetPeople() : []
        if !former.isEmpty { common.emit(.list(name, .presence(former))) }
        var update: Replica.Update?
        move(&common) { update = $0.begin(subscribed) }
        if let update {
            tell(update, &common)
            common.note(.diverged)
            return subscribe(&common)
        }
        if let focus { common.send(.presence(list: subscribed.list, focus)) }
        catchUp(&common)
    }

    /// Handles items of a snapshot. Returns false if it is damaged.
    mutating func take(_ items: Hand, _ common: inout Common) -> Bool {
        switch receive(items) {
        case .more(let count, let total): common.emit(.list(name, .progress(items: count, of: total)))
        case .damaged: return false
        case .complete(let update):
            if isJournaled { common.journal?.replace(name) }
            tell(update, &common)
            catchUp(&common)
        case nil: break
        }
        return true
    }

    mutating func take(_ commit: Commit, _ common: inout Common) {
        guard let update = receive(commit) else { return }
        journal(.commit(commit), &common)
        tell(update, &common)
        if update.isUsedTwice { submitAnew(after: commit.sequence, &common) }
        // The list's number stays the same; its snapshot arrives under a new request.
        if replica.hasDiverged {
            common.note(.diverged)
            return subscribe(&common)
        }
        submit(&common)
        catchUp(&common)
        tellProgress(&common)
    }

    mutating func rejected(sequence: SequenceNumber, _ reason: Rejection, _ common: inout Common) {
        guard replica.inFlight?.sequence == sequence else { return }
        let update = receiveRejection(of: sequence, reason)
        journal(.rejected(sequence: sequence, reason), &common)
        tell(update, &common)
        submit(&common)
    }

    /// Handles the answer that the base of a submission is too old. Returns false if the base is not older than `head`.
    mutating func stale(sequence: SequenceNumber, head: Int, _ common: inout Common) -> Bool {
        guard replica.inFlight?.sequence == sequence else { return true }
        var isOlder = false
        move(&common) { isOlder = $0.fallBehind(head: head) }
        if isOlder { catchUp(&common) }
        return isOlder
    }

    mutating func acknowledged(sequence: SequenceNumber, revision: Int, _ common: inout Common) {
        guard receiveAcknowledgement(of: sequence, revision: revision) else { return }
        common.note(.asked)
        // The server no longer knows the revision: subscribing again returns the last sequence.
        if revision == 0 { return subscribe(&common) }
        // The commit of that revision has already arrived but was not recognized as this client's own: another program
        // made it.
        submitAnew(after: sequence, &common)
    }

    /// Submits once the client has every commit that the server had when the client subscribed.
    private mutating func catchUp(_ common: inout Common) {
        guard let result = goLive(used: common.used) else { return }
        if let last = result.lastSequence { journal(.caughtUp(lastSequence: last), &common) }
        noteAuthor(&common)
        tell(Replica.Update(), &common)
        if result.sendsAgain { sendSubmission(&common) } else { submit(&common) }
    }

    // MARK: The journal and the user

    /// Notes what can be undone, and what others may still override. With pending edits, these notes would be about a
    /// list that the server does not have.
    func noteMemory(_ common: inout Common) {
        guard !replica.hasPending, replica.logID != 0 else { return }
        if !replica.history.isEmpty {
            common.journal?.add(
                .undo(UndoBase(replica), log: replica.logID, person: common.hello.person),
                isUrgent: false)
        }
        if !replica.ownWork.isEmpty {
            common.journal?.add(.work(KeptWork(replica), list: name, person: common.hello.person), isUrgent: false)
        }
    }

    private func journal(_ event: JournalEvent, _ common: inout Common) {
        if isJournaled { common.journal?.add(event, to: name) }
    }

    private mutating func tell(_ update: Replica.Update, _ common: inout Common) {
        if update.isOwnCommit, replica.author == common.author { common.noteCommitted() }
        for case let loss? in update.notices.map(Loss.init) { common.note(loss, of: name, replica.logID) }
        common.emit(.list(name, .changed(state, update)))
        // Other programs of this machine see in the journal what still waits.
        if hadPending, !replica.hasPending { common.journal?.flush() }
        hadPending = replica.hasPending
    }

    /// Reports progress through the missed commits, at each percent, if they are many.
    private func tellProgress(_ common: inout Common) {
        guard let (done, total) = progress, total >= Self.longWay, done % (total / 100) == 0 else { return }
        common.emit(.list(name, .progress(items: done, of: total)))
    }
}
