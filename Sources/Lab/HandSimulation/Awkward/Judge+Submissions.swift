import HandCore
import HandWire

/// The rules for submissions.
extension Judge {
    mutating func judge(_ submission: Submission, of client: ClientID, on id: Int) {
        let (list, sequence) = (submission.list, submission.sequence)
        guard let talk = talks[id], !talk.gone.contains(list) else { return }
        let ids = Set(submission.delta.insertedItems.map(\.id))
        judgeUnknownItems(submission.delta.insertedItems, id)
        judgeList(ids, of: client, list, id)
        guard let follow = talk.follows[list] else {
            return find(.caughtUp, "the client submits before it is subscribed", on: id)
        }
        let history = clients[client]?.histories[list] ?? History()
        let before = history.edits[sequence]
        judgeDoubts(submission, follow, on: id)
        judgeReadiness(submission, follow, id)
        judgeSequence(submission, ids, before, follow, history, id)
        judgeBase(submission, isNew: before == nil, follow, history, id)
        if let before { judgeMaking(submission, before, id) }
        if before == nil { judgeIDs(submission.delta.insertedItems.map(\.id), of: client, id) }
        note(submission, on: id)
        talks[id]?.follows[list]?.sent.insert(sequence)
        talks[id]?.follows[list]?.open = sequence
    }

    /// Notes that an edit has that sequence, and may become a commit.
    mutating func note(_ submission: Submission, on id: Int) {
        guard let client = talks[id]?.client else { return }
        var history = clients[client]?.histories[submission.list] ?? History()
        let ids = Set(submission.delta.insertedItems.map(\.id))
        if history.edits[submission.sequence] == nil {
            history.edits[submission.sequence] = Edit(ids: ids, seen: submission.base - submission.lag)
        }
        history.greatest = max(history.greatest, submission.sequence)
        clients[client]?.histories[submission.list] = history
    }

    private mutating func judgeReadiness(_ submission: Submission, _ follow: Follow, _ id: Int) {
        exercise(.caughtUp)
        if follow.isOver {
            find(.caughtUp, "the client has subscribed again and not got the answer", on: id)
        } else if follow.incoming != nil, follow.isFirst {
            find(.caughtUp, "the snapshot has not arrived", on: id)
        } else if submission.base < follow.floor, follow.asked.wantsItems, !submission.isExact {
            find(.caughtUp, "base \(submission.base) is below the head \(follow.floor)", on: id)
        }
        if follow.isDamaged { find(.noDamage, "the snapshot of this connection has another digest", on: id) }
    }

    private mutating func judgeSequence(
        _ submission: Submission, _ ids: Set<ItemID>, _ before: Edit?, _ follow: Follow, _ history: History, _ id: Int
    ) {
        let sequence = submission.sequence
        if history.greatest > 0 { exercise(.oneInFlight) }
        if let open = follow.open, open != sequence {
            find(.oneInFlight, "sequence \(sequence) goes out while \(open) is not decided", on: id)
        }
        // Without the list, a client that starts again knows of its sequences only what it has kept.
        let isStarted = !follow.asked.wantsItems && !follow.sent.contains(sequence)
        let requirement = isStarted ? Requirement.keptSequence : .sequenceOnce
        if isStarted, history.greatest > 0 { exercise(.keptSequence) }
        if let before {
            if before.fate == .refused {
                find(requirement, "sequence \(sequence) was refused before", on: id)
            } else if follow.sent.contains(sequence) {
                find(.sentOnce, "sequence \(sequence) goes out again on the same connection", on: id)
            } else if before.ids != ids {
                find(requirement, "sequence \(sequence) was another edit before", on: id)
            }
        }
        // It may send the same edit again before it knows that the server has it.
        guard !isStarted || before?.ids != ids else { return }
        if sequence <= (before == nil ? max(history.greatest, follow.lastSequence) : follow.lastSequence) {
            find(requirement, "sequence \(sequence) is used already", on: id)
        }
    }

    private mutating func judgeBase(
        _ submission: Submission, isNew: Bool, _ follow: Follow, _ history: History, _ id: Int
    ) {
        exercise(.fitsBase)
        if submission.base > follow.revision, follow.asked.wantsItems {
            find(.fitsBase, "base \(submission.base) has not arrived", on: id)
        } else if isNew, submission.base < history.ownRevision, follow.asked.wantsItems {
            find(.fitsBase, "base \(submission.base) is below the client's own commit \(history.ownRevision)", on: id)
        } else if let hand = hands[submission.list]?[submission.base], (try? hand.applying(submission.delta)) == nil {
            find(.fitsBase, "the delta does not fit the list at revision \(submission.base)", on: id)
        }
    }

    /// An edit that was carried says so, if it can override others.
    private mutating func judgeMaking(_ submission: Submission, _ before: Edit, _ id: Int) {
        guard !submission.isExact, submission.base > before.seen, submission.delta.canOverride else { return }
        exercise(.sameAsMachine)
        let lag = submission.base - before.seen
        if submission.lag != lag {
            let text = "an edit made at \(before.seen) goes out on \(submission.base): 'how' must be \(lag + 1)"
            find(.sameAsMachine, text, on: id)
        }
    }

    private mutating func judgeUnknownItems(_ items: [Item], _ id: Int) {
        for item in items where unknownItems[item.id].map({ $0 != item.content }) == true {
            find(.unknownKinds, "an item of an unknown kind comes back with other bytes", on: id)
        }
    }

    private mutating func judgeIDs(_ ids: [ItemID], of client: ClientID, _ id: Int) {
        for item in ids {
            exercise(.randomIDs)
            let raw = item.rawValue
            if let last = clients[client]?.lastID, raw == last &+ 1 || raw == last &- 1 {
                find(.randomIDs, "ids of two items follow each other", on: id)
            } else if raw < 1 << 16 {
                find(.randomIDs, "the id \(raw) is hardly random", on: id)
            }
            clients[client]?.lastID = raw
            let maker = makers.updateValue(client, forKey: item)
            guard let maker, maker != client, let histories = clients[maker]?.histories.values else { continue }
            if histories.contains(where: { $0.isOpen(item) }) {
                find(.clientIDKept, "an edit that was pending comes again with another client id", on: id)
            }
        }
    }

    private mutating func judgeList(_ ids: Set<ItemID>, of client: ClientID, _ list: ListNumber, _ id: Int) {
        for (other, history) in clients[client]?.histories ?? [:] where other != list {
            exercise(.rightList)
            if ids.contains(where: history.isOpen) {
                find(.rightList, "the edit goes to list \(list), and was made on list \(other)", on: id)
            }
        }
    }
}

extension Judge.History {
    /// Whether an edit that inserts the item is pending.
    fileprivate func isOpen(_ item: ItemID) -> Bool {
        edits.values.contains { $0.fate == .open && $0.ids.contains(item) }
    }
}

extension Delta {
    /// Whether it changes anything that others may have changed.
    fileprivate var canOverride: Bool {
        components.contains {
            switch $0 {
            case .keep, .insert: false
            case .edit, .delete, .pick, .drop: true
            }
        }
    }
}
