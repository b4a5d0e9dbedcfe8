import HandCore
import HandWire

/// A request for a list, or some items of it, at any revision, by a client that does not have the list.
struct StateRequest {
    enum Wish {
        case allItems
        case excerpt(UpMessage.ExcerptRequest)
    }

    let id: RequestID
    let name: String
    /// Nil for the newest revision.
    let revision: Int?
    let wish: Wish
}

extension ServerMachine {
    func fetch(_ name: String, at revision: Int?, _ connection: Connection, _ request: RequestNumber) {
        ask(.init(id: RequestID(connection, request), name: name, revision: revision, wish: .allItems), connection)
    }

    func excerpt(_ asked: UpMessage.ExcerptRequest, _ connection: Connection) {
        let id = RequestID(connection, asked.request)
        ask(.init(id: id, name: asked.name, revision: asked.revision, wish: .excerpt(asked)), connection)
    }

    /// Loads the list if need be, because the client is likely to edit it next.
    private func ask(_ request: StateRequest, _ connection: Connection) {
        begin(connection)
        whenLoaded(request.name, .state(request))
    }

    /// Continues a request whose list is in memory now, or cannot be read. An old revision is read from the store.
    func loaded(_ result: Result<ListMachine, StoreError>, for request: StateRequest) {
        switch result {
        case .failure(let error):
            refuse(request.id, error)
            end(request.id.connection)
        case .success(let hosted):
            hosted.touch(now: now)
            let revision = request.revision ?? hosted.authority.revision
            // A forgotten revision is not sent, even though it may still be in memory.
            if revision >= hosted.storeFloor, let hand = hosted.authority.hand(at: revision) {
                let undone = hosted.authority.revision - revision + hosted.authority.pending.count
                charge(request.id.connection, work: Price.rewind(undone))
                return give(hand, at: revision, of: hosted.reference, to: request)
            }
            past.add(RevisionRequest(list: hosted.reference, revision: revision, request: request))
            servePast()
        }
    }

    /// - Parameter hold: keeps a past state; nil for a state that costs nothing to keep.
    func give(
        _ hand: Hand, at revision: Int, of list: ListMachine.Reference, _ hold: RevisionHold? = nil,
        to request: StateRequest
    ) {
        guard let connection = connections[request.id.connection] else { return }
        // In the meantime, the list may have gone, or the client may have lost the right to read it.
        guard let hosted = lists[list], connection.access.role(on: hosted.list) >= .read else {
            refuse(request.id, .noSuchList(request.name))
            return end(connection)
        }
        switch request.wish {
        case .allItems:
            send(
                .state(
                    request: request.id.request, revision: revision, count: hand.count, digest: hand.digest,
                    rules: hand.rules),
                to: connection)
            if !hand.isEmpty {
                connection.outbox.transfers.append(.init(request: request.id.request, hand: hand, hold: hold))
            }
            end(connection)
        case .excerpt(let asked):
            let maxBytes = min(limits.answerBytes, limits.frameBytes) / 2
            let logID = hosted.authority.logID
            let task = MakeExcerpt(
                id: request.id, hand: hand, revision: revision, logID: logID, asked: asked, bytes: maxBytes)
            charge(connection, work: task.search)
            // Only short excerpts are made here.
            if task.atMost <= min(limits.inlineWork, Price.inlineExcerpt) { return made(task, task.run()) }
            past.beginExcerpt(for: connection.id, hold)
            compute({ task.run() }, then: { $0.made(task, $1) })
        }
    }

    func made(_ task: MakeExcerpt, _ answer: MakeExcerpt.Answer) {
        let hold = past.endExcerpt(for: task.id.connection)
        withExtendedLifetime(hold) {
            charge(task.id.connection, work: Price.entries(answer.entries, bytes: answer.frame.count))
            if let connection = connections[task.id.connection] {
                connection.enqueue(FrameRun(answer.frame))
                mark(connection)
            }
            end(task.id.connection)
        }
    }

    // MARK: Past states

    /// Lets go of past states that nobody holds, and then serves the waiting requests, in their order.
    func servePast() {
        for hand in past.takeUnheld() { discard(hand) }
        for step in past.serve(connections) {
            switch step {
            case .give(let hand, let hold, let request):
                give(hand, at: request.revision, of: request.list, hold, to: request.request)
            case .read(let read): start(read) { $0.read($1, $2) }
            }
        }
    }

    func read(_ task: ReadRevision, _ result: Result<Hand, StoreError>) {
        let waiting = past.read(task, try? result.get())
        if let first = waiting.first {
            let items = (try? result.get())?.count ?? 0
            // The number of commits since a snapshot is unknown: half the way between two, on average.
            let commits = min(task.revision, limits.snapshotStride(items: items)) / 2
            charge(first.request.connection, work: Price.replay(items, commits: commits))
        }
        for (hold, request) in waiting where connections[request.connection]?.isEnding == false {
            switch result {
            case .success(let hand): give(hand, at: request.revision, of: request.list, hold, to: request.request)
            case .failure(let error):
                refuse(request.request.id, error)
                end(request.connection)
            }
        }
    }

    /// Closes connections that read a past state too slowly while others wait for theirs.
    func closeStalled() {
        for connection in Array(connections) {
            let transfers = connection.outbox.transfers
            guard let transfer = transfers.first, transfers.contains(where: \.isPast) else { continue }
            // A transfer in front of the past state holds it up.
            let stalled = transfer.stalled(now: now, isExcused: connection.isSlowed)
            guard past.isAwaited, stalled >= limits.stallDeadline else { continue }
            let text = "you read too little of a past revision for \(stalled / 1_000) s, and others wait for theirs"
            fail(connection, .idleTimeout, text, retryAfter: 1_000)
        }
    }
}

package struct MakeExcerpt: Sendable {
    package typealias Answer = (frame: [UInt8], entries: Int)

    let id: RequestID
    let hand: Hand
    let revision: Int
    let logID: UInt64
    let asked: UpMessage.ExcerptRequest
    let bytes: Int

    /// The work of finding the items.
    var search: Int {
        let ids = asked.selections.count { if case .ids = $0 { true } else { false } }
        let searched = ids == 0 ? 0 : Price.search(max(0, hand.count - asked.start), ranges: ids)
        return asked.selections.count * Price.selection + searched
    }

    /// An upper bound of all work for the excerpt.
    var atMost: Int {
        let items = asked.selections.reduce(0) { sum, selection in
            switch selection {
            case .positions(_, let count): sum + min(count, hand.count)
            case .ids: sum
            }
        }
        return search + Price.entries(items, bytes: 0)
    }

    /// Returns the answer's frame. The frame is made here, because making it takes long.
    func run() -> Answer {
        let excerpt = hand.excerpt(asked.selections, from: asked.start, about: bytes, logID: logID, revision: revision)
        return (DownMessage.excerpt(request: id.request, excerpt).frame, excerpt.entries.count)
    }
}
