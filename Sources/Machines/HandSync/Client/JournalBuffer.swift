import HandCore

/// An atomic write to a client's journal.
public enum JournalWrite: Sendable {
    /// Appends to the stored events of the list.
    case append([JournalEvent], list: String)
    /// Replaces everything that is stored of the list, also under its former name.
    case checkpoint(Replica, list: String, formerName: String?)
    /// Records a submission with an undo or redo, with several edits, or with an edit on an excerpt.
    case submission(JournalSubmission, person: String)
    /// Records that a submission became the commit of a revision; nil if it became no commit.
    case answered(log: UInt64, sequence: SequenceNumber, revision: Int?)
    /// Records what a person can undo and redo on a list.
    case undo(UndoBase, log: UInt64, person: String)
    /// Records what others may still override of a person's commits.
    case work(KeptWork, list: String, person: String)
    /// Keeps a person's lost edit until the person decides about it.
    case lost(Loss, list: String, log: UInt64, person: String)
    /// Forgets a lost edit of a list, as its person has got it back.
    case found(Loss, list: String)
    /// Records that a person has been told of all lost edits of a list.
    case told(list: String, person: String)
    /// Records that the sequence is used in that history, if no stored list records the sequence.
    case used(log: UInt64, sequence: SequenceNumber)
    /// Records the author number that the server gave this client under that name.
    case met(author: AuthorID, person: String)
    /// Records that a commit of this client was made under that number and name.
    case committed(author: AuthorID, person: String)
    /// Records that another program uses this client's id.
    case shared
}

/// What a client still has to write to its journal, in order, and how much has been written.
///
/// Each event that must be on disk before anything more is sent raises `mark`. A message that was made at a mark may be
/// sent, and everything up to that mark survives a crash, once `keptMark` has reached the mark.
public struct JournalBuffer: Sendable {
    /// Counts the events that must be kept before anything more is sent.
    package private(set) var mark = 0
    /// The mark up to which everything is on disk.
    package private(set) var keptMark = 0
    /// Whether the last attempt failed; cleared by anything that makes another attempt worthwhile.
    package private(set) var hasFailed = false
    private var writes: [JournalWrite] = []
    /// Events that are not in `writes` yet, by list.
    private var events: [String: [JournalEvent]] = [:]
    /// Lists to be rewritten as a whole, with their former names if they were renamed.
    private var replaced: [String: String?] = [:]
    /// Events written since the last checkpoint, by list.
    private var written: [String: Int] = [:]
    /// The writes in progress, and the mark that they reach.
    private var inProgress: (writes: [JournalWrite], mark: Int)?

    /// The number of commits that may wait in memory, as the server can send them again.
    private let waiting: Int
    /// The number of events after which a list is rewritten as a whole.
    private let compaction: Int

    public init(waiting: Int = 256, compaction: Int = 20_000) {
        self.waiting = waiting
        self.compaction = compaction
    }

    /// Whether everything that must be on disk is on disk.
    package var isKept: Bool { keptMark == mark }

    package mutating func add(_ write: JournalWrite, isUrgent: Bool) {
        writes.append(write)
        if isUrgent { raiseMark() }
    }

    package mutating func add(_ event: JournalEvent, to list: String) {
        events[list, default: []].append(event)
        if event.isUrgent || events[list, default: []].count > waiting { raiseMark() }
    }

    private mutating func raiseMark() {
        mark += 1
        hasFailed = false
    }

    /// Writes everything that is waiting.
    package mutating func flush() {
        if !isKept || !writes.isEmpty || !events.isEmpty { raiseMark() }
    }

    /// Retries the failed write.
    package mutating func retry() { hasFailed = false }

    /// Counts events of a list that earlier runs have stored. Otherwise a journal that is only ever opened for a short
    /// while would never be rewritten.
    package mutating func found(_ count: Int, of list: String) { written[list] = count }

    /// Call this when a list's replica was replaced. The new replica contains all events collected so far.
    package mutating func replace(_ list: String) {
        events[list] = nil
        replaced.updateValue(replaced[list] ?? nil, forKey: list)
        raiseMark()
    }

    /// Call this when a list was renamed; from now on it is stored under the new name.
    package mutating func move(_ list: String, to name: String) {
        let first = replaced.removeValue(forKey: list) ?? nil
        (events[list], events[name], written[list]) = (nil, nil, nil)
        replaced.updateValue(first ?? list, forKey: name)
        raiseMark()
    }

    /// Call this when the client stops following a list; its collected events are kept.
    package mutating func close(_ list: String, _ replica: Replica) {
        collect(list, replica)
        written[list] = nil
        flush()
    }

    /// Returns the writes to make now, or nil if there are none, or while earlier ones are in progress.
    ///
    /// - Parameter replica: returns a list's current replica, which contains all collected events.
    package mutating func take(_ replica: (String) -> Replica?) -> [JournalWrite]? {
        guard !isKept, inProgress == nil, !hasFailed else { return nil }
        var lists = Set(replaced.keys).union(events.keys).sorted()
        let formerNames = Set(replaced.values.compactMap { $0 })
        while !lists.isEmpty {
            // A list leaves its former name before another one gets it.
            let next =
                lists.firstIndex { name in
                    !formerNames.contains(name) || !lists.contains { $0 != name && replaced[$0] == name }
                } ?? 0
            let list = lists.remove(at: next)
            collect(list, replica(list))
        }
        inProgress = (writes, mark)
        writes = []
        return inProgress?.writes
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

    /// Call this when the first `count` of the taken writes are on disk. The other writes come first in the next
    /// `take`.
    package mutating func wrote(_ count: Int) {
        guard let (taken, reached) = inProgress.take() else { return }
        hasFailed = count < taken.count
        if hasFailed { writes = taken[count...] + writes } else { keptMark = reached }
    }
}
