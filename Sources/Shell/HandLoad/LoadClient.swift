/// A scripted client as its player sees it: it follows one list and edits it.
package protocol LoadClient: AnyObject {
    /// Connects, and follows the list.
    func start()
    /// Makes an edit and sends it. Returns false if there is no item to edit.
    ///
    /// - Parameter time: when its latency starts to count, in nanoseconds.
    func edit(_ edit: ScriptRun.Edit, since time: UInt64) -> Bool
    /// Returns false if there is nothing to undo.
    func undo(since time: UInt64) -> Bool
    func redo(since time: UInt64) -> Bool
    func goOffline()
    func goOnline()
    /// Does nothing and reads nothing until `resume`, like a stopped program.
    func stall()
    func resume()
    /// Leaves for good.
    func close()
    /// Does periodic work. `now` is the loop's time in milliseconds.
    func tick(now: UInt64)

    /// Whether all edits are acknowledged.
    var isSettled: Bool { get }
    var revision: Int { get }
    /// The list's digest, if it is known: the digest of the replica or of the last commit.
    var digest: UInt64? { get }
}
