import HandCore
import HandWire

/// Where a server stores its lists: histories of commits, and what is needed to continue them.
///
/// Appending is compare-and-set on the expected revision of each list, so that several servers can share one store. All
/// methods may be called from any thread; they throw `StoreError`.
package protocol CommitStore: Sendable {
    /// Whether calls may block for as long as a disk takes. A store that does not block is called without a separate
    /// thread.
    var blocks: Bool { get }
    /// Whether other servers write to the store, too.
    var isShared: Bool { get }

    /// Appends commits to many lists, with the durability that the store was opened with, and each author's last
    /// sequence along with them. Each batch is appended as a whole or not at all. A store of a single server takes all
    /// batches or throws.
    ///
    /// - Parameter newcomers: the authors that are new to the store.
    /// - Returns: the outcome of each batch.
    /// - Throws: if nothing was appended. Unknown outcomes of earlier calls stay unknown.
    @discardableResult
    func append(_ batches: [CommitBatch], by newcomers: [Newcomer]) throws -> [Appended]

    /// Returns a list's commits after `revision`, in order, as complete frames: about `bytes` bytes of them, and at
    /// least one if there is any. The frames begin later if the next commits have been forgotten.
    func frames(of list: ListNumber, after revision: Int, about bytes: Int) throws -> [StoredFrame]

    /// Returns what an authority needs to continue: the newest snapshot with the later commits applied.
    func load(_ list: ListNumber) throws -> Authority.Start

    func state(of list: ListNumber, at revision: Int) throws -> Hand

    /// Returns the newest revisions of some lists, in no particular order; lists that no longer exist are left out.
    func heads(of lists: [ListNumber]) throws -> [StoredHead]

    /// Starts to call `onHint` soon after another server has changed something, on a thread of the store. A store that
    /// is not shared has no hints.
    func listen(_ onHint: @escaping @Sendable (StoreHint) -> Void)

    /// Sends other servers a hint about something that the store itself does not see. Does not wait.
    func tell(_ hint: StoreHint)

    /// Stores a snapshot, so that loading does not have to read the whole history. Does nothing if the history has been
    /// forgotten up to that revision, or the list is gone.
    func saveSnapshot(of list: ListNumber, _ hand: Hand, revision: Int, deck: Deck?) throws

    /// Forgets some of the commits that the retention does not require; a small number, so that other writes do not
    /// wait.
    func trim(_ list: ListNumber, keeping retention: Retention, now: UInt64) throws -> Trimmed

    /// Creates a list.
    ///
    /// - Parameter owner: the owner that the list counts for; nil for none.
    func create(_ name: String, rules: Rules, logID: UInt64, deckSeed: UInt64?, owner: String?) throws -> StoredList
    /// Renames a list; everything else stays the same.
    ///
    /// - Throws: `StoreError.noSuchList` if its name has changed since it was looked up; `listExists`.
    func rename(_ list: StoredList, to new: String) throws
    /// Deletes a list, unless its name has changed since it was looked up. Its contents stay until it is restored, or
    /// until `sweep` removes them.
    func delete(_ list: StoredList, by person: String, at time: UInt64) throws
    /// Restores the list of a deletion.
    func undelete(_ deletion: UInt64, as name: String) throws
    /// Returns deletions that can be undone, the newest first, with lower numbers than `number`.
    ///
    /// - Parameters:
    ///   - name: the former name of the list; nil for any name.
    ///   - lists: the lists to look for (`LogID.list`), a small number; nil for any.
    func deletedLists(
        before number: UInt64, limit: Int, named name: String?, among lists: [UInt32]?
    ) throws -> [DeletedList]
    /// Gives up the list of the oldest deletion of an owner, or of all owners if `owner` is nil; returns the former
    /// name of the list, or nil if there is no such deletion.
    func purgeOldest(of owner: String?) throws -> String?
    /// Gives up lists that were deleted at least `kept` milliseconds ago, and removes a part of the contents of such
    /// lists; a small part, so that other writes do not wait.
    ///
    /// The store adds up the time that its servers have seen pass, because the wall clock may be wrong, and what is
    /// given up is gone for good.
    ///
    /// - Parameter passed: how many milliseconds the caller has seen pass since its last call of `sweep`.
    func sweep(keeping kept: UInt64, passed: UInt64) throws -> Sweep
    func list(named name: String) throws -> StoredList?
    /// Returns the current name of the list with that number in its log ids (`LogID.list`), or nil if it is deleted or
    /// never existed.
    func name(of list: UInt32) throws -> String?
    /// Returns lists whose names come after `name`, in the order of their names. One whose newest revision is damaged
    /// has its floor as its revision, and no items: it does not hide the others.
    func lists(after name: String, limit: Int) throws -> [StoredList]
    /// Returns the number of lists of an owner, or of all lists if `owner` is nil. Deleted lists count until they are
    /// given up.
    func listCount(of owner: String?) throws -> Int
    /// Returns the approximate size of the store in bytes, without space that is free for reuse.
    func size() throws -> Int

    /// Frees the space of forgotten commits and deleted lists. May take as long as rewriting the whole store.
    func compact() throws -> Compaction

    /// Returns the author for a client under a name: always the same author once a commit of the author is stored.
    /// Until then nothing is stored, and each call returns another number, which is never given to any other author.
    func author(for client: ClientID, person: String) throws -> (author: Author, isNew: Bool)
    func people(_ authors: [AuthorID]) throws -> [DownMessage.Person]
    /// Returns the number of each author's client; unknown authors are left out.
    func clients(of authors: [AuthorID]) throws -> [AuthorID: AuthorID]

    /// Closes the store; it must not be used afterwards.
    func close() throws
}

