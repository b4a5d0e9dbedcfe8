import HandCore
import HandWire

/// A request of a client.
struct RequestID: Sendable {
    let connection: ConnectionID
    /// The client's number for the request; the answer repeats the number.
    let request: RequestNumber

    init(_ connection: Connection, _ request: RequestNumber) {
        self.connection = connection.id
        self.request = request
    }
}

/// Requests that the store answers. Meanwhile the client's other messages wait.
extension ServerMachine {
    /// Ends a request: `body` tells the client the answer, or the client is told why there is none.
    private func answer<Answer>(_ id: RequestID, _ result: Result<Answer, StoreError>, _ body: (Answer) -> Void) {
        switch result {
        case .success(let answer): body(answer)
        case .failure(let error): refuse(id, error)
        }
        end(id.connection)
    }

    func create(_ name: String, _ rules: Rules, _ connection: Connection, _ request: RequestNumber) {
        if let problem = ListName.problem(with: name) { return refuse(connection, request, .badListName, problem) }
        if let problem = rules.contradiction { return refuse(connection, request, .badRules, problem) }
        var rules = rules
        // A client that asks for the default size has no wish of its own.
        if rules.maximumSize == Rules.defaultSize { rules.maximumSize = min(rules.maximumSize, limits.itemBytes) }
        if rules.maximumSize > limits.itemBytes {
            let message =
                "this server takes items of at most \(limits.itemBytes) bytes: choose that size or a smaller one"
            return refuse(connection, request, .badRules, message)
        }
        if upkeep.isFull {
            let text = "this server keeps at most \(limits.storeBytes) bytes, and is full"
            return refuse(connection, request, .tooManyLists, text)
        }
        let logID = LogID.new(using: &random)
        charge(connection, work: Price.transaction)
        begin(connection)
        let task = CreateList(
            id: RequestID(connection, request), name: name, rules: rules, logID: logID,
            deckSeed: rules.hasDeck ? random.next() : nil, owner: connection.account?.user, limits: limits,
            requester: connection.requester)
        writer.add(StoreTask(task) { $0.created($1, $2) })
    }

    func lists(after name: String, _ connection: Connection, _ request: RequestNumber) {
        begin(connection)
        readLists(after: name, connection, RequestID(connection, request))
    }

    /// Reads a page of lists. If the client may not read all lists, only those on which it has a role are looked up.
    private func readLists(after name: String, _ connection: Connection, _ id: RequestID) {
        let mine = connection.access.everywhere >= .read ? nil : connection.access.readable(after: name)
        charge(connection, work: connection.access.lists.count)
        start(ReadLists(id: id, after: name, page: limits.listsPage, mine: mine)) { $0.read($1, $2) }
    }

    func read(_ task: ReadLists, _ answer: Result<ReadLists.Answer, StoreError>) {
        switch answer {
        case .success(let (lists, last)): read(task, lists, upTo: last)
        case .failure(let error):
            refuse(task.id, error)
            end(task.id.connection)
        }
    }

    private func read(_ task: ReadLists, _ lists: ArraySlice<StoredList>, upTo last: String?) {
        let count = task.mine.map { min($0.count, task.page) } ?? lists.count
        charge(task.id.connection, work: count * Price.list)
        guard let connection = connections[task.id.connection] else { return }
        let entries = lists.filter { connection.access.role(on: $0) >= .read }.map(DownMessage.ListEntry.init)
        // If no list has any of the names, this page is empty, but the next one may not be.
        if entries.isEmpty, let last, !connection.isEnding { return readLists(after: last, connection, task.id) }
        send(.lists(request: task.id.request, entries, hasMore: last != nil), to: connection)
        end(connection)
    }

    func created(_ task: CreateList, _ result: Result<CreateList.Answer, StoreError>) {
        answer(task.id, result) { outcome in
            noteRemoved(outcome.removed)
            if let refusal = outcome.refusal {
                return send(
                    .error(code: .tooManyLists, request: task.id.request, retryAfter: 0, message: refusal),
                    to: task.id.connection)
            }
            emit(.called(task.logID, task.name))
            note(.created(list: task.name, by: task.requester))
            send(.done(request: task.id.request), to: task.id.connection)
        }
    }

    func deletedLists(before: UInt64?, _ connection: Connection, _ request: RequestNumber) {
        let mine = connection.access.restorableLists
        charge(connection, work: connection.access.deleted.count)
        if mine?.isEmpty == true {
            return send(.deletedLists(request: request, [], hasMore: false), to: connection)
        }
        begin(connection)
        let task = ReadDeleted(
            id: RequestID(connection, request), before: before ?? .max, page: limits.listsPage, mine: mine,
            now: wallClock, kept: upkeep.retention.deleted)
        start(task) { $0.read($1, $2) }
    }

