import HandCore
import HandWire

extension Replica {
    /// The server did not take what was in flight: it is undone in the view; all else that is pending stays.
    ///
    /// Answers to anything but the submission in flight are old and change nothing.
    public mutating func rejected(sequence: UInt64, _ reason: Rejection) -> Update {
        var update = Update()
        guard let mine = inFlight, mine.sequence == sequence, let edited = try? confirmed.applying(mine.delta) else {
            return update
        }
        let inverse = mine.delta.inverted(on: confirmed)
        inFlight = nil
        // The sequence was not used up.
        self.sequence = sequence - 1
        let (me, now) = (author ?? 0, revision)
        let passed = rebase(over: inverse, on: edited) { item, loss in
            update.notices.append(.superseded(item, loss, author: me, revision: now))
        }
        update.notices.append(.rejected(reason, mine.delta))
        // The view is the list on which the inverse was carried through the buffer, so it fits.
        try? follow(passed, &update)
        return update
    }

    /// What became of a submission in flight when the connection was lost, once all commits up to the present are here:
    /// if the server has its sequence and the commit did not come, another program used that sequence. Then it is
    /// submitted under a new one.
    public mutating func caughtUp(lastSequence: UInt64) {
        if let mine = inFlight {
            inFlight = InFlight(
                sequence: lastSequence + 1, delta: mine.delta, exactBase: mine.exactBase, count: mine.count,
                seen: mine.seen)
        }
        sequence = inFlight?.sequence ?? lastSequence
    }

    /// Goes on from a snapshot. Pending edits are kept: they are transformed over the difference, found by item ids.
    ///
    /// - Parameter lastSequence: this client's last sequence in the snapshot. What was in flight with it is contained.
    /// - Returns: the change of the view, as small as it can be told from the ids.
    public mutating func reset(
        to snapshot: Hand, revision: Int, logID: UInt64, lastSequence: UInt64
    ) -> Update {
        var update = Update()
        var base = confirmed
        let isSameHistory = logID == self.logID
        if let mine = inFlight, isSameHistory, mine.sequence <= lastSequence {
            if let edited = try? confirmed.applying(mine.delta) { base = edited }
            inFlight = nil
            update.notices.append(.acknowledged(sequence: mine.sequence, revision: revision))
        }
        let difference = Delta(from: base, to: snapshot)
        confirmed = snapshot
        view.rules = snapshot.rules
        self.revision = revision
        self.logID = logID
        hasDiverged = false
        ownWork = [:]
        let passed = rebase(over: difference, on: base) { item, loss in
            update.notices.append(.superseded(item, loss, author: 0, revision: revision))
        }
        caughtUp(lastSequence: lastSequence)
        try? follow(passed, &update)
        return update
    }
}
