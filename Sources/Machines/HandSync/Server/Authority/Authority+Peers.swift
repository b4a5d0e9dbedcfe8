import HandCore
import HandWire

/// Commits of other servers that share the store.
extension Authority {
    /// The outcome of a submission that had a number and lost it, because others' commits came first.
    package struct Decision: Sendable {
        package let origin: Origin
        /// What the client is to be told; nil if one of the commits is the answer.
        package let outcome: Outcome?
    }

    /// The store did not take the batch, because others' commits came first. The batch stays pending until those
    /// commits are adopted.
    package mutating func conflicted() { inWriting = 0 }

    /// Adopts the commits that others have made after the durable revision. Pending commits are undone here, and their
    /// submissions are decided again after the others' commits, in the same order and as they were submitted: cards are
    /// dealt anew, and each client transforms its submission over the same commits, one by one.
    ///
    /// - Parameter client: the number of an author's client.
    /// - Returns: the outcomes of the submissions that have lost their numbers.
    /// - Throws: `StoreError.damaged` if the commits do not follow the durable revision, or lead to another digest.
    ///   After that, the authority must not be used.
    /// - Complexity: that of applying the commits, and of submitting the pending submissions again.
    package mutating func rebase(
        onto commits: [Commit], now: UInt64, client: (AuthorID) -> AuthorID
    ) throws(StoreError) -> [Decision] {
        let waiting = takeBackPending()
        let base = revision
        for commit in commits { try adopt(commit, of: client(commit.author)) }
        show(from: base)
        return waiting.compactMap { decideAnew($0.origin, now: now) }
    }

    private mutating func adopt(_ commit: Commit, of client: AuthorID) throws(StoreError) {
        let place = "revision \(commit.revision) of list \(list)"
        guard commit.revision == revision + 1 else {
            throw .damaged("\(place) follows revision \(revision), which another server sees otherwise")
        }
        guard commit.delta.reach <= present.hand.count else { throw .damaged("\(place) does not fit") }
        var inverse = commit.delta.inverted(on: present.hand)
        let (before, isKept): (Hand, Bool)
        do {
            let changed = try commit.delta.changedItems(on: present.hand)
            (before, isKept) = (present.hand, RecentInverses.mayKeep(changed))
            try present.hand.apply(commit.delta, changing: changed)
            present.bytes += commit.delta.growthInMemory(deleting: inverse.items, changing: changed)
        } catch { throw .damaged("\(place) does not fit: \(error)") }
        guard present.hand.digest == commit.digest, present.hand.count == commit.count else {
            throw .damaged("\(place) has another digest")
        }
        present.deck?.replay(commit.delta, on: before)
        ids.replace(inverse.items, by: commit.delta.items)
        window.append(commit, list: list)
        past.append(&inverse, of: commit.revision, isKept: isKept)
        sequences[client] = SequenceMark(of: commit)
        (present.revision, revision, digest) = (commit.revision, commit.revision, commit.digest)
        lastTime = commit.time
    }

    /// Decides a submission again. Returns nil if it has a number again.
    private mutating func decideAnew(_ origin: Origin, now: UInt64) -> Decision? {
        let (submission, author) = (origin.submission, origin.author)
        // Another server has decided the submission. That server's commit is the answer.
        if let last = sequences[author.client], submission.sequence <= last.sequence {
            return Decision(origin: origin, outcome: nil)
        }
        let outcome = submit(origin, Circumstances(now: now))
        if case .numbered = outcome { return nil }
        return Decision(origin: origin, outcome: outcome)
    }
}
