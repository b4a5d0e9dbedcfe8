import HandCore
import HandWire

extension Service {
    func handle(_ input: Connection.Input, from connection: Connection) {
        switch input {
        case .message(let message): handle(message, from: connection)
        case .body(let bytes): read(bytes, from: connection)
        }
    }

    private func handle(_ message: UpMessage, from connection: Connection) {
        charge(connection, requests: 1)
        guard !connection.isEnding else { return }
        guard isAllowed(message, from: connection) else { return }
        switch message {
        case .subscribe(let subscribe): self.subscribe(connection, subscribe)
        case .unsubscribe(let list): unsubscribe(connection, from: list)
        case .submit(let submission): submit(submission, from: connection)
        case .presence(let list, let focus): move(connection, to: focus, in: list)
        case .create(let request, let name, let rules): create(name, rules, connection, request)
        case .delete(let request, let name): delete(name, connection, request)
        case .rename(let request, let name, let newName): rename(name, to: newName, connection, request)
        case .undelete(let request, let name, let deletion, let newName):
            undelete(name, deletion, as: newName, connection, request)
        case .deletedLists(let request, let before): deletedLists(before: before, connection, request)
        case .lists(let request, let after): lists(after: after, connection, request)
        case .history(let request, let name, let from, let limit):
            history(of: name, from: from, limit: limit, connection, request)
        case .fetch(let request, let name, let revision): fetch(name, at: revision, connection, request)
        case .excerpt(let asked): excerpt(asked, connection)
        case .hello, .ping: break
        }
    }

    // MARK: Subscriptions

    private func subscribe(_ connection: Connection, _ subscribe: UpMessage.Subscribe) {
        begin(connection)
        if subscribe.name.isEmpty { return find(subscribe, connection) }
        withHostedList(named: subscribe.name, for: connection) { [unowned self] in entered($0, connection, subscribe) }
    }

    /// A list that is asked for by its log id, whatever it is called.
    private func find(_ subscribe: UpMessage.Subscribe, _ connection: Connection) {
        let list = LogID.list(subscribe.logID)
        ask { store in
            try store.name(of: list)
        } then: { [unowned self] result in
            switch result {
            case .success(let name?):
                withHostedList(named: name, for: connection) { [unowned self] result in
                    // Meanwhile the name may have become another list's.
                    let isIt = (try? result.get()).map { LogID.isSameList($0.authority.logID, subscribe.logID) }
                    entered(isIt == false ? .failure(.noSuchList("")) : result, connection, subscribe)
                }
            case .success(nil): entered(.failure(.noSuchList("")), connection, subscribe)
            case .failure(let error): entered(.failure(error), connection, subscribe)
            }
        }
    }

    private func entered(
        _ result: Result<HostedList, StoreError>, _ connection: Connection, _ subscribe: UpMessage.Subscribe
    ) {
        switch result {
        case .success(let hosted): enter(hosted, connection, subscribe)
        case .failure(let error):
            if !connection.isEnding { refuse(connection, subscribe.request, error) }
            end(connection)
        }
    }

    /// Lets a connection into a list, once it can be said which of its client's submissions are durable: one that is being
    /// written still may or may not be, and a client that has forgotten it would use its sequence again.
    private func enter(_ hosted: HostedList, _ connection: Connection, _ subscribe: UpMessage.Subscribe) {
        if let author = connection.author, hosted.authority.isPending(author), !connection.isEnding {
            hosted.whenWritten.append { [unowned self] in enter(hosted, connection, subscribe) }
            return
        }
        // While it waited, the list may have been renamed, and its former name be another list's; or it was let go of.
        let isRenamed = !subscribe.name.isEmpty && hosted.list.name != subscribe.name
        if !connection.isEnding, isRenamed || hostedLists[hosted.list.number] !== hosted {
            return self.subscribe(connection, subscribe)
        }
        defer { end(connection) }
        guard !connection.isEnding else { return }
        // The right to read it may be gone by now.
        if connection.access.role(on: hosted.list) < .read {
            return refuse(connection, subscribe.request, .noSuchList(subscribe.name))
        }
        let isNew = connection.cursors[hosted.list.number] == nil
        if isNew && connection.cursors.count >= limits.subscriptions {
            let message = "a connection may follow \(limits.subscriptions) lists"
            return refuse(connection, subscribe.request, .tooManySubscriptions, message)
        }
        if isNew, let account = connection.account, account.subscriptions >= limits.userSubscriptions {
            let message = "your connections may follow \(limits.userSubscriptions) lists together"
            return refuse(connection, subscribe.request, .tooManySubscriptions, message)
        }
        // A list of any length may be followed alone.
        if isNew, let account = connection.account, account.followedItems > 0,
            account.followedItems + hosted.authority.count > limits.userItems
        {
            let message = "the lists that your connections follow may have \(limits.userItems) items together"
            return refuse(connection, subscribe.request, .tooManySubscriptions, message)
        }
        start(connection, in: hosted, subscribe)
    }

