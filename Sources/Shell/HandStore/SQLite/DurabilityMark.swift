import Disk
import Glibc
import HandSync

/// A file next to the store that exists while everything in the log was written with a flush after each transaction.
/// Only then does an unreadable part in the middle of the log mean damage; without flushes, a power failure may lose
/// any part of it.
///
/// It is not kept in the database, because it must be known before the log is read.
struct DurabilityMark {
    private static let content = "fsync\n"
    private let folder: String
    private var path: String { folder + "/durability" }

    init(folder: String) {
        self.folder = folder
    }

    var isSet: Bool { (try? PrivateFile.read(path))??.bytes == Array(Self.content.utf8) }

    /// Sets the mark. Call this when the log is empty, on the disk too.
    func set() throws(StoreError) {
        let descriptor: Int32
        do { descriptor = try PrivateFile.open(path, O_WRONLY | O_TRUNC) } catch { throw .failed(error.description) }
        defer { close(descriptor) }
        if let reason = WholeWrite.write(Array(Self.content.utf8), to: descriptor).reason { throw failure(reason) }
        try Self.flush(descriptor, path)
        try Self.flush(fileAt: folder)
    }

    /// Clears the mark. Call this before anything is written without a flush.
    func clear() throws(StoreError) {
        guard unlink(path) == 0 || errno == ENOENT else { throw failure(errno) }
        try Self.flush(fileAt: folder)
    }

    /// Flushes a file or folder, if it exists.
    static func flush(fileAt path: String) throws(StoreError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            // Some folders only let files be made in them.
            if errno == ENOENT || errno == EACCES { return }
            throw .failed("cannot open \(path): \(String(cString: strerror(errno)))")
        }
        defer { close(descriptor) }
        try flush(descriptor, path)
    }

    private static func flush(_ descriptor: Int32, _ path: String) throws(StoreError) {
        guard fsync(descriptor) == 0 else { throw .syncFailed(path: path) }
    }

    private func failure(_ code: Int32) -> StoreError {
        .failed("\(path): \(String(cString: strerror(code)))")
    }
}
