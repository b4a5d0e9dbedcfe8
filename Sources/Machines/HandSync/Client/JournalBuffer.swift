/// Something that a client's journal is to take, whole or not at all.
public enum JournalWrite: Sendable {
    /// Behind what is kept of the list.
    case append([JournalEvent], list: String)
    /// In the place of all that is kept of the list, also under a name that it had before.
    case checkpoint(Replica, list: String, formerName: String?)
    /// The submission to a history with that sequence is an undo or a redo.
    case step(Retrace.Step, log: UInt64, sequence: UInt64)
    /// Of the submissions to a history, the server has not taken those after that sequence: what was kept of them is void.
    case forgetSteps(log: UInt64, after: UInt64)
    /// The server calls this client by that number under that name.
    case met(author: UInt64, person: String)
    /// A commit of this client was made under that number and name.
    case committed(author: UInt64, person: String)
    /// Another program has this client's id.
    case shared
}

/// What a client wants kept and has not kept yet, in order; and how far it is kept.
///
/// Whatever must be on disk before anything more is sent raises `mark`. What was done at a mark may be sent, and is safe from a
/// crash, when `keptMark` has reached it.
public struct JournalBuffer: Sendable {
    /// Counts what must be kept before anything more is sent.
    package private(set) var mark = 0
    /// Up to where it is kept.
    package private(set) var keptMark = 0
    /// Whether the last attempt failed; cleared by what makes another one worth while.
    package private(set) var hasFailed = false
    private var writes: [JournalWrite] = []
    /// Events of lists that are not among the writes yet.
    private var events: [String: [JournalEvent]] = [:]
    /// Lists of which everything is written anew, and the names under which that was kept before, where they had another.
    private var replaced: [String: String?] = [:]
    /// Events written since the last checkpoint, by list.
    private var written: [String: Int] = [:]
    /// What is being written, and the mark that this reaches.
    private var underWay: (writes: [JournalWrite], mark: Int)?

    /// Commits that may wait in memory: they can be had from the server again.
    private let waiting: Int
    /// Events after which a list is written anew as a whole.
    private let compaction: Int

    public init(waiting: Int = 256, compaction: Int = 20_000) {
        self.waiting = waiting
        self.compaction = compaction
    }

    /// Whether nothing is left that must be kept.
    package var isKept: Bool { keptMark == mark }

    package mutating func add(_ write: JournalWrite, isUrgent: Bool) {
        writes.append(write)
        if isUrgent { hurry() }
    }

    package mutating func add(_ event: JournalEvent, to list: String) {
        events[list, default: []].append(event)
        if event.isUrgent || events[list, default: []].count > waiting { hurry() }
    }

    private mutating func hurry() {
        mark += 1
        hasFailed = false
    }

    /// Has all that waits kept now.
    package mutating func flush() {
        if !isKept || !writes.isEmpty || !events.isEmpty { hurry() }
    }

    /// Tries again to keep what could not be kept.
    package mutating func retry() { hasFailed = false }

    /// So many events of a list were kept by programs that ran before: they count, or a journal that is only ever opened
    /// for a short while would never be written anew.
    package mutating func found(_ count: Int, of list: String) { written[list] = count }

    /// The replica was set anew; what was collected of it so far is in it.
    package mutating func replace(_ list: String) {
        events[list] = nil
        replaced.updateValue(replaced[list] ?? nil, forKey: list)
        hurry()
    }

    /// A list has another name, under which it is kept from now on.
    package mutating func move(_ list: String, to name: String) {
        let first = replaced.removeValue(forKey: list) ?? nil
        (events[list], events[name], written[list]) = (nil, nil, nil)
        replaced.updateValue(first ?? list, forKey: name)
        hurry()
    }

    /// A list is followed no longer; what was collected of it is kept.
    package mutating func letGo(_ list: String, _ replica: Replica) {
        collect(list, replica)
        written[list] = nil
        flush()
    }

    /// What is to be written now, all in one go; nil if nothing is, or while something is being written.
    ///
    /// - Parameter replica: a list's replica as it is now, which contains all events that were collected.
    package mutating func take(_ replica: (String) -> Replica?) -> [JournalWrite]? {
        guard !isKept, underWay == nil, !hasFailed else { return nil }
        for list in Set(replaced.keys).union(events.keys).sorted() { collect(list, replica(list)) }
        underWay = (writes, mark)
        writes = []
        return underWay?.writes
    }

    private mutating func collect(_ list: String, _ replica: Replica?) {
        let collected = events.removeValue(forKey: list) ?? []
        let formerName = replaced.removeValue(forKey: list)
        let isLong = written[list, default: 0] + collected.count > compaction
        if let replica, formerName != nil || isLong {
            writes.append(.checkpoint(replica, list: list, formerName: formerName ?? nil))
            written[list] = 0
        } else if !collected.isEmpty {
            writes.append(.append(collected, list: list))
            written[list, default: 0] += collected.count
        }
    }

    /// The first so many of what was taken are on disk. What is left comes first when more is taken.
    package mutating func wrote(_ count: Int) {
        guard let (taken, reached) = underWay else { return }
        underWay = nil
        hasFailed = count < taken.count
        if hasFailed { writes = taken[count...] + writes } else { keptMark = reached }
    }
}
