import HandCore
import HandWire

/// One list in the server's memory: its authority, its phase, its subscribers, their presence, and what waits for it.
final class ListMachine {
    /// Identifies one load of a list. A list that is loaded again has another reference.
    struct Reference: Sendable {
        let number: ListNumber
        let load: UInt64
    }

    @exclusivity(unchecked) private(set) var list: StoredList
    // As with `Connection`, accesses to the authority never overlap.
    @exclusivity(unchecked) private(set) var authority: Authority
    @exclusivity(unchecked) private(set) var phase = ListPhase.ready
    /// Whether the batch in writing was handed over before, with an outcome that the store could not tell.
    @exclusivity(unchecked) private(set) var isHandedOverAgain = false
    /// Whether the list is in `Delivery.news`.
    @exclusivity(unchecked) var hasNews = false
    private(set) var presence = PresenceBoard()
    /// Whether the people at other servers are still unknown. The first subscriber is told of all people at once.
    private(set) var awaitsPeerPresence = false
    @exclusivity(unchecked) private(set) var subscribers: [Connection] = []
    /// Saving snapshots, which make loading faster.
    private var saving: Chore
    /// Looking for commits that may be forgotten.
    private var trimming: Chore
    /// The revision before the oldest commit in the store.
    private(set) var storeFloor: Int
    @exclusivity(unchecked) private var waiting: [WaitingForList] = []
    /// When the last subscriber left, in milliseconds.
    private var idleSince: UInt64
    /// The number of the load that made this object.
    let load: UInt64

    /// Work with the store that is repeated every so many commits, so that its cost is spread over them.
    private struct Chore {
        /// The revision when the chore was begun last.
        private var begunAt: Int
        private(set) var isUnderWay = false

        init(begunAt revision: Int) { begunAt = revision }

        mutating func begin(at revision: Int) { (begunAt, isUnderWay) = (revision, true) }
        mutating func end() { isUnderWay = false }

        func isDue(_ authority: Authority, _ limits: Limits) -> Bool {
            !isUnderWay && authority.revision - begunAt >= limits.snapshotStride(items: authority.count)
        }
    }

    init(_ list: StoredList, _ authority: Authority, snapshot: Int, load: UInt64, now: UInt64) {
        self.list = list
        self.load = load
        self.authority = authority
        saving = Chore(begunAt: snapshot)
        trimming = Chore(begunAt: authority.revision)
        storeFloor = list.floor
        idleSince = now
    }

    var reference: Reference { Reference(number: list.number, load: load) }
    var subscriberCount: Int { subscribers.count }

    /// Whether the list in the store, which has that head, equals this list.
    func isAt(_ head: StoredHead?) -> Bool {
        head?.revision == authority.revision && head?.digest == authority.digest && head?.name == list.name
    }

    func rename(to name: String) { list.name = name }

    /// Notes that somebody has needed the list.
    func touch(now: UInt64) { idleSince = now }

    /// Whether nobody has needed the list in memory for `delay` milliseconds.
    func isIdle(for delay: UInt64, now: UInt64) -> Bool {
        subscribers.isEmpty && phase.isReady && !saving.isUnderWay && !trimming.isUnderWay && now >= idleSince + delay
    }

    // MARK: What waits

    /// Whether something waits. Never while the phase is `ready`.
    var isAwaited: Bool { !waiting.isEmpty }

    /// Lets something wait until the commits that are being written are durable or lost, or until a large edit is made.
    func wait(_ next: WaitingForList) { waiting.append(next) }

    /// Returns what has waited, in order. Each item may wait again.
    func takeWaiting() -> [WaitingForList] {
        waiting.isEmpty ? [] : exchange(&waiting, with: [])
    }

    /// Whether edits wait, because a large one is being made, or waits itself.
    var holdsEdits: Bool {
        phase.isEditing || !waiting.isEmpty && waiting.contains { if case .edit = $0 { true } else { false } }
    }

    // MARK: Edits

    func submit(_ origin: Authority.Origin, _ circumstances: Authority.Circumstances) -> Authority.Outcome {
        authority.submit(origin, circumstances)
    }

    /// A commit was numbered. Returns whether the list is to be handed over to the store now.
    func numbered() -> Bool {
        guard phase.isReady else { return false }
        phase.numbered()
        return true
    }

    /// Begins a large edit, on a copy of the authority. Returns false if it has to wait.
    func beginEdit() -> Bool {
        guard phase.isReady else { return false }
        phase.beginEdit()
        return true
    }

    /// A large edit is made, or given up.
    func endEdit() { phase.endEdit() }

    /// Takes the authority on which a large edit was made. Afterwards `edited` is the former one.
    func adopt(_ edited: inout Authority) { swap(&authority, &edited) }

    // MARK: Writing

    /// Returns the numbered commits, which are handed over to the store; nil if the list is not due.
    func handOver() -> CommitBatch? {
        guard phase.isDue else { return nil }
        phase.handedOver()
        isHandedOverAgain = false
        return authority.takeBatch()
    }

    /// Returns the batch whose outcome the store could not tell.
    func handOverAgain() -> CommitBatch? {
        isHandedOverAgain = true
        return phase.handedOverAgain()
    }

    /// The batch that was handed over is durable. Returns the values that are no longer needed, if freeing them takes
    /// long.
    func wrote() -> Authority.Spent? {
        let spent = authority.wrote()
        phase.written(hasMore: authority.isBusy)
        return spent
    }

    /// The batch was not written.
    func failed() { phase.written(hasMore: false) }

    /// The store could not tell whether it has the batch.
    func unknown(_ batch: CommitBatch) { phase.unknown(batch) }

