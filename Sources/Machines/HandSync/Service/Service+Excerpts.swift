import HandCore
import HandWire

// Some items of a list for a client that does not have it.

extension Service {
    /// Answers from the list in memory, which is loaded if need be: who asks is likely to edit it next. A revision of long ago
    /// is read from the store.
    func excerpt(_ asked: UpMessage.ExcerptRequest, _ connection: Connection) {
        begin(connection)
        withRoom(named: asked.name) { [unowned self] result in
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
        var excerpt = Excerpt(
            logID: room.authority.logID, revision: revision, count: hand.count, rules: hand.rules)
        let most = min(limits.answerBytes, limits.frameBytes) / 2
        (excerpt.entries, excerpt.isCut) = hand.entries(asked.selections, from: asked.start, about: most)
        send(.excerpt(request: asked.request, excerpt), to: connection)
    }
}

extension Room {
    /// The list as it was at a revision, or as it is; nil if only the store can tell.
    fileprivate func hand(at revision: Int?) -> Hand? {
        revision.map { authority.hand(at: $0) } ?? authority.hand
    }
}

extension Hand {
    /// The items that are selected, from a position on, until they take about that many bytes; whether there are more.
    ///
    /// O(log n) for each run of positions, O(n) if ids are given: those are not indexed.
    func entries(
        _ selections: [Excerpt.Selection], from start: Int, about bytes: Int
    ) -> (entries: [Excerpt.Entry], isCut: Bool) {
        var runs: [Range<Int>] = []
        var ids: [ClosedRange<ItemID>] = []
        for selection in selections {
            switch selection {
            case .positions(let first, let number): runs.append(first..<first + number)
            case .ids(let range): ids.append(range)
            }
        }
        let end = ids.isEmpty ? count : addPositions(of: ids.joined, from: start, to: &runs)
        var entries: [Excerpt.Entry] = []
        var (left, next) = (bytes, start)
        for run in runs.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            let range =
                Swift.max(next, run.lowerBound)..<Swift.max(next, run.lowerBound, Swift.min(run.upperBound, end))
            for (position, item) in zip(range, packedItems(from: Swift.min(range.lowerBound, count))) {
                if left <= 0 { return (entries, true) }
                entries.append(Excerpt.Entry(position: position, item: item.item))
                left -= 16 + item.withContentBytes { $0.count }
            }
            next = range.upperBound
        }
        return (entries, end < count && start < count)
    }

    /// Adds where items of those ids stand. Returns how far it looked: to the end, unless it found more than anybody needs.
    private func addPositions(
        of ids: [ClosedRange<ItemID>], from start: Int, to runs: inout [Range<Int>]
    ) -> Int {
        guard start < count else { return count }
        var found = 0
        for (position, item) in zip(start..., packedItems(from: start)) where ids.contain(item.id) {
            if found == Limits.selections { return position }
            runs.append(position..<position + 1)
            found += 1
        }
        return count
    }
}

extension [ClosedRange<ItemID>] {
    /// In order and without overlaps.
    fileprivate var joined: [ClosedRange<ItemID>] {
        var all: [ClosedRange<ItemID>] = []
        for range in sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = all.last, range.lowerBound <= last.upperBound {
                all[all.count - 1] = last.lowerBound...Swift.max(last.upperBound, range.upperBound)
            } else {
                all.append(range)
            }
        }
        return all
    }

    /// Whether one of them contains the id. O(log ranges). They are in order and do not overlap.
    fileprivate func contain(_ id: ItemID) -> Bool {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle].upperBound < id { low = middle + 1 } else { high = middle }
        }
        return low < count && self[low].contains(id)
    }
}
