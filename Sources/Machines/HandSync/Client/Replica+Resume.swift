import HandCore
import HandWire

extension Replica {
    /// Handles a rejection of the submission in flight: the edit is undone in the view. If several edits are joined in
    /// it, only the part that the rejection is about is undone; what was one edit is taken or refused as a whole. All
    /// other pending edits stay.
    ///
    /// Answers to other submissions are outdated and change nothing.
    package mutating func rejected(sequence: SequenceNumber, _ reason: Rejection) -> Update {
        var update = Update()
        guard let mine = inFlight, mine.sequence == sequence else { return update }
        inFlight = nil
        // The part that the refusal is not about is submitted again.
        let rest = mine.count > 1 ? mine.delta.remainder(after: reason, on: confirmed) : .identity
        if !rest.isIdentity, rest != mine.delta, let edited = try? confirmed.applying(rest),
            let all = try? confirmed.applying(mine.delta)
        {
            takeBack(Delta(from: edited, to: all), of: edited, before: 0, reason, &update)
            buffer.insert(Portion(rest, size: rest.wireSize, count: mine.count, seen: mine.seen), at: 0)
        } else {
            takeBack(mine.delta, of: confirmed, before: 0, reason, &update)
        }
        if !hasPending { history.settle() }
        return update
    }

    /// Undoes in the view an edit that was made on `list` and is no longer pending, and transforms the buffer from
    /// `next` on over the inverse of that edit.
    private mutating func takeBack(
        _ delta: Delta, of list: Hand, before next: Int, _ reason: Rejection, _ update: inout Update
    ) {
        update.notices.append(.rejected(reason, delta, on: list))
        // If this replica has diverged, the edit may not fit; the snapshot that is on its way replaces the view.
        guard let edited = try? list.applying(delta) else { return }
        var rebase = Rebase(delta: delta.inverted(on: list), list: edited, author: author ?? 0, revision: revision)
        rebaseBuffer(from: next, &rebase)
        update.notices += rebase.notices
        // The inverse was transformed over the buffer to fit the view.
        try? follow(rebase.delta, update: &update)
    }

    /// Undoes exact edits made on a revision that no longer exists, because its history or the end of its history was
    /// lost: the server could only refuse them.
    ///
    /// - Parameter base: the list that the pending edits were made on.
    private mutating func takeBackExactEdits(on base: Hand, now: Int, _ update: inout Update) {
        if let mine = inFlight, mine.exactBase != nil {
            let answer = rejected(sequence: mine.sequence, .revisionMoved(now: now))
            update.notices += answer.notices
            update.delta = answer.delta
        }
        while let index = buffer.firstIndex(where: { $0.exactBase != nil }) {
            var list = base
            for delta in (inFlight.map { [$0.delta] } ?? []) + buffer[..<index].map(\.delta) {
                if let next = try? list.applying(delta) { list = next }
            }
            let mine = buffer.remove(at: index).delta
            takeBack(mine, of: list, before: index, .revisionMoved(now: now), &update)
        }
    }

    /// Returns notices of the parts of `mine` that a snapshot does not contain. The user's edit `mine` led from
    /// `confirmed` to `edited`.
    private func missing(of mine: Delta, on edited: Hand, in snapshot: Hand, _ revision: Int) -> [Notice] {
        var losses: [(Item, Superseded.Loss)] = []
        let others = Delta(from: edited, to: snapshot)
        let gone = Set(others.deletedItems(on: edited).map(\.id))
        let back = Set(others.items.map(\.id))
        let touched = Dictionary(others.intentions(on: edited).map { ($0.item.id, $0) }) { first, _ in first }
        for item in mine.insertedItems {
            if gone.contains(item.id) { losses.append((item, .edit(.all))) }
            // Another program's item with the same id may have less text.
            guard let other = touched[item.id] else { continue }
            let inverse = item.content.rewording("", url: item.content.address == nil ? nil : "")
            losses += inverse.wordsLost(to: other.change).map { (item, $0) }
        }
        for item in mine.deletedItems(on: confirmed) where back.contains(item.id) { losses.append((item, .edit(.all))) }
        for (item, isMoved, change) in mine.intentions(on: confirmed) {
            let other = touched[item.id]
            let isGone = gone.contains(item.id)
            if isMoved && (isGone || other?.isMoved == true) { losses.append((item, .move)) }
            if isGone, !change.isEmpty { losses.append((item, .edit(change.fields))) }
            guard !isGone, let other else { continue }
            let set = change.fields.intersection(other.change.fields).subtracting([.text, .url])
            if !set.isEmpty { losses.append((item, .edit(set))) }
            let after = (try? other.item.applying(other.change)) ?? item
            let inverse = change.invertedWords
            losses += inverse.wordsLost(to: other.change).map { (after, $0) }
        }
        return losses.map { item, loss in
            let isGone = gone.contains(item.id) || back.contains(item.id)
            return .superseded(item, loss, by: Loss.Override(author: 0, revision: revision, deletesItem: isGone))
        }
    }