    private func start(_ connection: Connection, in hosted: HostedList, _ subscribe: UpMessage.Subscribe) {
        guard let author = connection.author else { return }
        let isNew = connection.cursors[hosted.list.number] == nil
        let start = hosted.start(
            from: subscribe.revision, logID: subscribe.logID, for: author, hasDigest: connection.hasDigest)
        begin(connection, in: hosted, request: subscribe.request, start, from: subscribe.revision)
        if subscribe.name.isEmpty { send(.renamed(list: hosted.list.number, name: hosted.list.name), to: connection) }
        if !isNew { figures.resynchronizations += 1 }
        if isNew {
            hosted.add(connection)
            connection.account?.subscriptions += 1
            connection.account?.followedItems += hosted.authority.count
            connection.cursors[hosted.list.number]?.items = hosted.authority.count
        }
        guard connection.hasPresence else { return }
        if isNew {
            if world.isShared, hosted.presence.everybody.isEmpty { hosted.awaitsVisitors = true }
            hosted.presence.join(author.number, name: connection.person)
            connection.cursors[hosted.list.number]?.presence =
                Connection.PresenceMark(hosted.presence, isComplete: !hosted.awaitsVisitors)
        } else {
            // Who subscribes anew may have forgotten who is here. On which item they are, they say again.
            hosted.presence.move(author.number, to: nil)
            connection.cursors[hosted.list.number]?.presence.startAnew(hosted.presence)
        }
        announce(hosted)
    }

    /// Sets the cursor of a connection in a list, and says so.
    func begin(
        _ connection: Connection, in hosted: HostedList, request: UInt64, _ start: DownMessage.Subscribed.Start,
        from revision: Int
    ) {
        let number = hosted.list.number
        let last = connection.author.flatMap(hosted.authority.lastMark)
        var cursor = Connection.Cursor(hosted: hosted, request: request, revision: revision)
        if let former = connection.cursors[number] {
            (cursor.presence, cursor.items) = (former.presence, former.items)
            cursor.isFirstSubmission = former.isFirstSubmission
        }
        if case .snapshot(let revision, let count, _) = start {
            cursor.revision = revision
            figures.snapshots += 1
            if count > 0 { cursor.snapshot = Connection.Transfer(request: request, hand: hosted.authority.hand) }
        }
        connection.cursors[number] = cursor
        send(
            .subscribed(
                DownMessage.Subscribed(
                    request: request, list: number, logID: hosted.authority.logID, rules: hosted.authority.rules,
                    lastSequence: last?.sequence ?? 0, isLastRefused: last?.isRefused ?? false, start: start)),
            to: connection)
    }

    func unsubscribe(_ connection: Connection, from list: UInt64) {
        guard let cursor = connection.cursors.remove(list) else { return }
        cursor.hosted.remove(connection, now: world.now)
        connection.account?.subscriptions -= 1
        connection.account?.followedItems -= cursor.items
        if let author = connection.author?.number, connection.hasPresence {
            cursor.hosted.presence.leave(author)
            announce(cursor.hosted)
        }
    }

