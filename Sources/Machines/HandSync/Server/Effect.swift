import HandCore
import HandWire

/// The time of an event.
package struct Moment: Equatable, Sendable {
    /// Milliseconds on a clock that never goes back.
    package let now: UInt64
    /// Milliseconds since 1970, for the times of commits.
    package let wallClock: UInt64

    package init(now: UInt64, wallClock: UInt64) { (self.now, self.wallClock) = (now, wallClock) }
}

extension ServerMachine {
    /// What a machine wants done. The real server carries it out with sockets and threads; the simulation, with a
    /// virtual network and disk.
    package enum Effect {
        /// Run a request where blocking harms nobody, then call `finished`. Writes come one at a time.
        case ask(StoreRequest)
        /// Run a computation where it delays nobody, then call `finished`.
        indirect case compute(Computation)
        /// Find out who says hello, with a token or without one, then call `identified`.
        indirect case identify(UpMessage.Hello, Connection)
        /// The list of that log id has another name from now on; nil if it was deleted. Roles on the list stay with it.
        /// Then call `accessChanged`.
        indirect case called(UInt64, String?)
        /// Send a hint to other servers. It may get lost.
        indirect case tell(StoreHint)
        /// Note an event for the operator.
        indirect case note(ServerNote)
        /// End the process, because nobody knows what the disk holds. It starts again from the disk.
        indirect case end(StoreError)
    }

    func note(_ note: ServerNote) { emit(.note(note)) }
}
