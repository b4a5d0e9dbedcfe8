import HandCore
import HandWire

extension Replica {
    /// Applies the next commit of the list, by any author. If the list would not be the server's, nothing changes.
    package mutating func receive(_ commit: Commit) throws(CommitError) -> Update {
        guard commit.revision == revision + 1 else {
            throw .wrongRevision(expected: revision + 1, found: commit.revision)
        }
        let outcome = commit.outcome(
            ofSequence: inFlight?.sequence, by: author, inFlight?.delta, under: confirmed.rules)
        if outcome == .usedTwice, inFlight?.hasPassedSnapshot == true {
            // Only a snapshot shows which part of the submission in flight is in the list.
            hasDiverged = true
            return Update(.commit(commit))
        }
        let isPersons = persons.contains(commit.author)
        var update = Update()
        do {
            let next = hasPending ? try confirmed.applying(commit.delta) : nil
            if let next, next.digest != commit.digest || next.count != commit.count { return diverged(at: commit) }
            switch outcome {
            case .refused(let reason): update = rejected(sequence: commit.sequence, reason)
            case .committed: update = try acknowledge(commit, leadingTo: next ?? confirmed)
            case .usedTwice, nil:
                let own = isPersons ? commit.author : author
                update.notices = ownWork.overridden(by: commit, author: own, on: confirmed)
                if isPersons { ownWork.record(commit, on: confirmed) }
                if let next {
                    try advance(by: commit, to: next, isPersons, &update)
                } else if try !advanceInStep(by: commit, isPersons, &update) {
                    return diverged(at: commit)
                }
            }
        } catch {
            throw .misfit(error)
        }
        (update.cause, update.isPersons) = (.commit(commit), isPersons)
        revision = commit.revision
        if !hasPending { history.settle() }
        if outcome == .usedTwice { update.notices.append(.usedTwice(revision: revision)) }
        return update
    }

    private mutating func diverged(at commit: Commit) -> Update {
        hasDiverged = true
        return Update(.commit(commit), notices: [.diverged(revision: commit.revision)])
    }

    /// Applies a commit, or notes that it does not fit this replica: then the replica is not what the server assumes,
    /// and only a snapshot helps, as after a wrong digest.
    package mutating func receiveAnything(_ commit: Commit) -> Update {
        do { return try receive(commit) } catch { return diverged(at: commit) }
    }

    /// Compares the replica with the server's list at a revision. A history that lost its end may have reached the same
    /// revision again with other commits. If the server's history is longer or shorter, the next commits reveal the
    /// difference.
    mutating func compare(with digest: UInt64, at head: Int) -> Update? {
        guard head == revision, digest != confirmed.digest else { return nil }
        hasDiverged = true
        return Update(notices: [.diverged(revision: revision)])
    }

    /// Applies somebody else's commit: transforms the pending edits over the commit, and the commit over the pending
    /// edits.
    private mutating func advance(
        by commit: Commit, to next: Hand, _ isPersons: Bool, _ update: inout Update
    ) throws(Delta.Misfit) {
        let passed = rebase(over: commit.delta, on: confirmed, by: commit.author, commit.revision, &update.notices)
        if isPersons { history.forgetOnceSettled() }
        confirmed = next
        try follow(passed, isPersons, update: &update)
    }

    /// Applies a commit while nothing is pending, so the view equals the confirmed list. The view releases its copy
    /// first, so that the list is changed in place. Returns whether the list is the server's then.
    private mutating func advanceInStep(
        by commit: Commit, _ isPersons: Bool, _ update: inout Update
    ) throws(Delta.Misfit) -> Bool {
        if isPersons { try confirmed.check(commit.delta) }
        let inverse = isPersons ? commit.delta.inverted(on: confirmed) : nil
        view = Hand(rules: confirmed.rules)
        defer { view = confirmed }
        guard try confirmed.apply(commit.delta, leadingTo: commit.digest, count: commit.count) else { return false }
        history.note(commit.delta, inverse)
        update.delta = commit.delta
        return true
    }

    /// Applies to the view a change that was not made here.
    mutating func follow(_ delta: Delta, _ isPersons: Bool = false, update: inout Update) throws(Delta.Misfit) {
        let inverse = isPersons ? delta.inverted(on: view) : nil
        try view.apply(delta)
        history.note(delta, inverse)
        update.delta = update.delta.isIdentity ? delta : update.delta.composed(with: delta)
    }

