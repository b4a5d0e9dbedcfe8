import Glibc
import HandSync
import Synchronization

/// Keeps a second process from opening the same store: an advisory lock on a file beside it, released by the kernel
/// however the process ends.
final class StoreLock: Sendable {
    private let descriptor: Mutex<Int32?>

    init(path: String, folder: String) throws(StoreError) {
        let descriptor = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw .failed("cannot open \(path): \(String(cString: strerror(errno)))")
        }
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
