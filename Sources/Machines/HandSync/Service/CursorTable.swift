/// The cursors of one connection by list, in the order of subscribing. There are few, so the search is linear.
struct CursorTable {
    private var entries: [(list: UInt64, cursor: Connection.Cursor)] = []

    var count: Int { entries.count }
    var indices: Range<Int> { entries.indices }
    var lists: [UInt64] { entries.map(\.list) }

    subscript(at index: Int) -> Connection.Cursor {
        get { entries[index].cursor }
        _modify { yield &entries[index].cursor }
    }

    func index(of list: UInt64) -> Int? { entries.firstIndex { $0.list == list } }

    /// The list of that number, if it is followed.
    func hostedList(of list: UInt64) -> HostedList? { index(of: list).map { entries[$0].cursor.hosted } }

    /// Whether nothing that the connection has submitted to a list has been decided yet.
    func isFirstSubmission(to list: UInt64) -> Bool {
        index(of: list).map { entries[$0].cursor.isFirstSubmission } ?? true
    }

    /// Whether there is one list, and the next commit of it to be sent is that after `revision`.
    func areOne(at revision: Int) -> Bool { entries.count == 1 && entries[0].cursor.revision == revision }

    mutating func submissionDecided(in list: UInt64) {
        if let index = index(of: list) { entries[index].cursor.isFirstSubmission = false }
    }

    /// The cursor in a list.
    subscript(list: UInt64) -> Connection.Cursor? {
        get { entries.first { $0.list == list }?.cursor }
        set {
            let index = index(of: list)
            switch (index, newValue) {
            case (let index?, let cursor?): entries[index].cursor = cursor
            case (nil, let cursor?): entries.append((list, cursor))
            case (let index?, nil): entries.remove(at: index)
            case (nil, nil): break
            }
        }
    }

    mutating func remove(_ list: UInt64) -> Connection.Cursor? {
        guard let index = entries.firstIndex(where: { $0.list == list }) else { return nil }
        return entries.remove(at: index).cursor
    }
}