    /// Commits that are no longer in the window come from the store, or as a snapshot where that is smaller.
    func read(for connection: Connection, list: UInt64) {
        guard let author = connection.author, let cursor = connection.cursors[list] else { return }
        let revision = cursor.revision
        figures.readsBehind += 1
        let bytes = limits.chunkBytes
        let start = cursor.hosted.start(
            from: revision, logID: cursor.hosted.authority.logID, for: author, hasDigest: connection.hasDigest)
        if case .snapshot = start {
            return begin(connection, in: cursor.hosted, request: cursor.request, start, from: revision)
        }
        ask { store in
            try store.frames(of: list, after: revision, about: bytes)
        } then: { [unowned self] result in
            guard let cursor = connection.cursors[list], cursor.isReading, cursor.revision == revision else { return }
            connection.cursors[list]?.isReading = false
            mark(connection)
            switch result {
            case .failure(let error): fail(connection, .internalError, "\(error)", retryAfter: 1_000)
            case .success(let frames):
                // The store may already hold what it has not yet confirmed to have written: that is not anybody's to see.
                let durable = frames.prefix { $0.revision <= cursor.hosted.authority.revision }
                guard let last = durable.last, durable.first?.revision == revision + 1 else {
                    // What comes next has been forgotten meanwhile. From here on it comes as a snapshot.
                    cursor.hosted.storeFloor = (frames.first?.revision ?? cursor.hosted.authority.revision + 1) - 1
                    return
                }
                for frame in durable { connection.enqueue(FrameRun(frame.bytes)) }
                figures.deliveries += durable.count
                connection.cursors[list]?.revision = last.revision
            }
        }
    }

    // MARK: Loading

    /// The list in memory; loads it if need be, which counts as done for who asked first.
    func withHostedList(
        named name: String, for connection: Connection, _ body: @escaping (Result<HostedList, StoreError>) -> Void
    ) {
        if loading[name] != nil {
            // Others' commits that this client knows of may be newer than what is being read.
            guard world.isShared else {
                loading[name]?.append(body)
                return
            }
            comingNext[name, default: []].append((connection, body))
            return
        }
        loading[name] = [body]
        load(name, for: connection)
    }

    private func load(_ name: String, for connection: Connection) {
        // It is here, perhaps since a moment ago under this name.
        if let number = names[name], let hosted = hostedLists[number] {
            return refresh(hosted) { [unowned self] result in
                // Let go of, because it is deleted or its history went back, it is looked for anew; and so it is if another server has
                // given the name to another list.
                let isStill = hostedLists[number] === hosted && names[name] == number
                isStill ? loaded(name, result) : load(name, for: connection)
            }
        }
        if isNaming { return whenNamed.append { [unowned self] in load(name, for: connection) } }
        let seen = namings
        let limits = limits
        ask { store throws -> (StoredList, Authority.Start, Authority) in
            guard let list = try store.list(named: name) else { throw StoreError.noSuchList(name) }
            let start = try store.load(list.number)
            // Made here, so that nobody else waits until all its ids are known.
            return (list, start, Authority(start, limits: limits))
        } then: { [unowned self] result in
            // By now the name may be another list's, or nobody's.
            if seen != namings { return load(name, for: connection) }
            if case .success(let (_, start, _)) = result {
                let commits = start.revision - start.snapshotRevision
                charge(connection, work: Price.replay(start.hand.count, commits: commits))
            }
            // It is here under the name that it had before another server gave it this one.
            if case .success(let (list, _, _)) = result, let hosted = hostedLists[list.number] {
                rename(hosted, to: name)
                return load(name, for: connection)
            }
            let hosted = result.map { HostedList($0.0, $0.2, snapshot: $0.1.snapshotRevision, now: world.now) }
            if case .success(let hosted) = hosted {
                hostedLists[hosted.list.number] = hosted
                names[name] = hosted.list.number
                world.note(.loaded(list: name, revision: hosted.authority.revision))
            }
            loaded(name, hosted)
        }
    }

    private func loaded(_ name: String, _ hosted: Result<HostedList, StoreError>) {
        let waiting = loading.removeValue(forKey: name) ?? []
        if let next = comingNext.removeValue(forKey: name) {
            loading[name] = next.map(\.body)
            load(name, for: next[0].connection)
        }
        for body in waiting { body(hosted) }
    }
}
