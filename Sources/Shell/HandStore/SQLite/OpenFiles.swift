import Disk
import Glibc
import Synchronization

/// The files of an open database, as they were when it was opened. If somebody removes or replaces them, everything
/// that is written to them afterwards is lost when the process ends. If somebody writes over the database, the log no
/// longer fits to it.
final class OpenFiles: Sendable {
    private let path: String
    private let files = Mutex<[File]>([])
    /// The path to which everything was saved, once that was tried.
    private let saved = Mutex<String??>(nil)
    /// The database. It stays open: closing it would release the locks that SQLite has on it (POSIX).
    private let descriptor: Int32
    /// The number in the database's header; nil if that is not known.
    private let stamp = Mutex<UInt32?>(nil)
    private let movedLog = Mutex<String?>(nil)

    init(of path: String) {
        self.path = path
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
    }

    deinit { close(descriptor) }

    /// Writes a number to the database's header by which it is known from now on. The number is that of the schema, and
    /// each opening and each copy has another one.
    ///
    /// - Parameter write: writes the number. Returns false if it may be only in the log as yet; then a database that is
    ///   overwritten is not noticed.
    func stamp(_ write: (UInt32) throws -> Bool) rethrows {
        stamp.withLock { $0 = nil }
        let new = UInt32.random(in: .min ... .max)
        if try write(new) { stamp.withLock { $0 = new } }
    }

    func remember() {
        let found = ["", "-wal", "-shm"].compactMap { ending -> File? in
            (try? FileState(at: path + ending)).map { File(path: path + ending, state: $0) }
        }
        files.withLock { $0 = found }
    }

    /// Returns whether the database is still the one that was opened, and not a copy from another time in its place.
    func isOwn() -> Bool {
        stamp.withLock { stamp in
            guard let stamp else { return true }
            // The schema cookie (https://www.sqlite.org/fileformat2.html#database_header).
            var found: UInt32 = 0
            let count = pread(descriptor, &found, 4, 40)
            // What cannot be read may still be there.
            return count < 0 || count == 4 && UInt32(bigEndian: found) == stamp
        }
    }

    /// Moves the log away, which would be applied to the wrong database by the next opening. Returns where it is.
    func moveLog() -> String {
        movedLog.withLock { moved in
            if let moved { return moved }
            let target = path + "-wal.overwritten-\(time(nil))"
            rename(path + "-wal", target)
            unlink(path + "-shm")
            moved = target
            return target
        }
    }

    /// Returns whether the paths still lead to the same files.
    func areThere() -> Bool {
        files.withLock { files in files.allSatisfy { $0.isThere } }
    }

    private struct File {
        let path: String
        let state: FileState

        /// A file that cannot be examined now counts as present.
        var isThere: Bool {
            do { return try FileState(at: path)?.isSameFile(as: state) ?? false } catch { return true }
        }
    }

    /// Returns the path to which `save` has saved everything, or nil if that failed. It is tried once.
    func saving(_ save: (String) throws -> Void) -> String? {
        saved.withLock { saved in
            if let saved { return saved }
            let file = path + ".saved-\(time(nil))"
            saved = .some((try? save(file)) == nil ? nil : file)
            return saved ?? nil
        }
    }
}
