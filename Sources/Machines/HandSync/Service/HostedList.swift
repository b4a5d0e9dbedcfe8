import HandCore
import HandWire

/// One list in the server's memory: its authority, its subscribers, and their presence.
final class HostedList {
    /// Identifies one load of a list. A list that is loaded again has another reference.
    struct Reference: Sendable {
        let number: UInt64
        let load: UInt64
    }

    @exclusivity(unchecked) var list: StoredList
    /// False once the list was let go of. If it is loaded again, that is another object.
    @exclusivity(unchecked) var isLoaded = true
    // As with `Connection`, accesses to the authority never overlap.
    @exclusivity(unchecked) var authority: Authority
    /// Whether it is in `GroupCommit.dirty`.
    @exclusivity(unchecked) var isDirty = false
    /// True while it is unknown whether the store has the last batch, and while others' commits are being adopted. In
    /// the meantime, no more commits of the list are handed over.
    @exclusivity(unchecked) var isUnsettled = false
    /// Whether it is in `Service.news`.
    @exclusivity(unchecked) var hasNews = false
    var presence = PresenceBoard()
    /// Whether the people at other servers are still unknown. The first subscriber is told of all people at once.
    var awaitsVisitors = false
    @exclusivity(unchecked) private(set) var subscribers = ConnectionSet()
    /// The revision of the newest known snapshot in the store.
    var snapshotRevision: Int
    var isSavingSnapshot = false
    /// The revision before the oldest commit in the store.
    var storeFloor: Int
    /// The revision at the last trim.
    var trimmedAt: Int
    var isTrimming = false
    @exclusivity(unchecked) var whenWritten: [AfterWrite] = []
    /// The edits that wait, in order, while a large one is being made; nil if none is.
    var heldEdits: [(connection: UInt64, submission: Submission)]?
    /// When the last subscriber left, in milliseconds.
    var idleSince: UInt64
    /// The number of the load that made this object.
    let load: UInt64

    init(_ list: StoredList, _ authority: Authority, snapshot: Int, load: UInt64, now: UInt64) {
        self.list = list
        self.load = load
        self.authority = authority
        snapshotRevision = snapshot
        storeFloor = list.floor
        trimmedAt = authority.revision
        idleSince = now
    }

    var reference: Reference { Reference(number: list.number, load: load) }
    var subscriberCount: Int { subscribers.count }

    /// Whether the store has the same list.
    func isAt(_ head: StoredHead?) -> Bool {
        head?.revision == authority.revision && head?.digest == authority.digest && head?.name == list.name
    }

    func add(_ connection: Connection) {
        subscribers.add(connection)
    }

    func remove(_ connection: Connection, now: UInt64) {
        subscribers.remove(connection)
        if subscribers.isEmpty { idleSince = now }
    }

    /// Whether there are so many commits since the last snapshot that a new one makes loading faster. This spreads the
    /// cost of writing snapshots over the commits.
    func wantsSnapshot(_ limits: Limits) -> Bool {
        !isSavingSnapshot && authority.revision - snapshotRevision >= stride(limits)
    }

    /// Whether it is time to look for commits that may be forgotten. The cost is spread over as many commits.
    func wantsTrim(_ limits: Limits) -> Bool {
        !isTrimming && authority.revision - trimmedAt >= stride(limits)
    }

    private func stride(_ limits: Limits) -> Int { limits.snapshotStride(items: authority.count) }

    /// Whether nobody has needed the list in memory for `delay` milliseconds.
    func isIdle(for delay: UInt64, now: UInt64) -> Bool {
        subscribers.isEmpty && whenWritten.isEmpty && heldEdits == nil && !authority.isBusy && !isUnsettled
            && !isSavingSnapshot && !isTrimming && now >= idleSince + delay
    }

    /// Returns how a subscriber is brought up to date from `revision` of history `logID`: by commits, or by a snapshot
    /// if that is smaller, or if the client would mistake a commit of its own for somebody else's.
    ///
    /// A client that has not seen all its own commits gets them one by one if possible. From a snapshot it could not tell whether
    /// its own program made them, or a copy of it.
    func start(
        from revision: Int, logID: UInt64, for author: Author, hasDigest: Bool
    ) -> DownMessage.Subscribed.Start {
        let hand = authority.hand
        let resumed = DownMessage.Subscribed.Start.resumed(
            head: authority.revision, digest: hasDigest ? hand.digest : nil)
        let isKnown =
            logID == authority.logID && (storeFloor...authority.revision).contains(revision)
            && authority.knowsItsOwn(author, after: revision)
        if isKnown && revision >= authority.floor { return resumed }
        // A commit takes about as many bytes on the wire as two items.
        if isKnown
            && ((authority.revision - revision) * 2 <= authority.count
                || authority.hasCommits(of: author, after: revision))
        {
            return resumed
        }
        return .snapshot(revision: authority.revision, count: hand.count, digest: hand.digest)
    }
}

extension Limits {
    /// Returns the number of commits between two snapshots of a list with so many items.
    func snapshotStride(items: Int) -> Int { max(snapshotCommits, items / 4) }
}
