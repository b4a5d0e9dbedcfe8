import HandCore
import HandWire

extension Replica {
    /// What an event brought: how the view has changed, and what its user should be told.
    public struct Update: Equatable, Sendable {
        /// What became of the view.
        var change: Change
        public var notices: [Notice] = []
        /// What it came by.
        public internal(set) var cause: Cause

        public enum Cause: Equatable, Sendable {
            /// One's own edit, when it was made here.
            case edit
            case commit(Commit)
            /// What the server said otherwise: a snapshot, a rejection.
            case answer

            /// Whose doing it was.
            package var origin: Origin {
                switch self {
                case .edit: .own
                case .commit(let commit): .author(commit.author)
                case .answer: .unknown
                }
            }
        }

        enum Change: Equatable, Sendable {
            case delta(Delta)
            /// The view was replaced by another. The difference is computed only on demand, as it takes comparing all items.
            case replaced(Hand, by: Hand)
        }

        /// Whose doing it was.
        public var origin: Origin { cause.origin }

        public init(_ cause: Cause = .answer, delta: Delta = .identity, notices: [Notice] = []) {
            self.cause = cause
            change = .delta(delta)
            self.notices = notices
        }

        /// One's own edit, which led to `view`.
        package init(_ made: Retraction, in view: Hand) {
            self.init(.edit, delta: made.delta, notices: made.spared.map { .spared(view[$0.index], $0.loss) })
        }

        /// The change of the view; the identity if it is as it was. O(n log n) after a snapshot, else O(1).
        public var delta: Delta {
            get {
                switch change {
                case .delta(let delta): delta
                case .replaced(let old, let new): Delta(from: old, to: new)
                }
            }
            set { change = .delta(newValue) }
        }

        /// Whether another program has used this client's id.
        public var isUsedTwice: Bool { notices.contains { if case .usedTwice = $0 { true } else { false } } }

        /// Whether the view was empty before.
        public var isFirst: Bool {
            if case .replaced(let old, _) = change { old.isEmpty } else { false }
        }
    }

    /// Whose doing a change of the view was.
    public enum Origin: Hashable, Sendable {
        /// One's own edit, when it was made here.
        case own
        /// A commit of that author.
        case author(UInt64)
        /// Several have changed it, or it is not known who.
        case unknown
    }

    public enum Notice: Equatable, Sendable {
        /// An edit of one's own is durable on the server.
        case acknowledged(sequence: UInt64, revision: Int)
        /// Somebody's commit overrode part of the user's edits. Of lost words the item is told as the commit left it, otherwise
        /// as it was before.
        case superseded(Item, Superseded.Loss, author: UInt64, revision: Int)
        /// An undo or a redo has left words of an item that somebody had put in place of the user's.
        case spared(Item, Superseded.Loss)
        /// The server rejected an edit, and it is undone here. `delta` is the edit as it stood on the view.
        case rejected(Rejection, Delta)
        /// Another program has used this client's id: that commit has the sequence of what is in flight, and is something else.
        /// What is in flight is kept, and submitted under another sequence.
        case usedTwice(revision: Int)
        /// This replica's digest is not the server's: it resynchronizes from a snapshot.
        case diverged(revision: Int)
    }

    /// Why a commit does not follow this replica's revision: the server or the connection is broken.
    public enum CommitError: Error, Equatable, Sendable {
        case wrongRevision(expected: Int, found: Int)
        case misfit(Delta.Misfit)
    }

    /// Applies the next commit of the list, whoever made it.
    public mutating func receive(_ commit: Commit) throws(CommitError) -> Update {
        guard commit.revision == revision + 1 else {
            throw .wrongRevision(expected: revision + 1, found: commit.revision)
        }
        let isRefused = hasSequence(commit) && commit.refusal != nil
        let isOwn = hasSequence(commit) && inFlight?.delta.became(commit.delta, under: confirmed.rules) == true
        var update = Update()
        if hasSequence(commit), !isOwn, !isRefused, inFlight?.hasPassedSnapshot == true {
            // What of it is in the list shows a snapshot only.
            hasDiverged = true
            return update
        }
        do {
            if isRefused, let reason = commit.refusal {
                update = rejected(sequence: commit.sequence, reason)
            } else if isOwn {
                update = try acknowledge(commit)
            } else {
                update.notices = ownWork.overridden(by: commit, author: author, on: confirmed)
                try advance(by: commit.delta, commit, &update)
            }
        } catch {
            throw .misfit(error)
        }
        revision = commit.revision
        if confirmed.digest != commit.digest || confirmed.count != commit.count {
            hasDiverged = true
            update.notices.append(.diverged(revision: revision))
        } else if hasSequence(commit) {
            update.notices.append(.usedTwice(revision: revision))
        }
        return update
    }

    /// Whether a commit has the author and the sequence of what is in flight.
    private func hasSequence(_ commit: Commit) -> Bool {
        commit.author == author && commit.sequence == inFlight?.sequence
    }

    /// Takes a commit even if it cannot follow what is here: then this replica is not what the server takes it for, and only
    /// a snapshot helps, as with a digest that is another.
    public mutating func receiveAnything(_ commit: Commit) -> Update {
        do { return try receive(commit) } catch {
            hasDiverged = true
            return Update(notices: [.diverged(revision: commit.revision)])
        }
    }

