import HandCore
import HandWire

/// Where a server keeps its lists: histories of commits, and what is needed to go on from them.
///
/// Appending is compare-and-set on the revision that each list is expected to have, so that several servers can share one
/// store. All methods may be called from any thread; they throw `StoreError`.
package protocol CommitStore: Sendable {
    /// Whether asking it may take as long as a disk takes. A store that does not is asked where one is, without a thread for it.
    var blocks: Bool { get }
    /// Whether others write to it too.
    var isShared: Bool { get }

    /// Appends commits to many lists, as durable as the store was opened to be, and each author's last sequence with them: all of
    /// a batch or nothing. A store of one server's own takes all batches or throws.
    ///
    /// - Parameter newcomers: those of their authors who are new to the store.
    /// - Returns: what became of each batch.
    /// - Throws: if nothing was appended. What an earlier call has left unknown stays so.
    @discardableResult
    func append(_ batches: [CommitBatch], by newcomers: [Newcomer]) throws -> [Appended]

    /// A list's commits after `revision`, in order, as whole frames; about `bytes` of them, at least one if there is one. They
    /// begin later if the next ones have been forgotten.
    func frames(of list: UInt64, after revision: Int, about bytes: Int) throws -> [StoredFrame]

    /// What an authority needs in order to carry on: the newest snapshot and the commits since.
    func load(_ list: UInt64) throws -> Authority.Start

    /// The list as it was at `revision`.
    func state(of list: UInt64, at revision: Int) throws -> Hand

    /// How far each of some lists has come, those left out that are not there any more. In no particular order.
    func heads(of lists: [UInt64]) throws -> [StoredHead]

    /// From now on calls `onHint` soon after another server has done something, on a thread of the store's own. A store that is not
    /// shared has no hints.
    func listen(_ onHint: @escaping @Sendable (StoreHint) -> Void)

    /// Has other servers hear of what the store itself does not see. Does not wait.
    func tell(_ hint: StoreHint)

    /// Keeps a snapshot, so that loading need not go through the whole history; nothing if the history has been forgotten as far
    /// as that, or the list is gone.
    func saveSnapshot(of list: UInt64, _ hand: Hand, revision: Int, deck: Deck?) throws

    /// Forgets a part of the commits that the retention does not ask for; small parts, so that other writes need not wait.
    func trim(_ list: UInt64, keeping retention: Retention, now: UInt64) throws -> Trimmed

    /// - Parameter owner: whose list it counts as; nil for nobody's.
    func create(
        _ name: String, rules: Rules, logID: UInt64, deckSeed: UInt64?, owner: String?
    ) throws -> StoredList
    /// Gives a list another name; all else of it stays.
    ///
    /// - Throws: `StoreError.noSuchList` if it is not called any more what it was called when it was looked up; `listExists`.
    func rename(_ list: StoredList, to new: String) throws
    /// Takes its name from a list, unless it is not called any more what it was called when it was looked up. What it holds stays
    /// until it is brought back, or removed by `sweep`.
    func delete(_ list: StoredList, by person: String, at time: UInt64) throws
    /// Brings back what a deletion took away.
    func undelete(_ deletion: UInt64, as name: String) throws
    /// Deletions that can be taken back, the newest first: those with a lower number than `number`.
    ///
    /// - Parameters:
    ///   - name: what the list was called; nil for any name.
    ///   - lists: which lists it may be (`LogID.list`), few; nil for any.
    func deletedLists(
        before number: UInt64, limit: Int, named name: String?, among lists: [UInt32]?
    ) throws -> [DeletedList]
    /// Gives up the list that was deleted before all others of its owner, or before all; false if there is none.
    func giveUpOldest(of owner: String?) throws -> Bool
    /// Gives up lists that were deleted at `time` or before, and removes a part of what was given up; small parts, so that other
    /// writes need not wait. Returns whether there is more to do.
    func sweep(deletedBy time: UInt64) throws -> Bool
    func list(named name: String) throws -> StoredList?
    /// What a list is called by now that has that number in its log ids (`LogID.list`); nil if it is deleted, or was never here.
    func name(of list: UInt32) throws -> String?
    /// Lists whose names come after `name`, in the order of their names.
    func lists(after name: String, limit: Int) throws -> [StoredList]
    /// How many lists there are, deleted ones that were not given up among them: of somebody, or in all.
    func listCount(of owner: String?) throws -> Int
    /// About how many bytes it takes where it keeps them, what is free for reuse aside.
    func size() throws -> Int

    /// Gives back what forgotten commits and deleted lists took. May take as long as writing all anew.
    func compact() throws -> Compaction

    /// The author that a client is under that name: the same for ever once a commit of it is kept. Until then nothing is kept of
    /// it, and it has another number each time, which no other author is ever given.
    func author(for client: ClientID, person: String) throws -> (author: Author, isNew: Bool)
    func people(_ authors: [UInt64]) throws -> [DownMessage.Person]
    /// The numbers of authors' clients, of those that are known.
    func clients(of authors: [UInt64]) throws -> [UInt64: UInt64]

    /// Closes the store; nothing may be asked of it afterwards.
    func close() throws
}

extension CommitStore {
    package var blocks: Bool { true }
    package var isShared: Bool { false }

    /// Loads each list: for stores that nobody asks often.
    package func heads(of lists: [UInt64]) throws -> [StoredHead] {
        try lists.compactMap { list in
            let start: Authority.Start
            do { start = try load(list) } catch StoreError.noSuchList { return nil }
            guard let name = try name(of: LogID.list(start.logID)) else { return nil }
            return StoredHead(
                list: list, name: name, logID: start.logID, revision: start.revision, digest: start.hand.digest)
        }
    }

