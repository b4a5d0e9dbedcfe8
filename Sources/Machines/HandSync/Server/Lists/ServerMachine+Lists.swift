import HandCore
import HandWire

extension ServerMachine {
    func handle(_ input: Connection.Input, from connection: Connection) {
        let before = budgets.workDone
        switch input {
        case .message(let message):
            charge(connection, requests: 1)
            if case .submit = message { figures.submissions += 1 }
            handle(message, from: connection)
        case .again(let submission): handle(.submit(submission), from: connection)
        case .body(let bytes): read(bytes, from: connection)
        }
        if budgets.workDone > before { budgets.spend(budgets.workDone - before, for: connection) }
    }

    private func handle(_ message: UpMessage, from connection: Connection) {
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

    func subscribe(_ connection: Connection, _ subscribe: UpMessage.Subscribe) {
        begin(connection)
        if subscribe.name.isEmpty {
            charge(connection, work: Price.list)
            start(FindName(subscribe: subscribe, connection: connection.id)) { $0.found($1, $2) }
        } else {
            whenLoaded(subscribe.name, .subscribe(subscribe, connection: connection.id))
        }
    }

    func found(_ task: FindName, _ name: Result<String?, StoreError>) {
        switch name {
        case .success(let name?): whenLoaded(name, .subscribe(task.subscribe, connection: task.connection))
        case .success(nil): loaded(.failure(.noSuchList("")), for: task.subscribe, task.connection)
        case .failure(let error): loaded(.failure(error), for: task.subscribe, task.connection)
        }
    }

    /// Continues a subscription whose list is in memory now, or cannot be read.
    func loaded(_ result: Result<ListMachine, StoreError>, for subscribe: UpMessage.Subscribe, _ id: ConnectionID) {
        guard let connection = connections[id] else { return }
        var result = result
        if subscribe.name.isEmpty, case .success(let hosted) = result,
            !LogID.isSameList(hosted.list.logID, subscribe.logID)
        {
            // Meanwhile the name of the list was given to another list.
            result = .failure(.noSuchList(""))
        }
        switch result {
        case .success(let hosted): enter(hosted, subscribe, id)
        case .failure(let error):
            if !connection.isEnding { refuse(connection, subscribe.request, error) }
            end(connection)
        }
    }

    /// Subscribes a connection to a list as soon as it is known which of its client's submissions are durable. If a
    /// submission were still being written, a client that has forgotten the submission would use its sequence again.
    func enter(_ hosted: ListMachine, _ subscribe: UpMessage.Subscribe, _ id: ConnectionID) {
        guard let connection = connections[id] else { return }
        if let author = connection.author, hosted.authority.isPending(author), !connection.isEnding {
            return hosted.wait(.enter(subscribe, connection: id))
        }
        // While the connection waited, the list may have been renamed, or evicted. Another list may have its former
        // name.
        let isRenamed = !subscribe.name.isEmpty && hosted.list.name != subscribe.name
        if !connection.isEnding, isRenamed || hosted.phase.isGone { return self.subscribe(connection, subscribe) }
        defer { end(connection) }
        guard !connection.isEnding else { return }
        // The client may have lost the right to read the list.
        if connection.access.role(on: hosted.list) < .read {
            return refuse(connection, subscribe.request, .noSuchList(subscribe.name))
        }
        if let reason = refusal(of: connection, in: hosted) {
            return refuse(connection, subscribe.request, .tooManySubscriptions, reason)
        }
        start(connection, in: hosted, subscribe)
    }

    /// Returns why a connection may not follow one more list; nil if it may.
    private func refusal(of connection: Connection, in hosted: ListMachine) -> String? {
        guard connection.cursors[hosted.list.number] == nil else { return nil }
        if connection.cursors.count >= limits.subscriptions {
            return "a connection may follow \(limits.subscriptions) lists"
        }
        return connection.account?.refusal(following: hosted.authority.count, limits)
    }

    private func start(_ connection: Connection, in hosted: ListMachine, _ subscribe: UpMessage.Subscribe) {
        guard let author = connection.author else { return }
        let former = connection.cursors[hosted.list.number]
        let start = hosted.start(
            from: subscribe.revision, logID: subscribe.logID, wantsItems: subscribe.wantsItems, for: author)
        begin(connection, in: hosted, request: subscribe.request, start, from: subscribe.revision)
        connection.cursors[hosted.list.number]?.wantsItems = subscribe.wantsItems
        connection.cursors[hosted.list.number]?.wantsPeople = subscribe.wantsPeople
        if subscribe.name.isEmpty { send(.renamed(list: hosted.list.number, name: hosted.list.name), to: connection) }
        if former == nil {
            hosted.add(connection)
            connection.account?.follow(items: hosted.authority.count)
            connection.cursors[hosted.list.number]?.items = hosted.authority.count
        } else {
            figures.resynchronizations += 1
        }
        switch (former?.wantsPeople ?? false, subscribe.wantsPeople) {
        case (false, false): return
        case (false, true): hosted.addPerson(author, connection, isShared: isShared)
        case (true, false): hosted.removePerson(author.number)
        case (true, true):
            // A client that subscribes again forgets who is here, and says again on which item its person is.
            hosted.movePerson(author.number, to: nil)
            hosted.tellEverybody(to: connection)
        }
        announce(hosted, for: connection)
    }

    /// Sets the cursor of a connection in a list, and tells the client.
    func begin(
        _ connection: Connection, in hosted: ListMachine, request: RequestNumber, _ start: DownMessage.Subscribed.Start,
        from revision: Int
    ) {
        let number = hosted.list.number
        let last = connection.author.flatMap(hosted.authority.lastMark)
        var cursor = Connection.Cursor(hosted: hosted, request: request, revision: revision)
        if let former = connection.cursors[number] {
            (cursor.presence, cursor.items, cursor.position) = (former.presence, former.items, former.position)
            cursor.isFirstSubmission = former.isFirstSubmission
            (cursor.wantsItems, cursor.wantsPeople) = (former.wantsItems, former.wantsPeople)
        }
        switch start {
        case .snapshot(let revision, let count, _):
            cursor.revision = revision
            figures.snapshots += 1
            if count > 0 { cursor.snapshot = Connection.Transfer(request: request, hand: hosted.authority.hand) }
        case .newest(let revision): cursor.revision = revision
        case .resumed where revision >= hosted.authority.floor:
            let bytes = hosted.authority.frames(after: revision, about: .max).runs.reduce(0) { $0 + $1.range.count }
            charge(connection, work: Price.copying(bytes))
        case .resumed: break
        }
        connection.cursors[number] = cursor
        send(
            .subscribed(
                DownMessage.Subscribed(
                    request: request, list: number, logID: hosted.authority.logID, rules: hosted.authority.rules,
                    lastSequence: last?.sequence ?? 0, isLastRefused: last?.isRefused ?? false, start: start)),
            to: connection)
    }

    func unsubscribe(_ connection: Connection, from list: ListNumber) {
        guard let cursor = connection.cursors.remove(list) else { return }
        cursor.hosted.remove(cursor, now: now)
        connection.account?.unfollow(items: cursor.items)
        if let author = connection.author?.number, cursor.wantsPeople {
            cursor.hosted.removePerson(author)
            announce(cursor.hosted, for: connection)
        }
    }

    /// Reads commits that are no longer in the window, or sends a snapshot if that is smaller.
    func read(for connection: Connection, list: ListNumber) {
        guard let author = connection.author, let cursor = connection.cursors[list] else { return }
        let revision = cursor.revision
        figures.readsBehind += 1
        let bytes = limits.chunkBytes
        let start = cursor.hosted.start(
            from: revision, logID: cursor.hosted.authority.logID, wantsItems: cursor.wantsItems, for: author)
        guard case .resumed = start else {
            return begin(connection, in: cursor.hosted, request: cursor.request, start, from: revision)
        }
        let next = ReadFrames(list: cursor.hosted.reference, connection: connection.id, after: revision, bytes: bytes)
        self.start(next) { $0.read($1, $2) }
    }

    /// Sends commits that are no longer in the window.
    func read(_ task: ReadFrames, _ result: Result<[StoredFrame], StoreError>) {
        guard let connection = connections[task.connection], let hosted = lists[task.list] else { return }
        let list = task.list.number
        guard let cursor = connection.cursors[list], cursor.isReading, cursor.hosted === hosted,
            cursor.revision == task.after
        else { return }
        connection.cursors[list]?.isReading = false
        mark(connection)
        switch result {
        case .failure(let error): fail(connection, error)
        case .success(let frames):
            let bytes = frames.reduce(0) { $0 + $1.bytes.count }
            charge(connection, work: Price.commits(frames.count, bytes: bytes))
            // The store may already have commits that it has not yet confirmed. Nobody may see those.
            let durable = frames.prefix { $0.revision <= hosted.authority.revision }
            guard let last = durable.last, durable.first?.revision == task.after + 1 else {
                // The next commits have been forgotten in the meantime. The client will get the list as a snapshot
                // instead.
                hosted.forgotten(upTo: (frames.first?.revision ?? hosted.authority.revision + 1) - 1)
                return
            }
            for frame in durable { connection.enqueue(FrameRun(frame.bytes)) }
            figures.deliveries += durable.count
            connection.cursors[list]?.revision = last.revision
        }
    }
}

/// Finds the name of a list that a client subscribes to by its log id.
package struct FindName: StoreQuestion {
    let subscribe: UpMessage.Subscribe
    let connection: ConnectionID

    func run(on store: any CommitStore) throws -> String? { try store.name(of: LogID.list(subscribe.logID)) }
}

/// Reads the commits that come next for a connection.
package struct ReadFrames: StoreQuestion {
    let list: ListMachine.Reference
    let connection: ConnectionID
    let after: Int
    let bytes: Int

    func run(on store: any CommitStore) throws -> [StoredFrame] {
        try store.frames(of: list.number, after: after, about: bytes)
    }
}
