import HandCore
import HandWire

// Some items of a list for a client that does not have it.

extension Service {
    /// Answers from the list in memory, which is loaded if need be: who asks is likely to edit it next. A revision of long ago
    /// is read from the store.
    func excerpt(_ asked: UpMessage.ExcerptRequest, _ connection: Connection) {
        begin(connection)
        withRoom(named: asked.name, for: connection) { [unowned self] result in
            switch result {
            case .failure(let error):
                refuse(connection, asked.request, error)
                end(connection)
            case .success(let room):
                room.idleSince = world.now
                if let hand = room.hand(at: asked.revision) {
                    answer(asked, room, hand, at: asked.revision ?? room.authority.revision, connection)
                    end(connection)
                } else {
                    readExcerpt(asked, room, connection)
                }
            }
        }
    }

    private func readExcerpt(_ asked: UpMessage.ExcerptRequest, _ room: Room, _ connection: Connection) {
        let (number, revision) = (room.list.number, asked.revision ?? room.authority.revision)
        ask { store in
            try store.state(of: number, at: revision)
        } then: { [unowned self] result in
            defer { end(connection) }
            switch result {
            case .failure(let error): refuse(connection, asked.request, error)
            case .success(let hand): answer(asked, room, hand, at: revision, connection)
            }
        }
    }

    private func answer(
        _ asked: UpMessage.ExcerptRequest, _ room: Room, _ hand: Hand, at revision: Int, _ connection: Connection
    ) {
        // The list may be gone by now, or the right to read it.
        if rooms[room.list.number] !== room || connection.access.role(on: room.list.name) < .read {
            return refuse(connection, asked.request, .noSuchList(room.list.name))
        }
        let most = min(limits.answerBytes, limits.frameBytes) / 2
        let excerpt = hand.excerpt(
            asked.selections, from: asked.start, about: most, logID: room.authority.logID, revision: revision)
        // Ids are looked for in all leaves of the list, which takes about a tenth of looking at each item.
        let looksForIDs = asked.selections.contains { if case .ids = $0 { true } else { false } }
        charge(connection, work: excerpt.entries.count + (looksForIDs ? hand.count / 10 : 0))
        send(.excerpt(request: asked.request, excerpt), to: connection)
    }
}

extension Room {
    /// The list as it was at a revision, or as it is; nil if only the store can tell.
    fileprivate func hand(at revision: Int?) -> Hand? {
        revision.map { authority.hand(at: $0) } ?? authority.hand
    }
}
