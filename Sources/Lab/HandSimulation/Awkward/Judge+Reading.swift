import HandCore
import HandWire

/// What a client shows of what it has read: whether it can take large frames and unknown kinds, and where it takes a
/// history to begin.
extension Judge {
    /// Notes that the client now has something that it may be unable to take, unless there is already such a thing.
    mutating func doubt(
        _ requirement: Requirement, _ list: ListNumber, _ revision: Int, _ sequence: SequenceNumber? = nil, on id: Int
    ) {
        exercise(requirement)
        guard talks[id]?.doubt == nil, let asked = talks[id]?.follows[list]?.asked, asked.wantsItems else { return }
        talks[id]?.doubt = Doubt(requirement: requirement, list: asked.name, revision: revision, sequence: sequence)
    }

    /// Notes items of unknown kinds, and returns whether there are any.
    mutating func noteUnknown(_ items: some Sequence<Item>) -> Bool {
        let unknown = items.filter { if case .unknown = $0.content { true } else { false } }
        for item in unknown { unknownItems[item.id] = item.content }
        return !unknown.isEmpty
    }

    /// Notes that the client has closed the connection, and may have done so instead of taking something. If the client
    /// or this judge was held up, the client may have closed it because it had read nothing for too long. A late ping
    /// shows that the client was.
    mutating func noteLeft(_ id: Int, _ now: UInt64) {
        guard let talk = talks[id], !talk.isClosing, let client = talk.client, let doubt = talk.doubt else { return }
        if let deadline = talk.idleDeadline, now > talk.lastHeard + deadline / 2 { return }
        if let stoodAt = talk.stoodAt, now < stoodAt + 1_000 { return }
        clients[client]?.doubts.append(doubt)
    }

    /// A client that subscribes with an older revision has not taken what came after it.
    mutating func judgeDoubts(_ subscribe: UpMessage.Subscribe, on id: Int) {
        guard subscribe.wantsItems, subscribe.logID >> 32 != 0 else { return }
        refuse(on: id) { $0.list == subscribe.name && subscribe.revision < $0.revision }
    }

    /// Nor has one that sends an edit again whose commit came.
    mutating func judgeDoubts(_ submission: Submission, _ follow: Follow, on id: Int) {
        guard let client = talks[id]?.client else { return }
        if let doubt = talks[id]?.doubt, submission.base >= doubt.revision {
            talks[id]?.doubt = nil
            clients[client]?.taken.insert(doubt.requirement)
        }
        refuse(on: id) { $0.list == follow.asked.name && $0.sequence == submission.sequence }
        clients[client]?.doubts.removeAll { $0.list == follow.asked.name }
        if let at = follow.unknownAt, submission.base >= at { talks[id]?.follows[submission.list]?.unknownAt = nil }
        if let at = follow.rebasedAt, submission.base >= at { talks[id]?.follows[submission.list]?.rebasedAt = nil }
    }

    /// A client may be ended at such a moment. One that cannot take something is so each time.
    private mutating func refuse(on id: Int, _ isMeant: (Doubt) -> Bool) {
        guard let client = talks[id]?.client else { return }
        for doubt in (clients[client]?.doubts ?? []).filter(isMeant) {
            let requirement = doubt.requirement
            clients[client]?.refused[requirement, default: 0] += 1
            guard clients[client]?.refused[requirement] ?? 0 > 1, clients[client]?.taken.contains(requirement) == false
            else { continue }
            find(requirement, "the client has closed the connection twice instead of reading on", on: id)
        }
        clients[client]?.doubts.removeAll(where: isMeant)
    }

    // MARK: Histories

    mutating func ask(_ request: RequestNumber, _ name: String, from first: Int, of client: ClientID, on id: Int) {
        talks[id]?.histories[request] = (name, first)
        guard talks[id]?.mistaken.removeValue(forKey: name) == first else { return }
        clients[client]?.refused[.historyStart, default: 0] += 1
        guard clients[client]?.refused[.historyStart] ?? 0 > 1 else { return }
        find(
            .historyStart, "revision \(first) is asked for, as if the history before began where it was asked for",
            on: id)
    }

    mutating func learn(_ commits: [Commit], of request: RequestNumber, on id: Int) {
        guard let (name, asked) = talks[id]?.histories.removeValue(forKey: request),
            let first = commits.first?.revision,
            first > asked
        else { return }
        exercise(.historyStart)
        talks[id]?.mistaken[name] = asked + commits.count
    }
}
