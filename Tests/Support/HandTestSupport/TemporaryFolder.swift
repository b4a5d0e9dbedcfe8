import Foundation

/// A folder that is gone when the test is over. Its path has no links, as the faulty disk wants it.
package final class TemporaryFolder: Sendable {
    package let path: String

    /// - Parameter isInMemory: for many small stores, where no disk has to be waited for.
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
