import HandCore
import HandSync
import HandWire

/// A `CommitStore` on a virtual disk.
///
/// `@unchecked Sendable` is safe: one thread runs a simulation.
package final class SimulatedStore: ContentsStore, @unchecked Sendable {
    let disk: VirtualDisk
    /// The last number given to an author. The next process continues after it.
    private var lastAuthor: AuthorID = 0

    init(_ disk: VirtualDisk, isShared: Bool = false) {
        self.disk = disk
        self.isShared = isShared
    }

    /// A store that starts empty and loses nothing.
    ///
    /// - Parameter isShared: whether several servers write to it.
    package convenience init(isShared: Bool = false) {
        self.init(VirtualDisk(flushesAtOnce: true), isShared: isShared)
    }

    package let isShared: Bool

    /// The fate of an append to a shared store, and of its answer.
    package enum Fate: Sendable {
        case answered
        /// The append is not executed, and there is no answer.
        case lost
        /// The append is executed, but there is no answer.
        case executed
    }

    /// The fates of the next batches, in order. Later batches are answered.
    package var fates: [Fate] = []

    /// The presence entries of each server. When the store restarts, these entries are forgotten, and nothing else.
    package var presence: [PresencePlace: PresenceNews] = [:]
    var seen: [UInt64: UInt64] = [:]
    /// The store's clock, in milliseconds.
    package var now: () -> UInt64 = { 0 }

    /// Few commits at once, as with a slow disk.
    package var step: Int { 3 }

    package func read<Value: Sendable>(_ body: (StoreContents) throws -> Value) throws -> Value { try disk.read(body) }

    package func write<Value: Sendable>(_ body: (inout StoreContents) throws -> Value) throws -> Value {
        try disk.write(body)
    }

    @discardableResult
    package func append(_ batches: [CommitBatch], by newcomers: [Newcomer]) throws -> [Appended] {
        guard isShared else { return try disk.write { try $0.append(batches, by: newcomers) } }
        if !newcomers.isEmpty { _ = try disk.write { try $0.append([], by: newcomers) } }
        return try batches.map { batch in
            let fate = fates.isEmpty ? .answered : fates.removeFirst()
            if fate == .lost { return .unknown(Self.noAnswer) }
            let outcome = try appendAlone(batch)
            return fate == .executed ? .unknown(Self.noAnswer) : outcome
        }
    }

    static let noAnswer = StoreError.unreachable("simulated", why: "it does not answer")

    /// Appends a batch in a transaction of its own. The same batch is committed only once.
    private func appendAlone(_ batch: CommitBatch) throws -> Appended {
        guard let head = try disk.read({ try $0.head(of: batch.list) }), batch.logID ?? head.logID == head.logID else {
            return .gone
        }
        let missed = disk.read { $0.frames(of: batch.list, after: batch.expected, about: .max) }
        if !missed.isEmpty { return batch.isPrefix(of: missed) ? .taken : .conflict(missed) }
        guard head.revision == batch.expected, batch.digest ?? head.digest == head.digest else { return .conflict([]) }
        _ = try disk.write { try $0.append([batch], by: []) }
        return .taken
    }

    /// Ignores the snapshot if the server is late and the history has gone back in between: then the snapshot belongs
    /// to another history.
    package func saveSnapshot(of list: ListNumber, _ hand: Hand, revision: Int, deck: Deck?) throws {
        if isShared, (try? state(of: list, at: revision))?.digest != hand.digest { return }
        try disk.write { $0.saveSnapshot(of: list, hand, revision: revision, deck: deck) }
    }

    package func author(for client: ClientID, person: String) throws -> (author: Author, isNew: Bool) {
        let found = disk.read { contents in
            contents.author(for: client, person: person) {
                lastAuthor = lastAuthor.next
                return lastAuthor
            }
        }
        guard isShared, found.isNew else { return found }
        // The other servers must find the new author.
        _ = try disk.write { try $0.append([], by: [Newcomer(found.author, client: client, person: person)]) }
        return (found.author, false)
    }
}