    /// Undoes the commits that are not durable. Returns their submissions.
    func takeBackPending() -> [Authority.Origin] { authority.takeBackPending().map(\.origin) }

    // MARK: Others' commits

    /// Others' commits came before the batch that was handed over.
    func conflicted() {
        authority.conflicted()
        phase.conflicted()
    }

    /// A list that was behind is up to date.
    func upToDate() { phase.upToDate(hasMore: authority.isBusy) }

    /// Others' commits are being adopted.
    func beginAdopting() { phase.adopt() }

    /// The adoption of others' commits has ended.
    func adopted() { phase.adopted(hasMore: authority.isBusy) }

    /// See `Authority.rebase`.
    func rebase(
        onto commits: [Commit], now: UInt64, client: (AuthorID) -> AuthorID
    ) throws(StoreError) -> [Authority.Decision] {
        try authority.rebase(onto: commits, now: now, client: client)
    }

    func evicted() { phase.evicted() }

    // MARK: Subscribers

    func add(_ connection: Connection) {
        connection.cursors[list.number]?.position = UInt32(subscribers.count)
        subscribers.append(connection)
    }

    /// Removes a subscriber; the last one takes its place.
    func remove(_ cursor: Connection.Cursor, now: UInt64) {
        let last = subscribers.removeLast()
        if cursor.position < subscribers.count {
            subscribers[Int(cursor.position)] = last
            last.cursors[list.number]?.position = cursor.position
        }
        if subscribers.isEmpty { idleSince = now }
    }

    // MARK: Presence

    /// Adds a new subscriber to the people who are here.
    func addPerson(_ author: Author, _ connection: Connection, isShared: Bool) {
        if isShared, presence.everybody.isEmpty { awaitsPeerPresence = true }
        presence.join(author.number, name: connection.person)
        tellEverybody(to: connection)
    }

    /// Arranges for a client that knows nobody to be told who is here.
    func tellEverybody(to connection: Connection) {
        connection.cursors[list.number]?.presence =
            Connection.PresenceMark(presence, isComplete: !awaitsPeerPresence)
    }

    func movePerson(_ author: AuthorID, to focus: Focus?) { presence.move(author, to: focus) }

    func removePerson(_ author: AuthorID) { presence.leave(author) }

    /// The people at other servers are known now; nil if the store has not answered.
    func setPeers(_ people: [AuthorID: PresenceBoard.RemotePerson]?) {
        if let people { presence.setPeers(people) }
        awaitsPeerPresence = false
    }

    /// Returns the change before those that nobody was told of yet, which are taken.
    func takePresence() -> Int { presence.takeChanges() }

    // MARK: Chores

    /// Begins to save a snapshot if one is due.
    func beginSaving(_ limits: Limits) -> SaveSnapshot? {
        guard saving.isDue(authority, limits) else { return nil }
        saving.begin(at: authority.revision)
        return SaveSnapshot(list: reference, hand: authority.hand, revision: authority.revision, deck: authority.deck)
    }

    func endSaving() { saving.end() }

    /// Begins to forget commits that need not be kept, a part at a time.
    ///
    /// - Parameters:
    ///   - limits: nil to begin even if it is not due yet.
    ///   - now: the time by which their age is counted.
    func beginTrimming(_ retention: Retention, _ limits: Limits?, now: UInt64) -> Trim? {
        guard limits.map({ trimming.isDue(authority, $0) }) ?? !trimming.isUnderWay else { return nil }
        trimming.begin(at: authority.revision)
        return Trim(list: reference, retention: retention, now: now)
    }

    func endTrimming() { trimming.end() }

    /// The commits up to a revision are no longer in the store.
    func forgotten(upTo floor: Int) { storeFloor = floor }

    // MARK: Catching up

    /// Returns how a subscriber is brought up to date from `revision` of history `logID`: by commits, or by a snapshot
    /// if that is smaller, or if the client would mistake a commit of its own for somebody else's. A client that wants
    /// no items gets no snapshot.
    ///
    /// A client that has not seen all its own commits gets them one by one if possible. From a snapshot it could not
    /// tell whether its own program made them, or a copy of it.
    func start(
        from revision: Int, logID: UInt64, wantsItems: Bool, for author: Author
    ) -> DownMessage.Subscribed.Start {
        let hand = authority.hand
        let resumed = DownMessage.Subscribed.Start.resumed(head: authority.revision, digest: hand.digest)
        let isKnown =
            logID == authority.logID && (storeFloor...authority.revision).contains(revision)
            && authority.recognizesOwnCommits(author, after: revision)
        if isKnown && revision >= authority.floor { return resumed }
        // A commit takes about as many bytes on the wire as two items.
        if isKnown
            && ((authority.revision - revision) * 2 <= authority.count
                || authority.hasCommits(of: author, after: revision))
        {
            return resumed
        }
        if !wantsItems { return .newest(authority.revision) }
        return .snapshot(revision: authority.revision, count: hand.count, digest: hand.digest)
    }
}

/// What waits for a list: until the commits that are being written are durable or lost, or a large edit is made.
enum WaitingForList {
    case enter(UpMessage.Subscribe, connection: ConnectionID)
    /// A large edit.
    case edit(Authority.Origin)
    /// An edit that came after a large one. Its connection is busy meanwhile.
    case submit(Submission, from: ConnectionID)
    /// The list must catch up to a revision that the store has, perhaps with these frames.
    case catchUp(to: Int, [StoredFrame], then: AfterRefresh)
}

extension Limits {
    /// Returns the number of commits between two snapshots of a list with so many items.
    func snapshotStride(items: Int) -> Int { max(snapshotCommits, items / 4) }
}
