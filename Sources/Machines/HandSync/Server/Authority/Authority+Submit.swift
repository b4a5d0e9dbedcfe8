import HandCore
import HandWire

extension Authority {
    /// The outcome of a submission.
    public enum Outcome: Equatable, Sendable {
        /// The submission has a number and waits to be written. Its commit, once visible, acknowledges the submission,
        /// or says why it is refused.
        case numbered(refusal: Rejection?)
        /// The submission has a number already and is being written.
        case waiting
        /// The submission was committed before, at `revision` (0 if that is too long ago to tell).
        case acknowledged(revision: Int)
        /// The submission's base lies before the window, or so far back that transforming would take too long.
        case stale(head: Int)
        case rejected(Rejection)
        /// The client violates the protocol.
        case failed(ErrorCode)
        /// The submission was not begun, because it would be too much work here and now.
        case tooMuchWork
    }

    /// Takes an edit: transforms it over the commits since its base one by one, checks it, numbers it.
    ///
    /// O(commits since the base) with a few nanoseconds each where all are single edits, and O(log n) for the list.
    /// Everything that does not depend on those commits is checked first, and the number of commits looked at is
    /// bounded.
    ///
    /// A refusal becomes a commit if the submission is the first of its connection: an earlier connection of the
    /// client, perhaps to another server, may have carried the same submission and may yet deliver it, so that the
    /// history has to decide. Any later submission was sent on this connection only.
    ///
    /// - Parameter isFirst: whether nothing that came over the author's connection has been decided yet.
    public mutating func submit(
        _ submission: Submission, author: Author, isFirst: Bool = false, now: UInt64
    ) -> Outcome {
        let nobody = ConnectionID(rawValue: 0)
        return submit(Origin(submission, by: author, over: nobody, isFirst: isFirst), Circumstances(now: now))
    }

    /// What a submission meets.
    package struct Circumstances: Sendable {
        /// Milliseconds since 1970.
        let now: UInt64
        /// Whether the store has no room for another commit.
        let isFull: Bool
        /// A submission whose estimated work is more than this is not begun.
        let maxWork: Int

        package init(now: UInt64, isFull: Bool = false, maxWork: Int = .max) {
            (self.now, self.isFull, self.maxWork) = (now, isFull, maxWork)
        }
    }

    package mutating func submit(_ origin: Origin, _ circumstances: Circumstances) -> Outcome {
        submit(origin, circumstances, hasInverse: true)
    }

    // Inlined, as a call would move the submission.
    @inline(__always)
    private mutating func submit(_ origin: Origin, _ circumstances: Circumstances, hasInverse: Bool) -> Outcome {
        let submission = origin.submission
        if circumstances.maxWork < .max, estimate(submission) > circumstances.maxWork { return .tooMuchWork }
        work = submission.delta.carryingCost
        if let answer = answerFromBefore(submission, author: origin.author) { return answer }
        if submission.base > revision { return .failed(.baseInFuture) }
        do throws(Rejection) {
            guard let delta = try carried(submission, isFull: circumstances.isFull) else {
                return .stale(head: revision)
            }
            let (deck, bytes) = (present.deck, present.bytes)
            guard let changed = try changedItems(by: delta, maxWork: circumstances.maxWork) else { return .tooMuchWork }
            let before = hasInverse && RecentInverses.mayKeep(changed) ? nil : present.hand
            let (made, inverse) = try make(delta, changing: changed, hasInverse: before == nil)
            number(made, inverse: inverse, before: before, deck: deck, bytes: bytes, origin, now: circumstances.now)
            return .numbered(refusal: nil)
        } catch {
            // Refusals take room, too: a full store would grow by them without end.
            guard origin.isFirst, !circumstances.isFull else { return .rejected(error) }
            present.revision += 1
            number(
                .identity, inverse: .identity, deck: present.deck, bytes: present.bytes, origin,
                now: circumstances.now, refusal: error)
            return .numbered(refusal: error)
        }
    }

