import HandCore
import HandWire

/// Other servers that share the store: their commits, and what they have made of lists.
extension Service {
    /// Milliseconds until the store is asked once more what became of a batch.
    private static let retryInterval: UInt64 = 200

    /// Nobody is told anything. The batch is appended again, which makes it once, or says that others' commits came first.
    func unsettled(_ batch: CommitBatch, of hosted: HostedList) {
        world.note(.unsettled(hosted.list))
        writer.keep(batch, of: hosted, until: world.now + Self.retryInterval)
    }

    /// Others' commits came first.
    func missed(_ frames: [StoredFrame], in hosted: HostedList) {
        hosted.authority.missed()
        // They are forgotten, or the history went back: whatever it is, the store's head tells.
        guard frames.first?.revision == hosted.authority.revision + 1 else {
            return refresh(hosted) { [unowned self] _ in
                if hostedLists[hosted.list.number] === hosted { settle(hosted) }
            }
        }
        hosted.isUnsettled = true
        learn(frames, in: hosted)
    }

    /// Takes commits of others, once it is known whose they are.
    private func learn(_ frames: [StoredFrame], in hosted: HostedList) {
        let list = hosted.list.number
        switch (StoreError.catching { try frames.map { try $0.commit() } }) {
        case .failure(let error): reload(hosted, error)
        case .success(let commits):
            ask { store in
                try store.clients(of: Set(commits.map(\.author)).sorted())
            } then: { [unowned self] clients in
                guard hostedLists[list] === hosted else { return }
                switch clients {
                // They come again when what is pending is handed over next, or somebody asks for the list.
                case .failure: settle(hosted)
                case .success(let clients): adopt(commits, clients, in: hosted)
                }
            }
        }
    }

    private func adopt(_ commits: [Commit], _ clients: [UInt64: UInt64], in hosted: HostedList) {
        // A batch that went out meanwhile has brought them.
        let news = commits.filter { $0.revision > hosted.authority.revision }
        let waiting = hosted.authority.pending.map(\.mark.author)
        let result = Result { () throws(StoreError) in
            try hosted.authority.learn(news, now: world.wallClock) { clients[$0] ?? $0 }
        }
        switch result {
        case .failure(let error):
            waiting.forEach(lostCommit)
            reload(hosted, error)
        case .success(let decisions):
            for connection in hosted.subscribers { pass(on: hosted, to: connection) }
            for decision in decisions { tell(decision, of: hosted) }
            settle(hosted)
        }
    }

    /// Somebody may have sent something to another server under a name that they had before. They would take its commit for
    /// another's, and it would be their answer: so they get the list as it is behind it.
    private func pass(on hosted: HostedList, to connection: Connection) {
        mark(connection)
        guard let author = connection.author, let cursor = connection.cursors[hosted.list.number],
            !hosted.authority.knowsItsOwn(author, after: cursor.revision)
        else { return }
        let start = hosted.start(
            from: cursor.revision, logID: hosted.authority.logID, for: author, hasDigest: connection.hasDigest)
        begin(connection, in: hosted, request: cursor.request, start, from: cursor.revision)
    }

    /// What is pending may be handed over again.
    private func settle(_ hosted: HostedList) {
        hosted.isUnsettled = false
        if hosted.authority.isBusy { writer.add(hosted) }
        hosted.written()
    }

    private func tell(_ decision: Authority.Decision, of hosted: HostedList) {
        guard let connection = authors[decision.author.number] else { return }
        connection.submissionEnded()
        guard connection.cursors.hostedList(of: hosted.list.number) === hosted else { return }
        let (list, sequence) = (hosted.list.number, decision.sequence)
        switch decision.outcome {
        case .rejected(let reason): reject(reason, list: list, sequence, to: connection)
        case .stale(let head): send(.stale(list: list, sequence: sequence, head: head), to: connection)
        // One of the commits is the answer.
        case nil, .acknowledged, .waiting, .numbered, .failed, .tooMuchWork: break
        }
    }

    /// A list in memory is not what the store has. Everybody who follows it connects again, and it is loaded anew.
    private func reload(_ hosted: HostedList, _ error: StoreError) {
        world.note(.reloaded(hosted.list, error))
        letGo(of: hosted, nil, "the list '\(hosted.list.name)' is loaded anew")
    }

    /// The store has a list no more. Those who ask this server to delete one do not come by here.
    func vanished(_ hosted: HostedList) {
        world.note(.vanished(hosted.list))
        letGo(of: hosted, .listDeleted, "the list '\(hosted.list.name)' was deleted")
    }

