import HandCore
import HandWire

/// What the judge learns from the server's frames.
extension Judge {
    mutating func learn(_ message: DownMessage, on id: Int, _ now: UInt64) {
        switch message {
        case .welcome(let welcome):
            talks[id]?.author = welcome.author
            talks[id]?.idleDeadline = welcome.idleDeadline
            talks[id]?.lastHeard = now
            guard talks[id]?.versions.contains(welcome.version) == false else { return }
            exercise(.offeredVersion)
            talks[id]?.strange = (.offeredVersion, Aftermath(now))
        case .subscribed(let subscribed): learn(subscribed, on: id, now)
        case .chunk(let request, let items): learn(items, of: request, on: id)
        case .commit(let list, let commit): learn(commit, of: list, on: id)
        case .rejected(let list, let sequence, _): decide(sequence, .refused, in: list, on: id)
        case .stale(let list, let sequence, let head):
            exercise(.sentOnce)
            talks[id]?.follows[list]?.sent.remove(sequence)
            talks[id]?.follows[list]?.open = nil
            // A snapshot that is arriving is as far as the client gets at once.
            if talks[id]?.follows[list]?.incoming == nil { talks[id]?.follows[list]?.floor = head }
        case .acknowledged(let list, let sequence, let revision):
            guard let follow = talks[id]?.follows[list] else { return }
            if revision > follow.revision { return exercise(.sentOnce) }
            decide(sequence, .committed, in: list, on: id)
        case .history(let request, let commits, _): learn(commits, of: request, on: id)
        case .error(let code, _, let list, let retryAfter, _):
            learn(code, list: list, retryAfter: retryAfter, on: id, now)
        default: break
        }
    }

    private mutating func learn(_ subscribed: DownMessage.Subscribed, on id: Int, _ now: UInt64) {
        guard let asked = talks[id]?.asked[subscribed.request] else { return }
        let list = subscribed.list
        let old = talks[id]?.follows[list]
        let isFirst = old?.request != subscribed.request
        var incoming: (hand: Hand, count: Int, digest: UInt64)?
        var (floor, revision) = (0, asked.revision)
        switch subscribed.start {
        case .resumed(let head, _): floor = head
        case .newest(let head): (floor, revision) = (head, head)
        case .snapshot(let start, let count, let digest):
            incoming = (Hand(rules: subscribed.rules), count, digest)
            (floor, revision) = (start, start)
        }
        if !isFirst, var old {
            (old.incoming, old.revision, old.floor, old.isFirst) = (incoming, revision, 0, false)
            talks[id]?.follows[list] = old
        } else {
            talks[id]?.follows[list] = Follow(
                request: subscribed.request, asked: asked, since: Aftermath(now), lastSequence: subscribed.lastSequence,
                floor: floor, revision: revision, incoming: incoming, sent: old?.sent ?? [], open: old?.open)
            settle(subscribed, on: id)
        }
        complete(list, on: id)
    }

    /// `last sequence` of a snapshot decides what was in flight.
    private mutating func settle(_ subscribed: DownMessage.Subscribed, on id: Int) {
        guard case .snapshot = subscribed.start, let open = talks[id]?.follows[subscribed.list]?.open,
            open <= subscribed.lastSequence
        else { return }
        decide(open, .committed, in: subscribed.list, on: id)
    }

    private mutating func learn(_ items: Hand, of request: RequestNumber, on id: Int) {
        for list in (talks[id]?.follows ?? [:]).filter({ $0.value.request == request }).keys {
            talks[id]?.follows[list]?.incoming?.hand.append(items)
            complete(list, on: id)
        }
    }

    /// Compares a snapshot that has arrived with what was announced.
    private mutating func complete(_ list: ListNumber, on id: Int) {
        guard let follow = talks[id]?.follows[list], let incoming = follow.incoming,
            incoming.hand.count >= incoming.count
        else { return }
        talks[id]?.follows[list]?.incoming = nil
        if incoming.hand.digest == incoming.digest {
            hands[list, default: [:]][follow.revision] = incoming.hand
            guard noteUnknown(incoming.hand) else { return }
            talks[id]?.follows[list]?.unknownAt = follow.revision
            doubt(.unknownKinds, list, follow.revision, on: id)
        } else if follow.isFirst {
            talks[id]?.follows[list]?.isDamaged = true
            exercise(.noDamage)
        }
    }

    private mutating func learn(_ commit: Commit, of list: ListNumber, on id: Int) {
        guard let talk = talks[id], let follow = talk.follows[list], commit.revision > follow.revision else { return }
        talks[id]?.follows[list]?.revision = commit.revision
        if let hand = hands[list]?[commit.revision - 1], let next = try? hand.applying(commit.delta) {
            hands[list]?[commit.revision] = next
        }
        if noteUnknown(commit.delta.insertedItems) {
            talks[id]?.follows[list]?.unknownAt = commit.revision
            doubt(.unknownKinds, list, commit.revision, on: id)
        }
        guard commit.author == talk.author, let client = talk.client else { return }
        if talk.isLarge { doubt(.largeFrames, list, commit.revision, commit.sequence, on: id) }
        talks[id]?.isLarge = false
        if commit.base < commit.revision - 1 {
            exercise(.commitsDelta)
            talks[id]?.follows[list]?.rebasedAt = commit.revision
        }
        clients[client]?.histories[list]?.ownRevision = commit.revision
        decide(commit.sequence, commit.refusal == nil ? .committed : .refused, in: list, on: id)
    }

    private mutating func decide(_ sequence: SequenceNumber, _ fate: Edit.Fate, in list: ListNumber, on id: Int) {
        guard let talk = talks[id], let client = talk.client else { return }
        noteDecision()
        if fate == .refused { exercise(.sequenceOnce) }
        clients[client]?.histories[list]?.edits[sequence]?.fate = fate
        if talk.follows[list]?.open == sequence { talks[id]?.follows[list]?.open = nil }
    }
}