    /// Determines the outcome of a submission in flight after a lost connection, once all commits have arrived. If the
    /// server has the submission's sequence but its commit did not arrive, another program used that sequence, and the
    /// submission is sent under a new one. If the server does not have the sequence, the submission keeps it: the
    /// submission may still arrive over the earlier connection, and must not be applied twice.
    ///
    /// - Returns: whether anything changed.
    @discardableResult
    package mutating func caughtUp(lastSequence: SequenceNumber) -> Bool {
        let former = sequence
        sequence = max(sequence, lastSequence)
        guard let mine = inFlight, mine.sequence <= lastSequence else { return sequence != former }
        sequence = sequence.next
        inFlight?.sequence = sequence
        inFlight?.hasPassedSnapshot = false
        return true
    }

    /// Returns the view with the edits that are pending in other replicas of the same list, too.
    package func view(with others: some Sequence<Replica>) -> Hand {
        others.filter { $0.hasPending && LogID.isSameList($0.logID, logID) }.reduce(view) { view, other in
            var other = other
            // Resets the other replica as if to a snapshot of this view. The revision is later than any other, so that
            // exact edits are kept.
            _ = other.reset(to: view, revision: max(revision, other.revision) + 1, logID: other.logID, lastSequence: 0)
            return other.view
        }
    }

    /// Continues from a snapshot. Pending edits are kept: they are transformed over the difference, found by item ids.
    ///
    /// - Parameters:
    ///   - lastSequence: this client's last sequence in the snapshot. A submission in flight with that sequence is in
    ///     the snapshot, unless another program has used the sequence; any part of the submission that is not in the
    ///     snapshot counts as overridden. An earlier submission is in the snapshot if one of its items is; a submission
    ///     without items is submitted again, as it is worse to lose an edit than to apply it twice.
    ///   - isLastRefused: whether the submission with that sequence was refused.
    /// - Returns: the change of the view, as small as the ids allow.
    package mutating func reset(
        to snapshot: Hand, revision: Int, logID: UInt64, lastSequence: SequenceNumber, isLastRefused: Bool = false
    ) -> Update {
        var update = Update()
        var base = confirmed
        // After a restore, the history is another one, but the list and the sequences in it are the same.
        let isSameList = self.logID != 0 && LogID.isSameList(logID, self.logID)
        // Edits made on another list of that name cannot be undone on this one.
        if self.logID != 0, !isSameList { history = UndoHistory() }
        if isSameList, isLastRefused, inFlight?.sequence == lastSequence {
            update = rejected(sequence: lastSequence, .reasonForgotten)
        }
        if let mine = inFlight, isSameList, mine.isContained(in: snapshot, lastSequence: lastSequence) {
            if let edited = try? confirmed.applying(mine.delta) { base = edited }
            inFlight = nil
            update.notices.append(.acknowledged(sequence: mine.sequence, revision: revision))
            update.notices += missing(of: mine.delta, on: base, in: snapshot, revision)
        }
        inFlight?.hasPassedSnapshot = true
        // A history may have lost its end, and have reached the same revision again.
        let isAsFar = revision == self.revision && snapshot.digest != confirmed.digest
        if logID != self.logID || revision < self.revision || isAsFar {
            takeBackExactEdits(on: base, now: revision, &update)
            // The author has seen nothing of another history.
            inFlight?.seen = 0
            for index in buffer.indices { buffer[index].seen = 0 }
        }
        // The part of a log id that names a history is 0 if only a snapshot is wanted.
        if isSameList, logID != self.logID ? LogID.hasHistory(self.logID) : revision < self.revision {
            update.notices.append(.restored(gone: confirmed.count { snapshot.index(of: $0.id) == nil }))
        }
        self.revision = revision
        self.logID = logID
        hasDiverged = false
        ownWork = OwnWork()
        confirmed = snapshot
        if !hasPending, history.isEmpty, update.change == .delta(.identity) {
            // Nothing depends on the new position of each item, so nothing is compared.
            update.change = .replaced(view, by: snapshot)
            view = snapshot
            caughtUp(lastSequence: lastSequence)
            return update
        }
        let difference = Delta(from: base, to: snapshot)
        view.rules = snapshot.rules
        let passed = rebase(over: difference, on: base, by: 0, revision, &update.notices)
        caughtUp(lastSequence: lastSequence)
        try? follow(passed, update: &update)
        if !hasPending { history.settle() }
        return update
    }
}
