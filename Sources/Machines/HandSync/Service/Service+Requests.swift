import HandCore
import HandWire

/// A request of a client.
struct RequestID: Sendable {
    let connection: ConnectionID
    /// The client's number for it, which the answer repeats.
    let request: UInt64

    init(_ connection: Connection, _ request: UInt64) {
        self.connection = connection.id
        self.request = request
    }
}

/// Requests that the store answers. Meanwhile the client's other messages wait.
extension Service {
    /// Ends a request: `body` tells the client the answer, or the client is told why there is none.
    fileprivate func answer<Answer>(_ id: RequestID, _ result: Result<Answer, StoreError>, _ body: (Answer) -> Void) {
        switch result {
        case .success(let answer): body(answer)
        case .failure(let error): refuse(id, error)
        }
        end(id.connection)
    }

    func create(_ name: String, _ rules: Rules, _ connection: Connection, _ request: UInt64) {
        if let problem = ListName.problem(withNew: name) { return refuse(connection, request, .badListName, problem) }
        if rules.maximumCount == 0 {
            return refuse(connection, request, .badRules, "a list must have room for at least 1 item")
        }
        var rules = rules
        // Who asks for the default has no wish.
        if rules.maximumSize == Rules.defaultSize { rules.maximumSize = min(rules.maximumSize, limits.itemBytes) }
        if rules.maximumSize > limits.itemBytes {
            let message =
                "this server takes items of at most \(limits.itemBytes) bytes: choose that size or a smaller one"
            return refuse(connection, request, .badRules, message)
        }
        if storeSize.isFull(limits) {
            let text = "this server keeps at most \(limits.storeBytes) bytes, and is full"
            return refuse(connection, request, .tooManyLists, text)
        }
        let logID = LogID.new(using: &random)
        charge(connection, work: Price.transaction)
        begin(connection)
        writer.jobs.append(
            CreateList(
                id: RequestID(connection, request), name: name, rules: rules, logID: logID,
                deckSeed: rules.hasDeck ? random.next() : nil, owner: connection.account?.user, limits: limits,
                requester: connection.requester))
    }

    func lists(after name: String, _ connection: Connection, _ request: UInt64) {
        begin(connection)
        readLists(after: name, connection, RequestID(connection, request))
    }

    /// Reads a page of lists. If the client may not read all lists, only those on which it has a role are looked up.
    private func readLists(after name: String, _ connection: Connection, _ id: RequestID) {
        let mine = connection.access.everywhere >= .read ? nil : connection.access.readable(after: name)
        charge(connection, work: connection.access.lists.count)
        start(ReadLists(id: id, after: name, page: limits.listsPage, mine: mine))
    }

    fileprivate func read(_ task: ReadLists, _ lists: ArraySlice<StoredList>, upTo last: String?) {
        let count = task.mine.map { min($0.count, task.page) } ?? lists.count
        charge(task.id.connection, work: count * Price.list)
        guard let connection = connections[task.id.connection] else { return }
        let entries = lists.filter { connection.access.role(on: $0) >= .read }.map(DownMessage.ListEntry.init)
        // If no list has any of the names, this page is empty, but the next one may not be.
        if entries.isEmpty, let last, !connection.isEnding { return readLists(after: last, connection, task.id) }
        send(.lists(request: task.id.request, entries, hasMore: last != nil), to: connection)
        end(connection)
    }

    func deletedLists(before: UInt64?, _ connection: Connection, _ request: UInt64) {
        let mine = connection.access.restorableLists
        charge(connection, work: connection.access.deleted.count)
        if mine?.isEmpty == true {
            return send(.deletedLists(request: request, [], hasMore: false), to: connection)
        }
        begin(connection)
        start(
            ReadDeleted(
                id: RequestID(connection, request), before: before ?? .max, page: limits.listsPage, mine: mine,
                now: environment.wallClock, kept: retention.deleted))
    }

    func history(of name: String, from: Int, limit: Int, _ connection: Connection, _ request: UInt64) {
        begin(connection)
        start(
            ReadHistory(
                id: RequestID(connection, request), name: name, from: from, most: min(limit, limits.historyCommits),
                bytes: limits.frameBytes / 2, access: connection.access))
    }
}

extension DownMessage.ListEntry {
    fileprivate init(_ list: StoredList) {
        self.init(name: list.name, count: list.count, revision: list.revision, rules: list.rules)
    }
}

private struct CreateList: WriteJob {
    let id: RequestID
    let name: String
    let rules: Rules
    let logID: UInt64
    let deckSeed: UInt64?
    let owner: String?
    let limits: Limits
    let requester: Requester