extension CommitStore {
    package var blocks: Bool { true }
    package var isShared: Bool { false }

    /// Loads each list: for stores where this is rarely called.
    package func heads(of lists: [ListNumber]) throws -> [StoredHead] {
        try lists.compactMap { list in
            let start: Authority.Start
            do { start = try load(list) } catch StoreError.noSuchList { return nil }
            guard let name = try name(of: LogID.list(start.logID)) else { return nil }
            return StoredHead(
                list: list, name: name, logID: start.logID, revision: start.revision, digest: start.hand.digest)
        }
    }

    package func sweep(keeping kept: UInt64) throws -> Sweep { try sweep(keeping: kept, passed: 0) }
    package func listen(_ onHint: @escaping @Sendable (StoreHint) -> Void) {}
    package func tell(_ hint: StoreHint) {}

    /// Does nothing: for stores that free forgotten data immediately.
    package func compact() throws -> Compaction {
        let size = try size()
        return Compaction(before: size, after: size)
    }
}

/// The commits of one list to be written together.
public struct CommitBatch: Sendable {
    /// The parts of a commit that a store uses.
    public struct Entry: Sendable {
        /// The author, the sequence and the revision.
        public let mark: SequenceMark
        /// The number of items, and the list's digest, after the commit.
        public let count: Int
        public let digest: UInt64
        /// The frame that clients get.
        public let frame: FrameRun
    }

    public let list: ListNumber
    /// The revision of the list before the commits.
    public let expected: Int
    /// In the order of their revisions.
    public let entries: [Entry]
    /// What a shared store compares in addition: the list's history, and its digest at the expected revision. Nil
    /// accepts any.
    package var logID: UInt64?
    package var digest: UInt64?
}

extension CommitBatch {
    package init(list: ListNumber, expected: Int, commits: [Commit]) {
        let entries = commits.map { commit in
            Entry(
                mark: SequenceMark(of: commit), count: commit.count, digest: commit.digest,
                frame: FrameRun(DownMessage.commit(list: list, commit).frame))
        }
        self.init(list: list, expected: expected, entries: entries)
    }

    /// Whether stored frames begin with the frames of the batch. O(bytes of the batch).
    package func isPrefix(of frames: [StoredFrame]) -> Bool {
        frames.count >= entries.count
            && zip(entries, frames).allSatisfy { $0.frame.bytes.elementsEqual($1.bytes) }
    }
}

/// The outcome of appending a batch.
package enum Appended: Equatable, Sendable {
    case taken
    /// The batch is not in the store and never will be: the list had another revision. Contains the list's commits
    /// after the expected revision, or the first of them. Contains none if the list has not reached that revision, or
    /// differs there because its history went back.
    case conflict([StoredFrame])
    /// The answer was lost, for this reason. If the same batch is appended again, it is stored only once.
    case unknown(StoreError)
    /// The list has been deleted, or has another history.
    case gone
    /// This attempt has appended nothing.
    case refused(StoreError)
}

