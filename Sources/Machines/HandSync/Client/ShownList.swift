import HandCore

/// A list as its user was last shown it, and the changes that the user has not been shown yet. An own edit stays a
/// change of its own. The changes of others are joined, so that a user who is shown the list again after a thousand
/// commits follows one change.
package struct ShownList: Sendable {
    package private(set) var state: ListState
    private var waiting: [Change] = []

    fileprivate struct Change {
        var state: ListState
        var update: Replica.Update
        /// The deltas of several updates; nil if the update is a single one.
        var joined: Composer?
    }

    package init(_ state: ListState = ListState()) { self.state = state }

    package var isUpToDate: Bool { waiting.isEmpty }

    /// Adds an update of the list's replica that led to `new`.
    package mutating func add(_ new: ListState, _ update: Replica.Update) {
        let before = waiting.last?.state ?? state
        // A list that is opened again stays as it was until its items are there.
        if before.isLoaded, !new.isLoaded { return }
        var update = update
        if !before.isLoaded, update.isFirst {
            // For a user who sees the list for the first time, nothing has changed.
            update.change = .delta(.identity)
        } else if before.isLoaded, !update.mayLead(from: before.view, to: new.view) {
            update.change = .replaced(before.view, by: new.view)
        }
        if let last = waiting.indices.last, waiting[last].admits(update) {
            waiting[last].join(update, new)
        } else {
            waiting.append(Change(state: new, update: update))
        }
    }

    /// Shows the next change. Returns nil if all changes were shown.
    package mutating func next() -> Replica.Update? {
        guard !waiting.isEmpty else { return nil }
        var next = waiting.removeFirst()
        if let joined = next.joined { next.update.delta = joined.delta }
        state = next.state
        return next.update
    }
}

extension ShownList.Change {
    /// Whether an update that comes next may be shown together with this change.
    fileprivate func admits(_ next: Replica.Update) -> Bool {
        if !update.changesView || !next.changesView { return true }
        return update.origin != .own && next.origin != .own && update.isPersons == next.isPersons
    }

    fileprivate mutating func join(_ next: Replica.Update, _ new: ListState) {
        state = new
        update.notices += next.notices
        guard next.changesView else { return }
        guard update.changesView else {
            (update.change, update.cause, update.isPersons) = (next.change, next.cause, next.isPersons)
            return
        }
        // Two calls, so that the composer is never copied.
        if joined == nil { joined = Composer(update.delta) }
        joined?.append(next.delta)
        // A change that several people have made has no author.
        update.cause = update.origin == next.origin ? next.cause : .answer
    }
}

extension Replica.Update {
    fileprivate var changesView: Bool { if case .delta(let delta) = change { !delta.isIdentity } else { true } }

    /// Whether the update may lead from one view to the other. It does not if the list was closed in between, and
    /// opened again.
    fileprivate func mayLead(from old: Hand, to new: Hand) -> Bool {
        switch change {
        case .delta(let delta): !delta.isIdentity || old.digest == new.digest
        case .replaced(let former, _): old.digest == former.digest
        }
    }
}