    /// Returns why there is no room for the list; nil if it is made.
    func run(on store: any CommitStore) throws -> String? {
        // Deleted lists count. If there is no room, the list that was deleted first goes.
        while try store.listCount(of: nil) >= limits.lists {
            guard try store.purgeOldest(of: nil) else {
                return "there is no room for another list: this server keeps at most \(limits.lists)"
            }
        }
        while let owner, try store.listCount(of: owner) >= limits.userLists {
            guard try store.purgeOldest(of: owner) else {
                return
                    "there is no room for another list: this server keeps at most \(limits.userLists) of one user. Delete one first"
            }
        }
        _ = try store.create(name, rules: rules, logID: logID, deckSeed: deckSeed, owner: owner)
        return nil
    }

    func wrote(_ answer: Result<String?, StoreError>, in service: Service) {
        service.answer(id, answer) { refusal in
            if let refusal {
                let error = DownMessage.error(code: .tooManyLists, request: id.request, retryAfter: 0, message: refusal)
                return service.send(error, to: id.connection)
            }
            service.environment.called(logID, name)
            service.environment.note(.created(list: name, by: requester))
            service.send(.done(request: id.request), to: id.connection)
        }
    }
}

private struct ReadLists: ServiceTask {
    let id: RequestID
    let after: String
    let page: Int
    /// The only lists that the client may read; nil if it may read all.
    let mine: [String]?

    /// Returns a page of lists, and the name with which it ends if there are more.
    func run(on store: any CommitStore) throws -> (ArraySlice<StoredList>, String?) {
        guard let mine else {
            let lists = try store.lists(after: after, limit: page + 1)
            return (lists.prefix(page), lists.count > page ? lists[page - 1].name : nil)
        }
        let found = try mine.prefix(page).compactMap { try store.list(named: $0) }
        return (found[...], mine.count > page ? mine[page - 1] : nil)
    }

    func finished(_ answer: Result<Answer, StoreError>, in service: Service) {
        switch answer {
        case .success(let (lists, last)): service.read(self, lists, upTo: last)
        case .failure(let error):
            service.refuse(id, error)
            service.end(id.connection)
        }
    }
}

private struct ReadDeleted: ServiceTask {
    let id: RequestID
    let before: UInt64
    let page: Int
    /// The only lists that the client may undelete; nil if it may undelete all.
    let mine: [UInt32]?
    let now: UInt64
    /// Deleted lists of that age are not kept any longer.
    let kept: UInt64

    func run(on store: any CommitStore) throws -> [DeletedList] {
        try store.deletedLists(before: before, limit: page + 1, named: nil, among: mine)
    }

    func finished(_ answer: Result<[DeletedList], StoreError>, in service: Service) {
        service.answer(id, answer) { lists in
            service.charge(id.connection, work: (1 + lists.count) * Price.list)
            // The lists that are not kept any longer were deleted before the others.
            let entries = lists.prefix(page).filter { $0.age < kept }.map { deleted in
                DownMessage.DeletedEntry(
                    deletion: deleted.deletion, list: DownMessage.ListEntry(deleted.list), person: deleted.person,
                    time: deleted.time, keptUntil: now + kept - deleted.age)
            }
            let hasMore = lists.count > page && !entries.isEmpty
            service.send(.deletedLists(request: id.request, entries, hasMore: hasMore), to: id.connection)
        }
    }
}

private struct ReadHistory: ServiceTask {
    let id: RequestID
    let name: String
    let from: Int
    let most: Int
    let bytes: Int
    let access: Access

    /// Returns the answer's frame. It is made here, because that takes long.
    func run(on store: any CommitStore) throws -> (frame: [UInt8], rows: Int, commits: Int) {
        guard let list = try store.list(named: name), access.role(on: list) >= .read else {
            throw StoreError.noSuchList(name)
        }
        let frames = try store.frames(of: list.number, after: max(0, from - 1), about: min(bytes, most * 512))
        let commits = try frames.prefix(most).map { try $0.commit() }
        let people = try store.people(Set(commits.map(\.author)).sorted())
        let frame = DownMessage.history(request: id.request, commits, people: people).frame
        return (frame, frames.count, commits.count)
    }

    func finished(_ answer: Result<Answer, StoreError>, in service: Service) {
        service.answer(id, answer) { frame, rows, commits in
            let work = Price.commits(rows, decoded: commits, bytes: frame.count)
            service.charge(id.connection, work: Price.list + work)
            guard let connection = service.connections[id.connection] else { return }
            connection.enqueue(FrameRun(frame))
            service.mark(connection)
        }
    }
}
