/// The cursors of one connection, in the order of subscribing. There are few, so the search is linear.
struct CursorTable {
    private var cursors: [Connection.Cursor] = []

    var count: Int { cursors.count }
    var indices: Range<Int> { cursors.indices }
    var lists: [UInt64] { cursors.map(\.hosted.list.number) }

    subscript(at index: Int) -> Connection.Cursor {
        get { cursors[index] }
        _modify { yield &cursors[index] }
    }

    func index(of list: UInt64) -> Int? { cursors.firstIndex { $0.hosted.list.number == list } }

    /// The list of that number, if it is followed.
    func hostedList(of list: UInt64) -> HostedList? { index(of: list).map { cursors[$0].hosted } }

    /// Whether nothing that the connection has submitted to a list has been decided yet.
    func isFirstSubmission(to list: UInt64) -> Bool { index(of: list).map { cursors[$0].isFirstSubmission } ?? true }

    /// Whether there is one cursor, and it stands at `revision`.
    func isOne(at revision: Int) -> Bool { cursors.count == 1 && cursors[0].revision == revision }

    mutating func submissionDecided(in list: UInt64) {
        if let index = index(of: list) { cursors[index].isFirstSubmission = false }
    }

    /// The cursor in a list.
    subscript(list: UInt64) -> Connection.Cursor? {
        get { index(of: list).map { cursors[$0] } }
        set {
            switch (index(of: list), newValue) {
            case (let index?, let cursor?): cursors[index] = cursor
            case (nil, let cursor?): cursors.append(cursor)
            case (let index?, nil): cursors.remove(at: index)
            case (nil, nil): break
            }
        }
    }

    mutating func remove(_ list: UInt64) -> Connection.Cursor? { index(of: list).map { cursors.remove(at: $0) } }
}