    func read(_ task: ReadDeleted, _ result: Result<[DeletedList], StoreError>) {
        answer(task.id, result) { lists in
            charge(task.id.connection, work: (1 + lists.count) * Price.list)
            // The lists that are not kept any longer were deleted before the others.
            let entries = lists.prefix(task.page).filter { $0.age < task.kept }.map { deleted in
                DownMessage.DeletedEntry(
                    deletion: deleted.deletion, list: DownMessage.ListEntry(deleted.list), person: deleted.person,
                    time: deleted.time, keptUntil: task.now + task.kept - deleted.age)
            }
            let hasMore = lists.count > task.page && !entries.isEmpty
            send(.deletedLists(request: task.id.request, entries, hasMore: hasMore), to: task.id.connection)
        }
    }

    func history(of name: String, from: Int, limit: Int, _ connection: Connection, _ request: RequestNumber) {
        begin(connection)
        let task = ReadHistory(
            id: RequestID(connection, request), name: name, from: from, limit: min(limit, limits.historyCommits),
            bytes: limits.frameBytes / 2, access: connection.access)
        start(task) { $0.read($1, $2) }
    }

    func read(_ task: ReadHistory, _ result: Result<ReadHistory.Answer, StoreError>) {
        answer(task.id, result) { frame, rows, commits in
            let work = Price.commits(rows, decoded: commits, bytes: frame.count)
            charge(task.id.connection, work: Price.list + work)
            guard let connection = connections[task.id.connection] else { return }
            connection.enqueue(FrameRun(frame))
            mark(connection)
        }
    }
}

extension DownMessage.ListEntry {
    fileprivate init(_ list: StoredList) {
        self.init(name: list.name, count: list.count, revision: list.revision, rules: list.rules)
    }
}

package struct CreateList: StoreQuestion {
    /// Why there is no room for the list, nil if it is made; and the deleted lists that were removed to make room.
    package typealias Answer = (refusal: String?, removed: [String])

    let id: RequestID
    let name: String
    let rules: Rules
    let logID: UInt64
    let deckSeed: UInt64?
    let owner: String?
    let limits: Limits
    let requester: Requester

    func run(on store: any CommitStore) throws -> Answer {
        // What is refused removes nothing.
        if try store.list(named: name) != nil { throw StoreError.listExists(name) }
        var removed: [String] = []
        // Deleted lists count. If there is no room, the list that was deleted first goes.
        while try store.listCount(of: nil) >= limits.lists {
            guard let name = try store.purgeOldest(of: nil) else {
                return ("there is no room for another list: this server keeps at most \(limits.lists)", removed)
            }
            removed.append(name)
        }
        while let owner, try store.listCount(of: owner) >= limits.userLists {
            guard let name = try store.purgeOldest(of: owner) else {
                let most = "this server keeps at most \(limits.userLists) of one user"
                return ("there is no room for another list: \(most). Delete one first", removed)
            }
            removed.append(name)
        }
        _ = try store.create(name, rules: rules, logID: logID, deckSeed: deckSeed, owner: owner)
        return (nil, removed)
    }
}

package struct ReadLists: StoreQuestion {
    package typealias Answer = (ArraySlice<StoredList>, String?)

    let id: RequestID
    let after: String
    let page: Int
    /// The only lists that the client may read; nil if it may read all.
    let mine: [String]?

    /// Returns a page of lists, and the name with which it ends if there are more.
    func run(on store: any CommitStore) throws -> Answer {
        guard let mine else {
            let lists = try store.lists(after: after, limit: page + 1)
            return (lists.prefix(page), lists.count > page ? lists[page - 1].name : nil)
        }
        let found = try mine.prefix(page).compactMap { name in
            // A damaged list does not hide the others.
            do { return try store.list(named: name) } catch StoreError.damaged { return nil }
        }
        return (found[...], mine.count > page ? mine[page - 1] : nil)
    }
}

package struct ReadDeleted: StoreQuestion {
    let id: RequestID
    let before: UInt64
    let page: Int
    /// The only lists that the client may undelete; nil if it may undelete all.
    let mine: [UInt32]?
    let now: UInt64
    /// Deleted lists of at least that age are not kept any longer.
    let kept: UInt64

    func run(on store: any CommitStore) throws -> [DeletedList] {
        try store.deletedLists(before: before, limit: page + 1, named: nil, among: mine)
    }
}

package struct ReadHistory: StoreQuestion {
    package typealias Answer = (frame: [UInt8], rows: Int, commits: Int)

    let id: RequestID
    let name: String
    let from: Int
    let limit: Int
    let bytes: Int
    let access: Access

    /// Returns the answer's frame. The frame is made here, because making it takes long.
    func run(on store: any CommitStore) throws -> Answer {
        guard let list = try store.list(named: name), access.role(on: list) >= .read else {
            throw StoreError.noSuchList(name)
        }
        let frames = try store.frames(of: list.number, after: max(0, from - 1), about: min(bytes, limit * 512))
        let commits = try frames.prefix(limit).map { try $0.commit() }
        let people = try store.people(Set(commits.map(\.author)).sorted())
        let frame = DownMessage.history(request: id.request, commits, people: people).frame
        return (frame, frames.count, commits.count)
    }
}