    /// Returns a submission's delta, transformed to fit the present list; nil if its base is too old.
    private mutating func carried(_ submission: Submission, isFull: Bool) throws(Rejection) -> Delta? {
        if isFull { throw .storeFull(limit: limits.storeBytes) }
        if submission.isExact, hasChanged(since: submission.base) { throw .revisionMoved(now: present.revision) }
        if submission.base < window.floor { return nil }
        let count = window.count(at: submission.base)
        guard submission.delta.reach <= count else {
            throw .doesNotFit(reach: submission.delta.reach, count: count)
        }
        try submission.delta.forEachInserted { item throws(Rejection) in
            let (kind, size) = item.measure
            try check(kind, size: size, level: item.level)
        }
        return transformed(submission.delta, since: submission.base)
    }

    /// Whether any commit after `base` is more than a refusal; true if `base` lies before the window.
    private func hasChanged(since base: Int) -> Bool {
        if base == present.revision { return false }
        return base < window.floor || (base + 1...present.revision).contains { !window.isRefusal(at: $0) }
    }

    /// Like `submit`, on a copy of the authority that takes the original's place afterwards; meanwhile another thread
    /// may read the original. Nothing may be pending.
    package mutating func submitOffThread(_ origin: Origin, _ circumstances: Circumstances) -> Outcome {
        window.seal()
        return submit(origin, circumstances, hasInverse: false)
    }

    /// An upper estimate of the work that `submit` would be.
    private func estimate(_ submission: Submission) -> Int {
        let making = Self.work(of: submission.delta)
        let commits = present.revision - max(submission.base, window.floor)
        guard commits > 0 else { return making }
        let cost = submission.delta.carryingCost
        // A single edit is transformed as a few numbers, unless it changes a text that others have changed: then the
        // texts are merged.
        let isQuick =
            cost <= Self.passagesPerComponent
            && (submission.delta.single != nil || SingleEdit(submission.delta) != nil)
        return making + (isQuick ? commits / Self.passagesPerComponent : commits * cost)
    }

    /// The work of reading, checking and applying a delta, without the work of transforming it over commits.
    static func work(of delta: Delta) -> Int { delta.weight * 10 }

    /// Each sequence is used once: a submission that came before is answered with its outcome. Sequences may be
    /// skipped, such as those of rejected submissions.
    // Inlined, as a call would copy the authority.
    @inline(__always)
    private func answerFromBefore(_ submission: Submission, author: Author) -> Outcome? {
        if submission.sequence == 0 { return .failed(.wrongSequence) }
        guard let last = sequences[author.client], submission.sequence <= last.sequence else { return nil }
        if submission.sequence < last.sequence { return .acknowledged(revision: 0) }
        if last.revision > revision { return .waiting }
        return last.isRefused ? .rejected(.reasonForgotten) : .acknowledged(revision: last.revision)
    }

    /// Returns what is left of a delta made at `base`, after transforming it over all commits since. Where both the
    /// delta and a commit are single edits, a few numbers are enough; otherwise the general functions are needed.
    /// Returns nil if that takes more work than one submission may take. The newest revision that a client can have is
    /// never too old.
    private mutating func transformed(_ delta: Delta, since base: Int) -> Delta? {
        var delta = delta
        var next = base + 1
        while next <= present.revision, !delta.isIdentity {
            guard let made = delta.single ?? SingleEdit(delta) else { return carried(delta, since: base, from: next) }
            let (rest, reached) = window.transformed(made, from: next)
            work += (reached - next) / Self.passagesPerComponent
            guard let rest else { return .identity }
            if rest.index != made.index || rest.gap != made.gap { delta = delta.placed(at: rest) }
            if isTooMuch(since: base) { return nil }
            next = reached
            if next <= present.revision {
                var carried = CarriedDelta(delta)
                work += carried.follow(window.delta(at: next))
                delta = carried.delta
                next += 1
            }
        }
        return delta
    }

