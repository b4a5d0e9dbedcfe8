import Glibc
import HandSync
import Synchronization

/// Keeps a second process from opening the same store: an advisory lock on a file next to it. The kernel releases the
/// lock however the process ends.
package final class StoreLock: Sendable {
    private let descriptors: Mutex<[Int32]>

    /// - Parameter folder: the store's folder if it contains nothing else. It is locked too, because somebody may
    ///   remove the lock file, and another process would then create a new one.
    package init(path: String, of store: String, folder: String? = nil) throws(StoreError) {
        let file: Int32
        do { file = try PrivateFile.open(path, O_RDWR) } catch { throw .failed(error.description) }
        PrivateFile.tighten(path)
        var open = [file]
        if let folder {
            let around = Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            if around >= 0 { open.append(around) }
        }
        for (index, descriptor) in open.enumerated() where !Self.lock(descriptor, tries: folder == nil ? 1 : 10) {
            // Not every file system can lock folders.
            if index > 0, errno != EWOULDBLOCK { continue }
            Self.unlock(open)
            throw .inUse(path: store)
        }
        descriptors = Mutex(open)
    }

    /// Tries several times, because a process that only checks for a lock holds one for a moment.
    private static func lock(_ descriptor: Int32, tries: Int) -> Bool {
        for attempt in 1...tries {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
            guard errno == EWOULDBLOCK, attempt < tries else { return false }
            usleep(10_000)
        }
        return false
    }

    deinit {
        release()
    }

    package func release() {
        descriptors.withLock { descriptors in
            Self.unlock(descriptors)
            descriptors = []
        }
    }

    /// Unlocks before it closes: a child process that this one is starting has copies of the descriptors until it runs
    /// its program, and the kernel keeps a lock as long as any copy is open.
    private static func unlock(_ descriptors: [Int32]) {
        for descriptor in descriptors {
            flock(descriptor, LOCK_UN)
            close(descriptor)
        }
    }
}