    /// Forgets a list, and loses what was to be written to it.
    ///
    /// - Parameter code: tells those who follow it; nil closes their connections, so that they come again.
    func letGo(of hosted: HostedList, _ code: ErrorCode?, _ text: String) {
        unload(hosted)
        for connection in Array(hosted.subscribers) {
            guard let cursor = connection.cursors[hosted.list.number] else { continue }
            guard let code else {
                fail(connection, .internalError, text, retryAfter: 100)
                continue
            }
            unsubscribe(connection, from: hosted.list.number)
            refuse(connection, cursor.request, code, text)
        }
        writer.remove(hosted)
        _ = loseCommits(of: hosted)
        hosted.written()
    }

    // MARK: What is newest

    /// Has the newest commits come before `body`: another server may have told of them already.
    func refresh(_ hosted: HostedList, _ body: @escaping (Result<HostedList, StoreError>) -> Void) {
        guard world.isShared else { return body(.success(hosted)) }
        let (list, revision, bytes) = (hosted.list.number, hosted.authority.revision, limits.chunkBytes)
        let digest = hosted.authority.digest
        ask { store in
            (try store.heads(of: [list]).first, try store.frames(of: list, after: revision, about: bytes))
        } then: { [unowned self] result in
            guard hostedLists[list] === hosted else { return body(.failure(.noSuchList(hosted.list.name))) }
            switch result {
            case .failure(let error): body(.failure(error))
            case .success((nil, _)):
                vanished(hosted)
                body(.failure(.noSuchList(hosted.list.name)))
            case .success((let head?, let frames)):
                var error: StoreError?
                let isElsewhere = head.revision == revision && head.digest != digest
                if head.revision < revision || isElsewhere || head.logID != hosted.authority.logID {
                    error = .damaged("list \(list) went back to revision \(head.revision), or behind it")
                } else if head.revision > revision, frames.first?.revision != revision + 1,
                    hosted.authority.revision == revision
                {
                    // Others' commits were forgotten before they were seen here.
                    let oldest = frames.first?.revision ?? head.revision
                    error = .noSuchRevision(revision + 1, oldest: max(oldest, revision + 2), newest: head.revision)
                }
                if let error {
                    reload(hosted, error)
                    return body(.failure(error))
                }
                if head.name != hosted.list.name { rename(hosted, to: head.name) }
                bring(hosted, to: head.revision, frames, body)
            }
        }
    }

    /// Waits for a revision that the store has. What is being written here brings the list there, or says what came first.
    private func bring(
        _ hosted: HostedList, to revision: Int, _ frames: [StoredFrame],
        _ body: @escaping (Result<HostedList, StoreError>) -> Void
    ) {
        guard hostedLists[hosted.list.number] === hosted else {
            return body(.failure(.noSuchList(hosted.list.name)))
        }
        if hosted.authority.revision >= revision { return body(.success(hosted)) }
        if hosted.authority.isWriting || hosted.isUnsettled {
            return hosted.whenWritten.append { [unowned self] in bring(hosted, to: revision, frames, body) }
        }
        let news = frames.filter { $0.revision > hosted.authority.revision }
        if news.isEmpty { return refresh(hosted, body) }
        hosted.isUnsettled = true
        hosted.whenWritten.append { [unowned self] in
            hosted.authority.revision >= revision ? bring(hosted, to: revision, [], body) : refresh(hosted, body)
        }
        learn(news, in: hosted)
    }

    /// Another server says that something has happened. It may be wrong, or known.
    package func heard(_ hint: StoreHint) {
        switch hint {
        case .commits(let list, let revision):
            guard let hosted = hostedLists[list], hosted.authority.revision < revision else { return }
            look(at: hosted)
        case .presence(let list):
            if hostedLists[list] != nil { exchangePresenceSoon() }
        case .client(let key):
            // A client that has come here again since comes once more. A copy of it, with the same id, hears that there are two.
            clients[key].map { fail($0, .replaced, "this client has connected to another server") }
        }
    }

    /// What is being written says by itself whether others' commits came first.
    private func look(at hosted: HostedList) {
        if !hosted.authority.isWriting, !hosted.isUnsettled { refresh(hosted) { _ in } }
    }

    /// Looks how far the lists in memory are where others write to them, as a hint may get lost.
    func pollHeads() {
        guard world.isShared, !hostedLists.isEmpty, !isPolling else { return }
        isPolling = true
        let lists = hostedLists.keys.sorted()
        ask { store in
            try store.heads(of: lists)
        } then: { [unowned self] result in
            isPolling = false
            guard case .success(let heads) = result else { return }
            let found = Dictionary(heads.map { ($0.list, $0) }) { $1 }
            // A list may be further, gone, set back, or called otherwise.
            for hosted in lists.compactMap({ hostedLists[$0] }) {
                if !hosted.isAt(found[hosted.list.number]) { look(at: hosted) }
            }
        }
    }
}