    /// Compares with the list as the server has it at a revision. A history that has lost its end may have come as far again, by other
    /// commits; of one that is longer, or shorter, the next commits tell.
    mutating func compare(with digest: UInt64, at head: Int) -> Update? {
        guard head == revision, digest != confirmed.digest else { return nil }
        hasDiverged = true
        return Update(notices: [.diverged(revision: revision)])
    }

    /// Somebody else's commit: everything pending is transformed over it, and it over everything pending.
    private mutating func advance(
        by delta: Delta, _ commit: Commit, _ update: inout Update
    ) throws(Delta.Misfit) {
        if !hasPending { return try advanceInStep(by: delta, &update) }
        try confirmed.check(delta)
        let passed = rebase(over: delta, on: confirmed) { item, loss in
            update.notices.append(
                .superseded(item, loss, author: commit.author, revision: commit.revision))
        }
        try confirmed.apply(delta)
        try follow(passed, &update)
    }

    /// Nothing is pending, so the view is what is confirmed. It is let go of meanwhile: the list is then changed in place.
    private mutating func advanceInStep(by delta: Delta, _ update: inout Update) throws(Delta.Misfit) {
        view = Hand(rules: confirmed.rules)
        defer { view = confirmed }
        try confirmed.apply(delta)
        history.follow(delta)
        update.delta = delta
    }

    /// Applies somebody else's change to the view.
    mutating func follow(_ delta: Delta, _ update: inout Update) throws(Delta.Misfit) {
        try view.apply(delta)
        history.follow(delta)
        update.delta = update.delta.isIdentity ? delta : update.delta.composed(with: delta)
    }

    /// Transforms all that is pending over `delta`, made on `list`, step by step, and returns what of `delta` is left for
    /// the view. `lost` hears of pending intentions that it overrode.
    mutating func rebase(over delta: Delta, on list: Hand, _ lost: (Item, Superseded.Loss) -> Void) -> Delta {
        var rebase = Rebase(delta: delta, list: list)
        if var mine = inFlight {
            // It is let go of meanwhile, so that it is changed in place.
            inFlight = nil
            rebase.pass(&mine.carried, isLast: buffer.isEmpty, lost)
            inFlight = mine
        }
        rebaseBuffer(from: 0, &rebase, lost)
        return rebase.delta
    }

    /// The same for what waits from one portion on.
    mutating func rebaseBuffer(from first: Int, _ rebase: inout Rebase, _ lost: (Item, Superseded.Loss) -> Void) {
        for index in buffer.indices[first...] {
            rebase.pass(&buffer[index].carried, isLast: index + 1 == buffer.count, lost)
        }
    }

    /// A delta on its way through what is pending.
    struct Rebase {
        /// What is left of it.
        var delta: Delta
        /// The list on which it and the first pending edit were made.
        let list: Hand
        /// The pending edits that it has passed, as they were before.
        private var passed: [CarriedDelta] = []

        init(delta: Delta, list: Hand) {
            self.delta = delta
            self.list = list
        }

        /// The list on which the delta and the next pending edit were made. Seldom asked for: it takes applying what was passed.
        private var present: Hand {
            passed.reduce(list) { list, mine in (try? list.applying(mine.delta)) ?? list }
        }

        /// Passes the next pending edit.
        mutating func pass(_ mine: inout CarriedDelta, isLast: Bool, _ lost: (Item, Superseded.Loss) -> Void) {
            let before = isLast ? nil : mine
            let result = mine.pass(delta)
            let losses = result.superseded.filter { $0.loser == .later }
            if !losses.isEmpty {
                let list = present
                for loss in losses { lost(list[loss.index], loss.loss) }
            }
            delta = result.rest
            if let before { passed.append(before) }
        }
    }

    /// One's own commit: the server's delta takes the place of what was in flight. They differ only where the server had a
    /// say, as in dealing a card; the difference then passes through the buffer into the view.
    private mutating func acknowledge(_ commit: Commit) throws(Delta.Misfit) -> Update {
        var update = Update()
        guard let mine = inFlight else { return update }
        let correction = try mine.delta.correction(to: commit.delta, on: confirmed)
        ownWork.record(commit, on: confirmed)
        inFlight = nil
        if correction.isIdentity {
            // Nothing waits behind it: the view is what is confirmed now, and one value serves as both.
            confirmed = hasPending ? try confirmed.applying(commit.delta) : view
        } else {
            let expected = try confirmed.applying(mine.delta)
            confirmed = try confirmed.applying(commit.delta)
            let passed = rebase(over: correction, on: expected) { _, _ in }
            try follow(passed, &update)
        }
        update.notices.append(.acknowledged(sequence: commit.sequence, revision: commit.revision))
        return update
    }
}

extension Delta {
    /// Whether a commit's delta is what became of this one, as it is on the list before the commit: the server changes nothing
    /// but the faces of cards that it deals.
    func became(_ made: Delta, under rules: Rules) -> Bool {
        if self == made { return true }
        guard rules.hasDeck else { return false }
        var dealt = made.insertedItems[...]
        let expected = mappingInserted { item in
            guard case .card(let card)? = dealt.popFirst()?.content, item.content == .card(.faceDown) else {
                return item.content
            }
            return .card(card)
        }
        return expected == made
    }
}
