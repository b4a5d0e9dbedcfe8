import HandCore
import HandWire

/// Commits of other servers that share the store, and lists that other servers have changed or deleted.
extension ServerMachine {
    /// Milliseconds after which a batch whose outcome the store could not tell is appended again.
    private static let retryInterval: UInt64 = 200

    /// Keeps a batch whose outcome the store could not tell. Appending it again stores it only once, or finds that
    /// others' commits came first. Until then, its authors are told nothing.
    func unsettled(_ batch: CommitBatch, of hosted: ListMachine, _ error: StoreError) {
        if hosted.phase.isGone { return }
        note(.unsettled(hosted.list, error))
        hosted.unknown(batch)
        writer.retry(hosted, at: now + Self.retryInterval)
    }

    /// A batch was not taken, because others' commits came first.
    func conflicted(_ frames: [StoredFrame], in hosted: ListMachine) {
        hosted.conflicted()
        // If the first frame is not the next commit, the next commits are forgotten, or the history went back. The
        // store's head tells which.
        guard frames.first?.revision == hosted.authority.revision + 1 else { return refresh(hosted, then: .settle) }
        adopt(frames, in: hosted)
    }

    /// Adopts commits of others, as soon as it is known which clients their authors are.
    func adopt(_ frames: [StoredFrame], in hosted: ListMachine) {
        hosted.beginAdopting()
        switch (StoreError.catching { try frames.map { try $0.commit() } }) {
        case .failure(let error): reload(hosted, error)
        case .success(let commits):
            start(FindClients(list: hosted.reference, commits: commits)) { $0.found($1, $2) }
        }
    }

    func found(_ task: FindClients, _ clients: Result<[AuthorID: AuthorID], StoreError>) {
        guard let hosted = lists[task.list] else { return }
        switch clients {
        // The commits come again when the pending ones are handed over next, or somebody asks for the list.
        case .failure: adopted(in: hosted)
        case .success(let clients): adopt(task.commits, clients, in: hosted)
        }
    }

    private func adopt(_ commits: [Commit], _ clients: [AuthorID: AuthorID], in hosted: ListMachine) {
        // A batch that was appended meanwhile may have brought some of them.
        let news = commits.filter { $0.revision > hosted.authority.revision }
        let waiting = hosted.authority.pending.map(\.origin)
        let result = Result { () throws(StoreError) in
            try hosted.rebase(onto: news, now: wallClock) { clients[$0] ?? $0 }
        }
        switch result {
        case .failure(let error):
            waiting.forEach(lostCommit)
            reload(hosted, error)
        case .success(let decisions):
            for connection in hosted.subscribers { pass(on: hosted, to: connection) }
            for decision in decisions { tell(decision, of: hosted) }
            adopted(in: hosted)
        }
    }

    /// Sends others' commits to a connection. Its client may have sent a submission to another server under the
    /// client's former name. The client would mistake the commit of that submission for somebody else's, although the
    /// commit is the answer. So the client gets the list as it is after the commit.
    private func pass(on hosted: ListMachine, to connection: Connection) {
        mark(connection)
        guard let author = connection.author, let cursor = connection.cursors[hosted.list.number],
            !hosted.authority.recognizesOwnCommits(author, after: cursor.revision)
        else { return }
        let start = hosted.start(
            from: cursor.revision, logID: hosted.authority.logID, wantsItems: cursor.wantsItems, for: author)
        begin(connection, in: hosted, request: cursor.request, start, from: cursor.revision)
    }

    /// The adoption of others' commits has ended: pending commits are handed over again.
    private func adopted(in hosted: ListMachine) {
        hosted.adopted()
        if hosted.phase.isDue { writer.add(hosted) }
        goOn(with: hosted)
    }

    /// A list that was behind is up to date: pending commits are handed over again.
    func upToDate(_ hosted: ListMachine) {
        guard case .behind = hosted.phase else { return }
        hosted.upToDate()
        if hosted.phase.isDue { writer.add(hosted) }
        goOn(with: hosted)
    }

    private func tell(_ decision: Authority.Decision, of hosted: ListMachine) {
        lostCommit(decision.origin)
        guard let connection = connections[decision.origin.connection],
            connection.cursors.hostedList(of: hosted.list.number) === hosted
        else { return }
        let (list, sequence) = (hosted.list.number, decision.origin.submission.sequence)
        switch decision.outcome {
        case .rejected(let reason): reject(reason, list: list, sequence, to: connection)
        case .stale(let head): send(.stale(list: list, sequence: sequence, head: head), to: connection)
        // One of the commits is the answer.
        case nil, .acknowledged, .waiting, .numbered, .failed, .tooMuchWork: break
        }
    }

    /// Evicts a list that is not what the store has. Its subscribers connect again, and it is loaded anew.
    func reload(_ hosted: ListMachine, _ error: StoreError) {
        note(.reloaded(hosted.list, error))
        evict(hosted, nil, "the list '\(hosted.list.name)' is loaded anew")
    }

    /// Evicts a list that is not in the store any more, though no client of this server deleted it.
    func vanished(_ hosted: ListMachine) {
        note(.vanished(hosted.list))
        evict(hosted, .listDeleted, "the list '\(hosted.list.name)' was deleted")
    }

    /// Forgets a list, and its commits that are not durable.
    ///
    /// - Parameter code: the error for the subscribers; nil closes their connections, so that the clients connect
    ///   again.
    func evict(_ hosted: ListMachine, _ code: ErrorCode?, _ text: String) {
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
        goOn(with: hosted)
    }
}

/// Finds which clients the authors of others' commits are.
package struct FindClients: StoreQuestion {
    let list: ListMachine.Reference
    let commits: [Commit]

    func run(on store: any CommitStore) throws -> [AuthorID: AuthorID] {
        try store.clients(of: Set(commits.map(\.author)).sorted())
    }
}
