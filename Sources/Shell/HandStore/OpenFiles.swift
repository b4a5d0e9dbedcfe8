import Files
import Foundation
import Synchronization

/// The files of a database that is open, as they were when it was opened: what is written to them later is lost with the process
/// if somebody removes them, or puts others in their place.
final class OpenFiles: Sendable {
    private let path: String
    private let states = Mutex<[String: FileState]>([:])
    /// Where everything was saved, once that was tried.
    private let saved = Mutex<String??>(nil)

    init(of path: String) {
        self.path = path
    }

    func remember() {
        let found = ["", "-wal", "-shm"].compactMap { ending -> (String, FileState)? in
            let file = path + ending
            return (try? FileState(at: file)).map { (file, $0) }
        }
        states.withLock { $0 = Dictionary(uniqueKeysWithValues: found) }
    }

    /// Whether the files of those names are still those. What cannot be looked at now is taken to be there.
    func areThere() -> Bool {
        states.withLock { states in
            states.allSatisfy { file, state in
                do { return try FileState(at: file)?.isSameFile(as: state) ?? false } catch { return true }
            }
        }
    }

    /// Where `save` has saved everything; nil if it could not. It is tried once.
    func saving(_ save: (String) throws -> Void) -> String? {
        saved.withLock { saved in
            if let saved { return saved }
            let file = path + ".saved-\(Int(Date().timeIntervalSince1970))"
            saved = .some((try? save(file)) == nil ? nil : file)
            return saved ?? nil
        }
    }
}