    /// Like `transformed`, for a delta that is more than a single edit: it is transformed over the commits one by one.
    private mutating func carried(_ delta: Delta, since base: Int, from next: Int) -> Delta? {
        var carried = CarriedDelta(delta)
        for revision in next...present.revision where !carried.isIdentity {
            if isTooMuch(since: base) { return nil }
            work += carried.follow(window.delta(at: revision))
        }
        return carried.delta
    }

    private func isTooMuch(since base: Int) -> Bool { work > limits.submissionWork && base < revision }

    /// An edit is carried over this many single edits in the time that one component of a delta takes.
    private static let passagesPerComponent = 16

    /// Milliseconds.
    private static let clockTolerance: UInt64 = 60_000

    /// Gives the next number to the result of a submission.
    ///
    /// - Parameters:
    ///   - before: the list before the submission, if the inverse was not made.
    ///   - deck: the deck before the submission.
    ///   - bytes: `State.bytes` before the submission.
    private mutating func number(
        _ made: consuming Delta, inverse: consuming Delta, before: consuming Hand? = nil, deck: Deck?, bytes: Int,
        _ origin: Origin, now: UInt64, refusal: Rejection? = nil
    ) {
        let (submission, author) = (origin.submission, origin.author)
        // The clocks of several servers differ a little, and each may be set back a little: no commit is older than the
        // one before it. If the difference is larger, the last commit's clock was wrong, and its date must not stay.
        if now > lastTime || lastTime - now > Self.clockTolerance { lastTime = now }
        let base = refusal == nil ? submission.base - submission.lag : present.revision - 1
        let commit = Commit(
            revision: present.revision, author: author.number, sequence: submission.sequence, base: base,
            time: lastTime, count: present.hand.count, digest: present.hand.digest, delta: made, refusal: refusal)
        window.append(commit, list: list)
        let mark = SequenceMark(of: commit)
        let previous = sequences.updateValue(mark, forKey: author.client)
        pending.append(
            Pending(
                mark: mark, count: commit.count, digest: commit.digest, origin: origin, inverse: inverse, deck: deck,
                bytes: bytes, previous: previous, before: before))
    }

    // MARK: Checking

    /// Applies the delta to the present list if its ids are new; cards are turned over. Returns the delta that was
    /// applied, and its inverse if that is wanted.
    private mutating func make(
        _ delta: Delta, changing changed: [Delta.ChangedItem], hasInverse: Bool
    ) throws(Rejection) -> (made: Delta, inverse: Delta) {
        let reach = delta.reach
        let deleted = delta.packedItems(deletedFrom: present.hand)
        let growth = delta.growthInMemory(deleting: deleted, changing: changed)
        if growth > 0, present.bytes + growth > limits.listBytes { throw .storeFull(limit: limits.listBytes) }
        try takeIDs(inserted: delta, deleted: deleted)
        do throws(Rejection) {
            var deck = present.deck
            let made = try deck?.play(delta, deleted: deleted) ?? delta
            let inverse = hasInverse ? made.inverted(on: present.hand) : .identity
            do {
                try present.hand.apply(made, changing: changed)
            } catch { throw .doesNotFit(reach: reach, count: present.hand.count) }
            if deck != nil { present.deck = deck }
            present.revision += 1
            present.bytes += growth
            return (made, inverse)
        } catch {
            ids.replace(delta.items, by: deleted)
            throw error
        }
    }

    /// Reading, changing and hashing this many bytes of an item takes as long as one component of a delta.
    private static let bytesPerComponent = 20

