import Disk
import Glibc
import Synchronization

/// The files of an open database, as they were when it was opened. If somebody removes or replaces them, everything
/// that is written to them afterwards is lost when the process ends.
final class OpenFiles: Sendable {
    private let path: String
    private let files = Mutex<[File]>([])
    /// The path to which everything was saved, once that was tried.
    private let saved = Mutex<String??>(nil)

    init(of path: String) {
        self.path = path
    }

    func remember() {
        let found = ["", "-wal", "-shm"].compactMap { ending -> File? in
            (try? FileState(at: path + ending)).map { File(path: path + ending, state: $0) }
        }
        files.withLock { $0 = found }
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
