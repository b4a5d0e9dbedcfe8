import HandCore
import HandSync
import HandWire

/// Everything that can happen to the model.
package enum Event: Sendable {
    case input(Input)
    /// The model's deadline has come.
    case tick
    /// There is time to go on with unfinished work.
    case continueWork
    case connection(ClientMachine.Status)
    /// Milliseconds that the server took to answer.
    case latency(UInt64)
    /// A message of the server that answers no request.
    case told(String)
    case list(String, ListEvent)
    case lists([DownMessage.ListEntry])
    /// Lists that are kept on this machine.
    case kept([String])
    case history(list: String, [Commit], people: [UInt64: String])
    case state(list: String, revision: Int, Hand)
    /// What the user's own editor made of a text.
    case editedOutside(String)
    /// A command failed, for that reason.
    case failed(Command, String)
    case done(Command)
}