    package func listen(_ onHint: @escaping @Sendable (StoreHint) -> Void) {}
    package func tell(_ hint: StoreHint) {}

    /// For stores that keep nothing that is forgotten.
    package func compact() throws -> Compaction {
        let size = try size()
        return Compaction(before: size, after: size)
    }

    package func rename(_ name: String, to new: String) throws {
        try rename(named(name), to: new)
    }

    package func delete(_ name: String, by person: String, at time: UInt64) throws {
        try delete(named(name), by: person, at: time)
    }

    private func named(_ name: String) throws -> StoredList {
        guard let list = try list(named: name) else { throw StoreError.noSuchList(name) }
        return list
    }

    package func create(_ name: String, rules: Rules, logID: UInt64, deckSeed: UInt64?) throws -> StoredList {
        try create(name, rules: rules, logID: logID, deckSeed: deckSeed, owner: nil)
    }
}

/// The commits of one list to be written together.
public struct CommitBatch: Sendable {
    /// A commit as far as a store looks at it.
    public struct Entry: Sendable {
        /// Whose submission it was, and its revision.
        public let mark: SequenceMark
        /// The number of items, and the list's digest, after the commit.
        public let count: Int
        public let digest: UInt64
        /// The frame that clients get.
        public let frame: FrameRun
    }

    public let list: UInt64
    /// The revision that the list has before them.
    public let expected: Int
    /// In the order of their revisions.
    public let entries: [Entry]
    /// What a shared store compares besides: which history of the list it is, and the list's digest at the expected revision. Nil
    /// for whatever it is.
    package var logID: UInt64?
    package var digest: UInt64?

    package init(list: UInt64, expected: Int, commits: [Commit]) {
        let entries = commits.map { commit in
            Entry(
                mark: SequenceMark(of: commit), count: commit.count, digest: commit.digest,
                frame: FrameRun(DownMessage.commit(list: list, commit).frame))
        }
        self.init(list: list, expected: expected, entries: entries)
    }

    init(list: UInt64, expected: Int, entries: [Entry]) {
        self.list = list
        self.expected = expected
        self.entries = entries
    }

    /// Whether stored frames begin with those of the batch. O(bytes of the batch).
    package func isPrefix(of frames: [StoredFrame]) -> Bool {
        frames.count >= entries.count
            && zip(entries, frames).allSatisfy { $0.frame.bytes.elementsEqual($1.bytes) }
    }
}

/// What became of a batch.
package enum Appended: Equatable, Sendable {
    /// It is in the store.
    case taken
    /// It is not, and never will be: the list had moved on. The commits that it has after the expected revision, or the first of
    /// them; none where the list has not come as far as that, or is not what it was there: its history went back.
    case missed([StoredFrame])
    /// The answer was lost. Appended once more, the same batch is there once.
    case unknown
    /// The list has been deleted, or has another history.
    case gone
}

/// A commit as the frame that clients get.
package struct StoredFrame: Equatable, Sendable {
    package let revision: Int
    package let bytes: [UInt8]

    package init(revision: Int, bytes: [UInt8]) {
        self.revision = revision
        self.bytes = bytes
    }

    /// The commit inside.
    ///
    /// - Parameter setsTexts: as frames did before version 3 of the protocol; `resolved(on:)` has to follow.
    /// - Throws: `StoreError.damaged`.
    package func commit(setsTexts: Bool = false) throws(StoreError) -> Commit {
        var found: Commit?
        var reader = FrameReader(limit: bytes.count)
        do {
            try bytes.withUnsafeBytes { all in
                try reader.read(all) { (body) throws(WireError) -> Bool in
                    if case .commit(_, let commit) = try DownMessage(body, setsTexts: setsTexts) { found = commit }
                    return true
                }
            }
        } catch {
            throw .damaged("revision \(revision) does not read: \(error)")
        }
        guard let found else { throw .damaged("revision \(revision) holds something else than a commit") }
        return found
    }
}

/// What a store knows of a list without reading its history.
package struct StoredList: Equatable, Sendable {
    package let number: UInt64
    package var name: String
    package var logID: UInt64
    package let rules: Rules
    package var revision: Int
    package var count: Int
    /// The revision before the oldest commit that is kept.
    package var floor: Int

    package init(
        number: UInt64, name: String, logID: UInt64, rules: Rules, revision: Int, count: Int, floor: Int = 0
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

/// How far a list has come.
package struct StoredHead: Equatable, Sendable {
    package let list: UInt64
    /// What it is called by now.
    package let name: String
    package let logID: UInt64
    package let revision: Int
    package let digest: UInt64

    package init(list: UInt64, name: String, logID: UInt64, revision: Int, digest: UInt64) {
        self.list = list
        self.name = name
        self.logID = logID
        self.revision = revision
        self.digest = digest
    }
}

/// A list that was deleted and can be brought back.
package struct DeletedList: Equatable, Sendable {
    /// The number of the deletion: later ones have higher numbers, and none is used twice.
    package let deletion: UInt64
    /// With the name that it had.
    package let list: StoredList
    /// Milliseconds since 1970.
    package let time: UInt64
    /// Who deleted it, as others saw them.
    package let person: String

    package init(deletion: UInt64, list: StoredList, time: UInt64, person: String) {
        self.deletion = deletion
        self.list = list
        self.time = time
        self.person = person
    }
}

/// Bytes that a store took where it keeps them.
package struct Compaction: Equatable, Sendable {
    package let before: Int
    package let after: Int

    package init(before: Int, after: Int) {
        self.before = before
        self.after = after
    }
}

/// How much a commit must survive before it is acknowledged.
package enum Durability: String, CaseIterable, Sendable {
    /// Loss of power: each transaction is flushed to the disk.
    case fsync
    /// The end of the server process, also by `kill -9`.
    case os
}
