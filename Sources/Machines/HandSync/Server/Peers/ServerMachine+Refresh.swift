import HandCore
import HandWire

/// What waits for the refresh of a list.
package enum AfterRefresh: Sendable {
    /// The requests that wait for the list of that name. If they cannot have this list, a connection is charged for
    /// loading the list that has the name.
    case load(String, for: ConnectionID)
    /// The pending commits of the list, which was behind.
    case settle
    /// Nothing; the subscribers get the new commits.
    case nothing
}

/// Brings lists up to date with commits that other servers have made, and exchanges presence with these servers.
extension ServerMachine {
    /// Fetches the newest commits of a list. Another server may have told clients of them already.
    func refresh(_ hosted: ListMachine, then next: AfterRefresh) {
        guard isShared else { return refreshed(hosted.reference, then: next) }
        let task = ReadHead(
            list: hosted.reference, revision: hosted.authority.revision, digest: hosted.authority.digest,
            bytes: limits.chunkBytes, next: next)
        start(task) { $0.read($1, $2) }
    }

    func read(_ task: ReadHead, _ result: Result<(StoredHead?, [StoredFrame]), StoreError>) {
        guard let hosted = lists[task.list] else { return refreshed(task.list, then: task.next) }
        switch result {
        case .failure(let error): refreshed(task.list, error, then: task.next)
        case .success((nil, _)):
            vanished(hosted)
            refreshed(task.list, then: task.next)
        case .success((let head?, let frames)):
            if let error = task.problem(with: head, frames, in: hosted) {
                reload(hosted, error)
                return refreshed(task.list, then: task.next)
            }
            if head.name != hosted.list.name { rename(hosted, to: head.name) }
            catchUp(task.list, to: head.revision, frames, then: task.next)
        }
    }

    /// Brings a list to a revision that the store has. A batch that is being written brings the list there, or finds
    /// that others' commits came first.
    func catchUp(_ list: ListMachine.Reference, to revision: Int, _ frames: [StoredFrame], then next: AfterRefresh) {
        guard let hosted = lists[list], hosted.authority.revision < revision else {
            return refreshed(list, then: next)
        }
        guard hosted.phase.mayAdopt else { return hosted.wait(.catchUp(to: revision, frames, then: next)) }
        let news = frames.filter { $0.revision > hosted.authority.revision }
        if news.isEmpty { return refresh(hosted, then: next) }
        hosted.wait(.catchUp(to: revision, [], then: next))
        adopt(news, in: hosted)
    }

    /// Continues the work that has waited for a list that is up to date now, or was evicted.
    ///
    /// - Parameter error: why the store did not answer.
    private func refreshed(_ list: ListMachine.Reference, _ error: StoreError? = nil, then next: AfterRefresh) {
        let hosted = lists[list]
        switch next {
        case .nothing: break
        case .settle: hosted.map(upToDate)
        case .load(let name, let connection):
            // If the list was deleted or went back, or another server has given its name to another list, the name is
            // looked up again.
            guard let hosted, lists[name] === hosted else { return load(name, for: connection) }
            loaded(name, error.map { .failure($0) } ?? .success(hosted))
        }
    }

    /// Another server says that something has happened. The hint may be wrong, or old.
    package func heard(_ hint: StoreHint, at time: Moment) {
        self.time = time
        switch hint {
        case .commits(let list, let revision):
            guard let hosted = lists[list], hosted.authority.revision < revision else { return }
            look(at: hosted)
        case .presence(let list):
            if lists[list] != nil { peers?.exchangeSoon(now: now) }
        case .client(let key):
            // A client that has come back here since then connects again. If the client is a copy, with the same id, it
            // learns that two programs use the id.
            admission[key].map { fail($0, .replaced, "this client has connected to another server") }
        }
    }

    /// Refreshes a list, unless a batch is under way, which finds by itself whether others' commits came first.
    private func look(at hosted: ListMachine) {
        if hosted.phase.mayAdopt { refresh(hosted, then: .nothing) }
    }

    /// Compares all lists in memory with the store if others write to it, because hints may get lost.
    func pollHeads() {
        guard !lists.isEmpty, peers?.beginPoll() == true else { return }
        start(ReadHeads(lists: lists.numbers)) { $0.read($1, $2) }
    }

    func read(_ task: ReadHeads, _ result: Result<[StoredHead], StoreError>) {
        peers?.endPoll()
        guard case .success(let heads) = result else { return }
        let found = Dictionary(heads.map { ($0.list, $0) }) { $1 }
        // The store may have more commits of a list, other ones, another name, or no such list.
        for hosted in task.lists.compactMap({ lists[$0] }) where !hosted.isAt(found[hosted.list.number]) {
            look(at: hosted)
        }
    }
}

// MARK: - Presence

extension ServerMachine {
    func exchangePresence() {
        if let exchange = peers?.beginExchange(lists, now: now) { start(exchange) { $0.exchanged($1, $2) } }
    }

    func exchanged(_ task: ExchangePresence, _ result: Result<[PresenceNews], StoreError>) {
        let people = peers?.endExchange(try? result.get(), lists, now: now)
        for hosted in task.lists.compactMap({ lists[$0] }) {
            hosted.setPeers(people.map { $0[hosted.list.number] ?? [:] })
            announce(hosted)
        }
    }
}

/// Reads how far a list is in the store, and its commits after a revision.
package struct ReadHead: StoreQuestion {
    let list: ListMachine.Reference
    let revision: Int
    let digest: UInt64
    let bytes: Int
    let next: AfterRefresh

    func run(on store: any CommitStore) throws -> (StoredHead?, [StoredFrame]) {
        (try store.heads(of: [list.number]).first, try store.frames(of: list.number, after: revision, about: bytes))
    }

    /// Returns why the list in memory cannot be brought to the store's revision; nil if it can.
    func problem(with head: StoredHead, _ frames: [StoredFrame], in hosted: ListMachine) -> StoreError? {
        let isElsewhere = head.revision == revision && head.digest != digest
        if head.revision < revision || isElsewhere || head.logID != hosted.authority.logID {
            return .damaged("list \(list.number) went back to revision \(head.revision), or behind it")
        }
        guard head.revision > revision, frames.first?.revision != revision + 1, hosted.authority.revision == revision
        else { return nil }
        // Others' commits were forgotten before they were seen here.
        let oldest = frames.first?.revision ?? head.revision
        return .noSuchRevision(revision + 1, oldest: max(oldest, revision + 2), newest: head.revision)
    }
}

/// Reads how far several lists are in the store.
package struct ReadHeads: StoreQuestion {
    let lists: [ListNumber]

    func run(on store: any CommitStore) throws -> [StoredHead] { try store.heads(of: lists) }
}
