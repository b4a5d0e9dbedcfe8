import HandCore
import HandSync
import HandWire

/// Everything that can happen to the model.
package enum Event: Sendable {
    case input(Input)
    /// The deadline that the model named has come.
    case tick
    /// There is time for work that was begun.
    case continueWork
    case connection(ClientMachine.Status)
    /// Milliseconds that the server took to answer.
    case latency(UInt64)
    /// The server says something that answers nothing.
    case told(String)
    case list(String, ListEvent)
    case lists([DownMessage.ListEntry])
    /// Lists that are kept on this machine.
    case kept([String])
    case history(list: String, [Commit], people: [UInt64: String])
    case state(list: String, revision: Int, Hand)
    /// What was asked did not come to be.
    case failed(Command, String)
    case done(Command)
}
