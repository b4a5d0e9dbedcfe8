import Foundation
import Glibc

/// Notices when a process closes a file that others have open too, as after an attempt to lock it.
final class ClosingOfFile {
    private let descriptor: Int32

    init(_ path: String) throws {
        descriptor = inotify_init1(Int32(IN_CLOEXEC))
        let events = UInt32(IN_CLOSE_WRITE | IN_CLOSE_NOWRITE)
        guard inotify_add_watch(descriptor, path, events) >= 0 else { throw POSIXError(.ENOENT) }
    }

    deinit { close(descriptor) }

    func wait() throws {
        var events = [UInt8](repeating: 0, count: 4_096)
        guard read(descriptor, &events, events.count) > 0 else { throw POSIXError(.EIO) }
    }
}
