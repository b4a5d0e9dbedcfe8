import HandWire

package enum StoreError: Error, Equatable, Sendable {
    /// Another process has the store open.
    case inUse(path: String)
    /// The store was written by a newer program.
    case newer(path: String, found: Int, known: Int)
    /// The store was written before 1.0.
    case older(path: String)
    /// There is no file to read.
    case noStore(path: String)
    /// A recovery has moved the store aside, and its new one is not in its place yet.
    case recovering(path: String)
    /// The database, named here, has no tables of a store.
    case emptyDatabase(String)
    case notAStore(path: String)
    /// The stored data is inconsistent.
    case damaged(String)
    /// A list does not have the revision that a batch is based on: another server wrote to it.
    case conflict(list: ListNumber, expected: Int, found: Int)
    case noSuchList(String)
    case listExists(String)
    /// Roles were granted for the list that somebody is to make under that name: another list must not get them.
    case nameIsAwaited(String)
    /// There is no such deletion, or it can no longer be undone.
    case notDeleted(String)
    case noSuchRevision(Int, oldest: Int, newest: Int)
    /// The disk did not confirm a flush: its contents are unknown, so the process must end and restart from the disk.
    case syncFailed(path: String)
    /// Somebody removed or replaced the open files; a copy of their contents is at `saved`.
    case removed(path: String, saved: String?)
    /// Somebody wrote over the open file. The commits of its log that are not lost are in the file `log`.
    case overwritten(path: String, log: String)
    /// The database of a shared store, named here, cannot be reached, or did not answer in time; `why` is the reason.
    case unreachable(String, why: String)
    /// The disk, the permissions or the database failed.
    case failed(String)
}

extension StoreError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .inUse(let path):
            "the store \(path) is in use by another process. Stop that server, or start this one with another --data."
        case .newer(let path, let found, let known):
            "the store \(path) has format \(found); this program knows formats up to \(known). "
                + "Use the newer program, or another store."
        case .older(let path):
            "\(path) was written before hand 1.0, whose formats this program does not read; nothing was changed. "
                + "Move it away, and keep it if you need what is in it."
        case .noStore(let path):
            "there is no store and no backup at \(path). Name the folder of a store (--data), or a file that 'hand backup' wrote."
        case .recovering(let path):
            "the store \(path) is just being replaced by a backup. Run the command again; if that recovery was killed, "
                + "'hand serve' or another 'hand recover' completes it."
        case .emptyDatabase(let database):
            "there is no store in the database \(database). Check the address: only 'hand serve', 'hand recover' and "
                + "'hand store copy' make a new store."
        case .notAStore(let path):
            "\(path) is not a hand store, or it is damaged from its first page on. "
                + "Move it away or restore it from a backup; nothing was changed."
        case .damaged(let what): "the store is damaged: \(what). Restore it from a backup; nothing was changed."
        case .conflict(let list, let expected, let found):
            "list \(list) is at revision \(found), not at \(expected): another server writes to this store."
        case .noSuchList(""): "the list no longer exists"
        case .noSuchList(let name): "there is no list '\(name)'"
        case .listExists(let name): "there is already a list '\(name)'"
        case .nameIsAwaited(let name):
            "roles were granted for a new list '\(name)', which another list must not get with the name. Choose another name"
        case .notDeleted(let name): "there is no deleted list '\(name)' that could be restored"
        case .noSuchRevision(let revision, let oldest, let newest) where revision < oldest:
            "revision \(revision) is no longer kept; the oldest is \(oldest), the newest \(newest)"
        case .noSuchRevision(let revision, _, let newest):
            "there is no revision \(revision); the newest is \(newest)"
        case .syncFailed(let path):
            "the disk did not confirm that \(path) was written. Check the disk, then start again."
        case .removed(let path, let saved?):
            "\(path), or its log beside it, was removed or replaced while the server had it open. All that the server knew is "
                + "saved in \(saved): 'hand verify' checks it, 'hand recover --replace' puts it in the store's place."
        case .removed(let path, nil):
            "\(path), or its log beside it, was removed or replaced while the server had it open, and what the server knew "
                + "could not be saved. Restore the store from a backup."
        case .overwritten(let path, let log):
            "another program wrote over \(path) while the server had it open. The server starts with what is in it now; "
                + "the last edits from before may be in \(log). To restore a store, use 'hand recover --replace'."
        case .unreachable(let database, let why):
            "the database \(database) cannot be reached: \(why)"
        case .failed(let what): what
        }
    }
}

extension StoreError {
    /// Whether the process must end, as nothing that it writes is safe any longer.
    package var isFinal: Bool {
        switch self {
        case .syncFailed, .removed, .overwritten: true
        case .inUse, .newer, .older, .noStore, .recovering, .emptyDatabase, .notAStore, .damaged, .conflict,
            .noSuchList, .listExists, .nameIsAwaited, .notDeleted, .noSuchRevision, .unreachable, .failed:
            false
        }
    }

    /// Whether the disk or the system refused something, and nothing is wrong with the store itself.
    package var isOfDisk: Bool {
        switch self {
        case .failed, .syncFailed: true
        default: false
        }
    }

    /// Returns what `body` returns or throws; other errors become `StoreError.failed`.
    package static func catching<Value>(_ body: () throws -> Value) -> Result<Value, StoreError> {
        do {
            return .success(try body())
        } catch let error as StoreError {
            return .failure(error)
        } catch {
            return .failure(.failed("\(error)"))
        }
    }
}
