import HandCore
import HandWire

/// One list in the server's memory: its authority, those who follow it, and who of them is where.
final class HostedList {
    /// A list as it was loaded at some time. Loaded again, it has another reference.
    struct Reference: Sendable {
        let number: UInt64
        let load: UInt64
    }

    var list: StoredList
    // As with `Connection`, nothing that is called while the authority changes asks it something else.
    @exclusivity(unchecked) var authority: Authority
    /// Whether it is among those with commits that are to be written (`GroupCommit.dirty`).
    @exclusivity(unchecked) var isDirty = false
    /// Whether the store could not say whether it has the batch that was handed over last, or others' commits come first.
    @exclusivity(unchecked) var isUnsettled = false
    var presence = PresenceBoard()
    /// Whether it is still to be found out who is at other servers: whoever comes first is told of all at once.
    var awaitsVisitors = false
    private(set) var subscribers = ConnectionSet()
    /// Revision of the newest snapshot on disk that is known of.
    var snapshotRevision: Int
    var isSavingSnapshot = false
    /// The revision before the oldest commit in the store.
    var storeFloor: Int
    /// The revision at which it was last asked whether commits may be forgotten.
    var trimmedAt: Int
    var isTrimming = false
    var whenWritten: [AfterWrite] = []
    /// Whether a large edit of it is being made, so that other edits wait.
    var isHeld = false
    /// The edits that wait for the large one, in order.
    var heldEdits: [(connection: UInt64, submission: Submission)] = []
    /// When the last subscriber left, in milliseconds.
    var idleSince: UInt64
    /// Which load of the list it is.
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

    /// Whether it is as the store has it.
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

    /// Whether so much has happened since the last snapshot that loading would take longer than reading a new one: the
    /// cost of writing it is thereby spread over the commits.
    func wantsSnapshot(_ limits: Limits) -> Bool {
        !isSavingSnapshot && authority.revision - snapshotRevision >= stride(limits)
    }

    /// Whether it is time to look for commits that may be forgotten: what that costs is spread over as many commits.
    func wantsTrim(_ limits: Limits) -> Bool {
        !isTrimming && authority.revision - trimmedAt >= stride(limits)
    }

    private func stride(_ limits: Limits) -> Int { limits.snapshotStride(items: authority.count) }

    /// Whether nobody needs it in memory.
    func isIdle(for delay: UInt64, now: UInt64) -> Bool {
        subscribers.isEmpty && whenWritten.isEmpty && !isHeld && !authority.isBusy && !isUnsettled && !isSavingSnapshot
            && !isTrimming
            && now >= idleSince + delay
    }

    /// How a subscriber gets to the present from `revision` of history `logID`: by commits, from memory or from the store,
    /// or by a snapshot where that is smaller, or where a commit of its own would be taken for somebody else's.
    ///
    /// Who has commits that it has not seen gets them one by one where they are: in a snapshot it could not tell whether its own
    /// program made them, or a copy of it.
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
    /// Commits between two snapshots of a list with so many items.
    func snapshotStride(items: Int) -> Int { max(snapshotCommits, items / 4) }
}
