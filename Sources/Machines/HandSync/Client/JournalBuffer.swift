/// A write to a client's journal, which is made as a whole or not at all.
public enum JournalWrite: Sendable {
    /// Appended to what is kept of the list.
    case append([JournalEvent], list: String)
    /// Replaces all that is kept of the list, also under its former name.
    case checkpoint(Replica, list: String, formerName: String?)
    /// The submission to a history with that sequence is an undo or a redo.
    case step(Retrace.Step, log: UInt64, sequence: UInt64)
    /// That sequence is used in that history, and no list that is kept says so.
    case used(log: UInt64, sequence: UInt64)
    /// The author number that the server gave this client under that name.
    case met(author: UInt64, person: String)
    /// A commit of this client was made under that number and name.
    case committed(author: UInt64, person: String)
    /// Another program has this client's id.
    case shared
}

/// What a client still has to write to its journal, in order, and how much is written.
///
/// Each event that must be on disk before anything more is sent raises `mark`. What was done at a mark may be sent, and
/// survives a crash, when `keptMark` has reached it.
public struct JournalBuffer: Sendable {
    /// Counts what must be kept before anything more is sent.
    package private(set) var mark = 0
    /// The mark up to which everything is on disk.
    package private(set) var keptMark = 0
    /// Whether the last attempt failed; cleared by what makes another one worth while.
    package private(set) var hasFailed = false
    private var writes: [JournalWrite] = []
    /// Events of lists that are not among the writes yet.
    private var events: [String: [JournalEvent]] = [:]
    /// Lists that are written anew as a whole, with their former names if they were renamed.
    private var replaced: [String: String?] = [:]
    /// Events written since the last checkpoint, by list.
    private var written: [String: Int] = [:]
    /// What is being written, and the mark that this reaches.
    private var underWay: (writes: [JournalWrite], mark: Int)?

    /// Commits that may wait in memory, as the server can send them again.
    private let waiting: Int
    /// Events after which a list is written anew as a whole.
    private let compaction: Int

    public init(waiting: Int = 256, compaction: Int = 20_000) {
        self.waiting = waiting
        self.compaction = compaction
    }

    /// Whether everything that must be on disk is there.
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

    /// Writes all that waits now.
    package mutating func flush() {
        if !isKept || !writes.isEmpty || !events.isEmpty { hurry() }
    }

    /// Tries the failed write again.
    package mutating func retry() { hasFailed = false }

    /// Counts events that earlier programs have kept of a list. Otherwise a journal that is only ever opened
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

    /// The writes to make now; nil if there are none, or while earlier ones are under way.
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

    /// The first `count` of the taken writes are on disk. The others come first when more are taken.
    package mutating func wrote(_ count: Int) {
        guard let (taken, reached) = underWay else { return }
        underWay = nil
        hasFailed = count < taken.count
        if hasFailed { writes = taken[count...] + writes } else { keptMark = reached }
    }
}
