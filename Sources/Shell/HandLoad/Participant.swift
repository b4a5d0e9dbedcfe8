import HandCore
import HandScript

/// A scripted client as its script sees it: somebody who follows one list and edits it.
package protocol Participant: AnyObject {
    /// Connects, and follows the list.
    func start()
    /// Makes an edit and sends it. False if there is nothing that it could be made on, or nothing to undo.
    ///
    /// - Parameter time: from when its latency counts, in nanoseconds.
    func edit(_ edit: ScriptRun.Edit, since time: UInt64) -> Bool
    func undo(since time: UInt64) -> Bool
    func redo(since time: UInt64) -> Bool
    func goOffline()
    func goOnline()
    /// Does nothing and reads nothing until it goes on, as a program that was stopped.
    func stall()
    func goOn()
    /// Leaves for good.
    func close()
    /// What must be done from time to time; milliseconds of the loop's time.
    func tick(now: UInt64)

    /// Whether everything that was edited is acknowledged.
    var isSettled: Bool { get }
    var revision: Int { get }
    /// The list's digest, if it is known: that of the replica, or of the last commit.
    var digest: UInt64? { get }
}

/// Hears what becomes of a participant.
package protocol ParticipantDelegate: AnyObject {
    /// It is connected and has the list.
    func isReady()
    /// What was edited is acknowledged, or refused.
    func isSettled()
    func hasLost(_ reason: String)
}