    /// Checks that all of the delta is allowed, and returns the items that it changes; nil if that is too much work.
    // Inlined, as a call would copy the authority.
    @inline(__always)
    private mutating func changedItems(by delta: Delta, maxWork: Int) throws(Rejection) -> [Delta.ChangedItem]? {
        let reach = delta.reach
        guard reach <= present.hand.count else { throw .doesNotFit(reach: reach, count: present.hand.count) }
        let maximum = min(rules.maximumCount, limits.listItems)
        let growth = delta.growth
        if growth > 0, present.hand.count + growth > maximum { throw .violation(.listFull(maximum: maximum)) }
        if delta.single != nil || delta.changes.isEmpty { return [] }
        let maxBytes = maxWork.multipliedReportingOverflow(by: Self.bytesPerComponent)
        let found: [Delta.ChangedItem]?
        do {
            found = try delta.changedItems(on: present.hand, within: maxBytes.overflow ? .max : maxBytes.partialValue)
        } catch { throw .doesNotFit(reach: reach, count: present.hand.count) }
        guard let changed = found else { return nil }
        work += changed.reduce(0) { $0 + $1.item.size } / Self.bytesPerComponent
        for (_, after) in changed {
            let (kind, size) = after.measure
            try check(kind, size: size, level: after.level)
            if rules.hasDeck, kind == .card { throw .violation(.cardsAreDealt) }
        }
        return changed
    }

    private func check(_ kind: Content.Kind, size: Int, level: UInt8) throws(Rejection) {
        if let violation = rules.violation(ofKind: kind, size: size, level: level) { throw .violation(violation) }
        if size > limits.itemBytes { throw .violation(.itemTooLarge(size: size, maximum: limits.itemBytes)) }
    }

    /// Replaces the ids of deleted items with those of inserted ones, if each id then occurs once. Otherwise nothing
    /// changes.
    private mutating func takeIDs(inserted delta: Delta, deleted: [PackedItem]) throws(Rejection) {
        for item in deleted { ids.remove(NumberKey(item.id.rawValue)) }
        work += deleted.count
        var taken = 0
        do throws(Rejection) {
            try delta.forEachInserted { item throws(Rejection) in
                work += 1
                guard ids.insert(NumberKey(item.id.rawValue)).inserted else { throw .duplicateItem(item.id) }
                taken += 1
            }
        } catch {
            ids.replace(delta.items.prefix(taken), by: deleted)
            throw error
        }
    }
}

extension Set<NumberKey> {
    /// Removes the ids of some items, and adds those of others.
    mutating func replace(_ old: some Sequence<PackedItem>, by new: some Sequence<PackedItem>) {
        for item in old { remove(NumberKey(item.id.rawValue)) }
        for item in new { insert(NumberKey(item.id.rawValue)) }
    }
}

extension Deck {
    /// Follows a delta that is being committed: its deleted cards go under the deck, its face-down cards are dealt from
    /// the top, its face-up cards are taken out. Returns the delta with the cards turned over.
    mutating func play(_ delta: Delta, deleted: [PackedItem]) throws(Rejection) -> Delta {
        for item in deleted {
            if case .card(let card) = item.content { putUnder(card) }
        }
        var problem: Rejection?
        let dealt = delta.mappingInserted { item in
            guard case .card(let card) = item.content else { return item.content }
            if card != .faceDown {
                if !take(card) { problem = problem ?? .violation(.cardNotInDeck(card)) }
                return item.content
            }
            guard let top = deal() else {
                problem = problem ?? .violation(.deckEmpty)
                return item.content
            }
            return .card(top)
        }
        if let problem { throw problem }
        return dealt
    }

    /// Follows a commit that was made before, as a store does when it replays a list's history.
    package mutating func replay(_ delta: Delta, on list: Hand) {
        _ = try? play(delta, deleted: delta.packedItems(deletedFrom: list))
    }
}

extension Delta {
    /// Calls `body` with each inserted item, from left to right. For one item, as nearly always, it is quicker than a
    /// loop.
    @inline(__always)
    func forEachInserted<Failure: Error>(_ body: (PackedItem) throws(Failure) -> Void) throws(Failure) {
        if let singleItem {
            try body(singleItem)
        } else if single == nil {
            for item in items { try body(item) }
        }
    }
}