extension Appended {
    /// The usual result. Allocating a new array would take a thirtieth of the cost of a commit.
    private static let oneTaken: [Appended] = [.taken]

    package static func allTaken(_ count: Int) -> [Appended] {
        count == 1 ? oneTaken : Array(repeating: .taken, count: count)
    }
}

/// A commit as the frame that clients get.
package struct StoredFrame: Equatable, Sendable {
    package let revision: Int
    package let bytes: [UInt8]

    package init(revision: Int, bytes: [UInt8]) {
        self.revision = revision
        self.bytes = bytes
    }

    /// Decodes the commit.
    ///
    /// - Throws: `StoreError.damaged`.
    package func commit() throws(StoreError) -> Commit {
        let found = try decoded { (body) throws(WireError) -> Commit? in
            if case .commit(_, let commit) = try DownMessage(body) { commit } else { nil }
        }
        guard let found else { throw .damaged("revision \(revision) is not a commit") }
        return found
    }

    /// Decodes the commit's header.
    ///
    /// - Throws: `StoreError.damaged`.
    package func header() throws(StoreError) -> CommitHeader {
        guard let found = try decoded(CommitHeader.init(_:)), found.revision == revision else {
            throw .damaged("something else is stored in the place of revision \(revision)")
        }
        return found
    }

    private func decoded<Value>(
        _ body: (UnsafeRawBufferPointer) throws(WireError) -> Value?
    ) throws(StoreError) -> Value? {
        var found: Value?
        var reader = FrameReader(limit: bytes.count)
        do {
            try bytes.withUnsafeBytes { all in
                try reader.read(all) { (frame) throws(WireError) -> Bool in
                    found = try body(frame)
                    return true
                }
            }
        } catch {
            throw .damaged("revision \(revision) cannot be read: \(error)")
        }
        return found
    }
}

/// What a store knows about a list without reading its history.
package struct StoredList: Equatable, Sendable {
    package let number: ListNumber
    package var name: String
    package var logID: UInt64
    package let rules: Rules
    package var revision: Int
    package var count: Int
    /// The revision before the oldest commit that is kept.
    package var floor: Int

    package init(
        number: ListNumber, name: String, logID: UInt64, rules: Rules, revision: Int, count: Int, floor: Int = 0
    ) {
        self.number = number
        self.name = name
        self.logID = logID
        self.rules = rules
        self.revision = revision
        self.count = count
        self.floor = floor
    }
}

/// The newest state of a list.
package struct StoredHead: Equatable, Sendable {
    package let list: ListNumber
    package let name: String
    package let logID: UInt64
    package let revision: Int
    package let digest: UInt64

    package init(list: ListNumber, name: String, logID: UInt64, revision: Int, digest: UInt64) {
        self.list = list
        self.name = name
        self.logID = logID
        self.revision = revision
        self.digest = digest
    }
}

/// A list that was deleted and can be restored.
package struct DeletedList: Equatable, Sendable {
    /// The number of the deletion: later ones have higher numbers, and none is used twice.
    package let deletion: UInt64
    /// The list, with its former name.
    package let list: StoredList
    /// Milliseconds since 1970.
    package let time: UInt64
    /// The name of the person who deleted the list, as others saw it.
    package let person: String
    /// The milliseconds since the deletion that servers of the store have seen pass.
    package let age: UInt64

    package init(deletion: UInt64, list: StoredList, time: UInt64, person: String, age: UInt64 = 0) {
        self.deletion = deletion
        self.list = list
        self.time = time
        self.person = person
        self.age = age
    }
}

/// What a sweep has done.
package struct Sweep: Equatable, Sendable {
    /// The former names of the lists that it gave up.
    package var names: [String]
    package let hasMore: Bool

    package init(names: [String] = [], hasMore: Bool = false) {
        self.names = names
        self.hasMore = hasMore
    }
}

/// The size of a store in bytes, before and after it was compacted.
package struct Compaction: Equatable, Sendable {
    package let before: Int
    package let after: Int

    package init(before: Int, after: Int) {
        self.before = before
        self.after = after
    }
}

/// What a commit must survive before it is acknowledged.
package enum Durability: String, CaseIterable, Sendable {
    /// Loss of power: each transaction is flushed to the disk.
    case fsync
    /// The end of the server process, also by `kill -9`.
    case os
}
