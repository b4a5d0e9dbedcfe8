import Foundation

/// A folder that is removed after the test. Its path contains no links, as the faulty disk requires.
package final class TemporaryFolder: Sendable {
    package let path: String

    /// - Parameter isInMemory: whether the folder is in memory, for tests with many small stores that would wait for
    ///   the disk.
    package init(isInMemory: Bool = false) throws {
        let memory = URL(fileURLWithPath: "/dev/shm")
        let isThere = isInMemory && FileManager.default.isWritableFile(atPath: memory.path)
        let temporary = isThere ? memory : FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
        path = temporary.appendingPathComponent("hand-" + UUID().uuidString.prefix(8)).path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }
}
