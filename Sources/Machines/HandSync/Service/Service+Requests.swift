import HandCore
import HandWire

extension Service {
    func create(_ name: String, _ rules: Rules, _ connection: Connection, _ request: UInt64) {
        if let problem = ListName.problem(withNew: name) { return refuse(connection, request, .badListName, problem) }
        if rules.maximumCount == 0 || rules.maximumSize > limits.itemBytes {
            let message = "a list holds at least 1 item, and an item at most \(limits.itemBytes) bytes"
            return refuse(connection, request, .badRules, message)
        }
        if storeSize.isFull(limits) {
            let text = "this server keeps \(limits.storeBytes) bytes, and has them"
            return refuse(connection, request, .tooManyLists, text)
        }
        let logID = LogID.new(using: &random)
        let seed = rules.hasDeck ? random.next() : nil
        let (limits, owner) = (limits, connection.account?.user)
        begin(connection)
        writeAlone { store throws -> String? in
            // Deleted lists count. Where there is no room, the one that was deleted first goes.
            while try store.listCount(of: nil) >= limits.lists {
                guard try store.giveUpOldest(of: nil) else { return "this server keeps \(limits.lists) lists" }
            }
            while let owner, try store.listCount(of: owner) >= limits.userLists {
                guard try store.giveUpOldest(of: owner) else {
                    return "this server keeps \(limits.userLists) lists of one user: delete one first"
                }
            }
            _ = try store.create(name, rules: rules, logID: logID, deckSeed: seed, owner: owner)
            return nil
        } then: { [unowned self] result in
            defer { end(connection) }
            switch result {
            case .failure(let error): refuse(connection, request, error)
            case .success(let refusal?): refuse(connection, request, .tooManyLists, refusal)
            case .success(nil):
                world.called(logID, name)
                world.note(.created(list: name, by: connection))
                send(.done(request: request), to: connection)
            }
        }
    }

    func lists(after name: String, _ connection: Connection, _ request: UInt64) {
        begin(connection)
        readLists(after: name, connection, request)
    }

    /// Who may not read all lists has a role on some, and only those are looked for.
    private func readLists(after name: String, _ connection: Connection, _ request: UInt64) {
        let page = limits.listsPage
        let mine = connection.access.everywhere >= .read ? nil : connection.access.readable(after: name)
        ask { store in
            guard let mine else {
                let lists = try store.lists(after: name, limit: page + 1)
                return (lists.prefix(page), lists.count > page ? lists[page - 1].name : nil)
            }
            let found = try mine.prefix(page).compactMap { try store.list(named: $0) }
            return (found[...], mine.count > page ? mine[page - 1] : nil)
        } then: { [unowned self] (result: Result<(ArraySlice<StoredList>, String?), StoreError>) in
            switch result {
            case .failure(let error): refuse(connection, request, error)
            case .success((let lists, let last)):
                charge(connection, work: (mine.map { min($0.count, page) } ?? lists.count) * Price.list)
                let entries = lists.filter { connection.access.role(on: $0) >= .read }.map {
                    DownMessage.ListEntry(name: $0.name, count: $0.count, revision: $0.revision, rules: $0.rules)
                }
                // A page of names that no list has says nothing; the next one may.
                if entries.isEmpty, let last, !connection.isEnding {
                    return readLists(after: last, connection, request)
                }
                send(.lists(request: request, entries, hasMore: last != nil), to: connection)
            }
            end(connection)
        }
    }

    func history(of name: String, from: Int, limit: Int, _ connection: Connection, _ request: UInt64) {
        let (most, bytes) = (min(limit, limits.historyCommits), limits.frameBytes / 2)
        let access = connection.access
        begin(connection)
        ask { store throws -> (frame: [UInt8], commits: Int) in
            guard let list = try store.list(named: name), access.role(on: list) >= .read else {
                throw StoreError.noSuchList(name)
            }
            let frames = try store.frames(of: list.number, after: max(0, from - 1), about: min(bytes, most * 4096))
            let commits = try frames.prefix(most).map { try $0.commit() }
            let people = try store.people(Set(commits.map(\.author)).sorted())
            // Made here, so that nobody else waits for it.
            return (DownMessage.history(request: request, commits, people: people).frame, commits.count)
        } then: { [unowned self] result in
            defer { end(connection) }
            switch result {
            case .failure(let error): refuse(connection, request, error)
            case .success((let frame, let commits)):
                charge(connection, work: Price.list + Price.commits(commits, bytes: frame.count))
                connection.enqueue(FrameRun(frame))
                mark(connection)
            }
        }
    }

    func fetch(_ name: String, at revision: Int?, _ connection: Connection, _ request: UInt64) {
        withState(of: name, at: revision, connection, request) { [unowned self] hosted, state in
            defer { end(connection) }
            let (hand, at) = (state.hand, state.revision)
            send(
                .state(request: request, revision: at, count: hand.count, digest: hand.digest, rules: hand.rules),
                to: connection)
            if hand.isEmpty { return }
            connection.transfers.append(Connection.Transfer(request: request, hand: hand, hold: state.hold))
        }
    }
}
