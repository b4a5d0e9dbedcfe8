import HandWire

/// The cursors of one connection, in the order of subscribing. There are few, so the search is linear.
struct CursorTable {
    /// Stored separately from the others: nearly all connections follow only one list, and then a delivery need not
    /// fetch any other memory.
    private var first: Connection.Cursor?
    private var others: [Connection.Cursor] = []

    var count: Int { first == nil ? 0 : 1 + others.count }
    var indices: Range<Int> { 0..<count }
    var lists: [ListNumber] { indices.map { self[at: $0].hosted.list.number } }

    /// - Precondition: `0 ≤ index < count`.
    subscript(at index: Int) -> Connection.Cursor {
        get {
            if index > 0 { return others[index - 1] }
            guard let first else { preconditionFailure("there is no cursor") }
            return first
        }
        _modify {
            if index > 0 {
                yield &others[index - 1]
            } else {
                guard var cursor = first.take() else { preconditionFailure("there is no cursor") }
                defer { first = cursor }
                yield &cursor
            }
        }
    }

    // Uses optional chaining, which does not copy the cursor, because this is called for each submission.
    private func isFirst(_ list: ListNumber) -> Bool { first?.hosted.list.number == list }

    func index(of list: ListNumber) -> Int? {
        if isFirst(list) { return 0 }
        return others.firstIndex { $0.hosted.list.number == list }.map { $0 + 1 }
    }

    /// The list of that number, if it is followed.
    func hostedList(of list: ListNumber) -> ListMachine? {
        isFirst(list) ? first?.hosted : others.first { $0.hosted.list.number == list }?.hosted
    }

    /// Whether no submission of the connection to a list has been decided yet.
    func isFirstSubmission(to list: ListNumber) -> Bool {
        isFirst(list)
            ? first?.isFirstSubmission ?? true
            : others.first { $0.hosted.list.number == list }?.isFirstSubmission ?? true
    }

    mutating func submissionDecided(in list: ListNumber) {
        if isFirst(list) {
            first?.isFirstSubmission = false
        } else if let index = index(of: list) {
            self[at: index].isFirstSubmission = false
        }
    }

    // MARK: One list

    /// Whether exactly one list is followed, all of it was sent, and its cursor is at `revision`.
    func isOne(at revision: Int) -> Bool {
        guard others.isEmpty, let first else { return false }
        return first.revision == revision && first.snapshot == nil
    }

    /// Moves the cursor of the only list.
    mutating func moveOne(to revision: Int) { first?.revision = revision }

    // MARK: Subscribing

    /// The cursor in a list.
    subscript(list: ListNumber) -> Connection.Cursor? {
        get { index(of: list).map { self[at: $0] } }
        set {
            switch (index(of: list), newValue) {
            case (let index?, let cursor?): self[at: index] = cursor
            case (nil, let cursor?): if first == nil { first = cursor } else { others.append(cursor) }
            case (_?, nil): _ = remove(list)
            case (nil, nil): break
            }
        }
    }

    mutating func remove(_ list: ListNumber) -> Connection.Cursor? {
        guard let index = index(of: list) else { return nil }
        if index > 0 { return others.remove(at: index - 1) }
        let removed = first.take()
        if !others.isEmpty { first = others.removeFirst() }
        return removed
    }
}
