import HandSync

/// A store of the real world, on which the server of a simulated one works.
package protocol StoreBench: AnyObject {
    /// Its present opening.
    var store: any CommitStore { get }
    /// Whether it has no more room: writes that need some fail.
    var isFull: Bool { get set }
    /// The process ends as by `kill -9`, and another one opens what is there. It has room then.
    ///
    /// - Parameter torn: what stands behind the end of the log: the beginning of a write that was not finished.
    func crash(torn: [UInt8]) throws
}
