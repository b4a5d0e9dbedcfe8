import Files
import Glibc
import HandSync
import Synchronization

/// Keeps a second process from opening the same store: an advisory lock on a file beside it, released by the kernel
/// however the process ends.
final class StoreLock: Sendable {
    private let descriptor: Mutex<Int32?>

    init(path: String, folder: String) throws(StoreError) {
        let descriptor: Int32
        do { descriptor = try PrivateFile.open(path, O_RDWR) } catch { throw .failed(error.description) }
        PrivateFile.tighten(path)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw .inUse(path: folder)
        }
        self.descriptor = Mutex(descriptor)
    }

    deinit {
        release()
    }

    func release() {
        descriptor.withLock { descriptor in
            if let open = descriptor { close(open) }
            descriptor = nil
        }
    }
}

extension SQLiteStore {
    /// Whether a process has the store of a folder open.
    public static func isInUse(folder: String) -> Bool {
        let descriptor = open(folder + "/lock", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { Glibc.close(descriptor) }
        return flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
    }
}