    /// Transforms all pending edits over `delta`, made on `list`, step by step, and returns what remains of `delta` for
    /// the view. Adds a notice for each pending intention that `delta` overrode.
    mutating func rebase(
        over delta: Delta, on list: Hand, by author: AuthorID, _ revision: Int, _ notices: inout [Notice]
    ) -> Delta {
        var rebase = Rebase(delta: delta, list: list, author: author, revision: revision)
        if var mine = inFlight {
            // The replica releases the submission first, so that it is changed in place.
            inFlight = nil
            rebase.pass(&mine.carried, isLast: buffer.isEmpty)
            inFlight = mine
        }
        rebaseBuffer(from: 0, &rebase)
        notices += rebase.notices
        return rebase.delta
    }

    /// Transforms the portions of the buffer from `first` on over a delta.
    mutating func rebaseBuffer(from first: Int, _ rebase: inout Rebase) {
        for index in buffer.indices[first...] {
            rebase.pass(&buffer[index].carried, isLast: index + 1 == buffer.count)
        }
        if rebase.isOverridden { history.forgetOnceSettled() }
    }

    /// A delta that is being transformed over the pending edits.
    struct Rebase {
        /// What remains of the delta.
        var delta: Delta
        /// The list that the delta and the first pending edit were made on.
        let list: Hand
        let author: AuthorID
        let revision: Int
        /// Notices of what the delta overrode.
        private(set) var notices: [Notice] = []
        /// Whether a pending edit overrides part of the delta.
        private(set) var isOverridden = false
        /// The pending edits that the delta has passed, as they were before.
        private var passed: [CarriedDelta] = []

        init(delta: Delta, list: Hand, author: AuthorID, revision: Int) {
            (self.delta, self.list, self.author, self.revision) = (delta, list, author, revision)
        }

        /// The list that the delta and the next pending edit were made on. Rarely needed: it requires applying all
        /// passed edits.
        private var present: Hand {
            passed.reduce(list) { list, mine in (try? list.applying(mine.delta)) ?? list }
        }

        /// Passes the next pending edit.
        mutating func pass(_ mine: inout CarriedDelta, isLast: Bool) {
            let before = mine
            let result = mine.pass(delta)
            let losses = result.superseded.filter { $0.loser == .later }
            if losses.count < result.superseded.count { isOverridden = true }
            if !losses.isEmpty {
                notices += present.overridden(losses, of: before.delta, over: delta, author, revision)
            }
            delta = result.rest
            if !isLast { passed.append(before) }
        }
    }

    /// Applies the commit of the edit in flight: the server's delta replaces the edit. The two differ only where the
    /// server changes an edit, such as dealing a card; the difference then passes through the buffer into the view.
    private mutating func acknowledge(_ commit: Commit, leadingTo next: Hand) throws(Delta.Misfit) -> Update {
        var update = Update()
        guard let mine = inFlight else { return update }
        let correction = try mine.delta.correction(to: commit.delta, on: confirmed)
        ownWork.record(commit, on: confirmed)
        inFlight = nil
        if correction.isIdentity {
            confirmed = next
            if !hasPending { view = next }
        } else {
            let expected = try confirmed.applying(mine.delta)
            confirmed = next
            var nobodysLosses: [Notice] = []
            let passed = rebase(over: correction, on: expected, by: 0, 0, &nobodysLosses)
            try follow(passed, update: &update)
        }
        update.notices.append(.acknowledged(sequence: commit.sequence, revision: commit.revision))
        return update
    }
}

extension Hand {
    /// Returns notices of what `others`, a commit of that author, overrode of the user's edit `mine`. Both deltas were
    /// made on this list, in which at least the items are known that `mine` touches.
    func overridden(
        _ losses: [Superseded], of mine: Delta, over others: Delta, _ author: AuthorID, _ revision: Int,
        knowing isKnown: (Int) -> Bool = { _ in true }
    ) -> [Replica.Notice] {
        guard let edited = try? applying(mine) else { return [] }
        let deleted = Set(others.deletedItems(on: self).map(\.id))
        let left = Dictionary(mine.intentions(on: self).map { ($0.item.id, $0) }) { first, _ in first }
        return losses.map { loss in
            let item = self[loss.index]
            let isGone = deleted.contains(item.id)
            var behind: ItemID?
            if isGone || loss.loss == .move, let index = mine.map(index: loss.index), index > 0,
                mine.origin(of: index - 1).map(isKnown) ?? true
            {
                behind = edited[index - 1].id
            }
            let change = left[item.id]?.change ?? Change()
            let asLeft = (try? item.applying(change)) ?? item
            let isWords = if case .words = loss.loss { true } else { false }
            return .superseded(
                isWords ? item : asLeft, loss.loss,
                by: Loss.Override(author: author, revision: revision, deletesItem: isGone, behind: behind))
        }
    }
}
