import HandSync

/// A real store on disk for the simulated server to use.
package protocol StoreBench: AnyObject {
    var store: any CommitStore { get }
    /// Whether the disk is full: writes that need room fail.
    var isFull: Bool { get set }
    /// Ends the process as `kill -9` does, and opens the files again in a new one. The disk is not full afterwards.
    ///
    /// - Parameter torn: the beginning of an unfinished write, appended to the log.
    func crash(torn: [UInt8]) throws
}
