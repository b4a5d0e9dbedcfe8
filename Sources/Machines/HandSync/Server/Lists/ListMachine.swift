import HandCore
import HandWire

/// One list in the server's memory: its authority, its subscribers, and their presence.
final class ListMachine {
    /// Identifies one load of a list. A list that is loaded again has another reference.
    struct Reference: Sendable {
        let number: UInt64
        let load: UInt64
    }

    @exclusivity(unchecked) var list: StoredList
    // As with `Connection`, accesses to the authority never overlap.
    @exclusivity(unchecked) var authority: Authority
    @exclusivity(unchecked) var phase = ListPhase.ready
    /// Whether the list is in `ServerMachine.news`.
    @exclusivity(unchecked) var hasNews = false
    var presence = PresenceBoard()
    /// Whether the people at other servers are still unknown. The first subscriber is told of all people at once.
    private(set) var awaitsPeerPresence = false
    @exclusivity(unchecked) private(set) var subscribers: [Connection] = []
    /// Saving snapshots, which make loading faster.
    var saving: Chore
    /// Looking for commits that may be forgotten.
    var trimming: Chore
    /// The revision before the oldest commit in the store.
    var storeFloor: Int
    @exclusivity(unchecked) private(set) var whenWritten: [AfterWrite] = []
    /// The edits that wait, in order, while a large edit is being made; nil if no large edit is being made.
    private var heldEdits: [(connection: ConnectionID, submission: Submission)]?
    /// When the last subscriber left, in milliseconds.
    var idleSince: UInt64
    /// The number of the load that made this object.
    let load: UInt64

    /// Work with the store that is repeated every so many commits, so that its cost is spread over them.
    struct Chore {
        /// The revision when the chore was begun last.
        private(set) var begunAt: Int
        private(set) var isUnderWay = false

        init(begunAt revision: Int) { begunAt = revision }

        mutating func begin(at revision: Int) { (begunAt, isUnderWay) = (revision, true) }
        mutating func end() { isUnderWay = false }
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

    // MARK: What waits

    /// Lets something wait until the commits that are being written are durable, or lost.
    func afterWrite(_ next: AfterWrite) { whenWritten.append(next) }

    /// Returns what has waited for a write.
    func takeWaiting() -> [AfterWrite] {
        defer { whenWritten = [] }
        return whenWritten
    }

    /// Whether edits wait, because a large one is being made.
    var holdsEdits: Bool { heldEdits != nil }

    /// From now on edits wait.
    func holdEdits() { heldEdits = [] }

    func hold(_ submission: Submission, from connection: Connection) {
        heldEdits?.append((connection.id, submission))
    }

    /// Edits no longer wait. Returns those that have waited, each with its connection.
    func releaseEdits() -> [(connection: ConnectionID, submission: Submission)] {
        defer { heldEdits = nil }
        return heldEdits ?? []
    }

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

    /// Adds a new subscriber to the people who are here.
    func addPerson(_ author: Author, _ connection: Connection, isShared: Bool) {
        if isShared, presence.everybody.isEmpty { awaitsPeerPresence = true }
        presence.join(author.number, name: connection.person)
        connection.cursors[list.number]?.presence =
            Connection.PresenceMark(presence, isComplete: !awaitsPeerPresence)
    }

    /// The people at other servers are known now.
    func peerPresenceKnown() { awaitsPeerPresence = false }

    // MARK: Chores

    /// Whether a chore is due.
    func isDue(_ chore: Chore, _ limits: Limits) -> Bool {
        !chore.isUnderWay
            && authority.revision - chore.begunAt >= limits.snapshotStride(items: authority.count)
    }

    /// Whether nobody has needed the list in memory for `delay` milliseconds.
    func isIdle(for delay: UInt64, now: UInt64) -> Bool {
        subscribers.isEmpty && whenWritten.isEmpty && heldEdits == nil && phase.isReady && !saving.isUnderWay
            && !trimming.isUnderWay && now >= idleSince + delay
    }

    /// Returns how a subscriber is brought up to date from `revision` of history `logID`: by commits, or by a snapshot
    /// if that is smaller, or if the client would mistake a commit of its own for somebody else's. A client that wants
    /// no items gets no snapshot.
    ///
    /// A client that has not seen all its own commits gets them one by one if possible. From a snapshot it could not
    /// tell whether its own program made them, or a copy of it.
    func start(
        from revision: Int, logID: UInt64, wantsItems: Bool, for author: Author, hasDigest: Bool
    ) -> DownMessage.Subscribed.Start {
        let hand = authority.hand
        let resumed = DownMessage.Subscribed.Start.resumed(
            head: authority.revision, digest: hasDigest ? hand.digest : nil)
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

extension Limits {
    /// Returns the number of commits between two snapshots of a list with so many items.
    func snapshotStride(items: Int) -> Int { max(snapshotCommits, items / 4) }
}
