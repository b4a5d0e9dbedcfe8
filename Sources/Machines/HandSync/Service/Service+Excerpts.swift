import HandCore
import HandWire

/// A request for a list, or some items of it, at any revision, by a client that does not have it.
struct StateRequest {
    enum Wish {
        case allItems
        case excerpt(UpMessage.ExcerptRequest)
    }

    let id: RequestID
    let name: String
    /// Nil for the newest one.
    let revision: Int?
    let wish: Wish
}

extension Service {
    func fetch(_ name: String, at revision: Int?, _ connection: Connection, _ request: UInt64) {
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
    func loaded(_ result: Result<HostedList, StoreError>, for request: StateRequest) {
        switch result {
        case .failure(let error):
            refuse(request.id, error)
            end(request.id.connection)
        case .success(let hosted):
            hosted.idleSince = environment.now
            let revision = request.revision ?? hosted.authority.revision
            // A forgotten revision is not sent, even though it may still be in memory.
            if revision >= hosted.storeFloor, let hand = hosted.authority.hand(at: revision) {
                return give(hand, at: revision, of: hosted.reference, to: request)
            }
            past.queue.append(PastRequest(list: hosted.reference, revision: revision, request: request))
            servePast()
        }
    }

    /// - Parameter hold: keeps a past state; nil for a state that costs nothing to keep.
    func give(
        _ hand: Hand, at revision: Int, of list: HostedList.Reference, _ hold: PastHold? = nil, to request: StateRequest
    ) {
        guard let connection = connections[request.id.connection] else { return }
        // In the meantime, the list may have gone, or the client may have lost the right to read it.
        guard let hosted = hosted(list), connection.access.role(on: hosted.list) >= .read else {
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
            let most = min(limits.answerBytes, limits.frameBytes) / 2
            let logID = hosted.authority.logID
            let task = MakeExcerpt(
                id: request.id, hand: hand, revision: revision, logID: logID, asked: asked, bytes: most)
            charge(connection, work: task.work)
            if task.work <= limits.inlineWork { return task.finished(task.run(), in: self) }
            past.excerpts[connection.id] = hold
            start(task)
        }
    }
}

private struct MakeExcerpt: ServiceComputation {
    let id: RequestID
    let hand: Hand
    let revision: Int
    let logID: UInt64
    let asked: UpMessage.ExcerptRequest
    let bytes: Int

    /// The search for ids reads all leaves of the list, which takes about a tenth of the time of reading each item.
    var work: Int {
        asked.selections.contains { if case .ids = $0 { true } else { false } } ? hand.count / 10 : 0
    }

    func run() -> Excerpt {
        hand.excerpt(asked.selections, from: asked.start, about: bytes, logID: logID, revision: revision)
    }

    func finished(_ excerpt: Excerpt, in service: Service) {
        let hold = service.past.excerpts.removeValue(forKey: id.connection)
        withExtendedLifetime(hold) {
            service.charge(id.connection, work: excerpt.entries.count)
            service.send(.excerpt(request: id.request, excerpt), to: id.connection)
            service.end(id.connection)
        }
    }
}
