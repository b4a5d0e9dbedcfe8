import HandCore
import HandWire

/// Bytes in order, in both directions, to one client.
package protocol ByteStream: AnyObject {
    /// The other end, for people.
    var peerDescription: String { get }
    /// The address for limits; nil for a client on this machine.
    var origin: String? { get }
    /// Whether bytes wait for the client. `ServerMachine.drained` is called when the kernel has taken them all.
    var isWriting: Bool { get }
    /// Writes the runs after all earlier ones. Returns whether the kernel has taken everything at once.
    func write(_ runs: [FrameRun]) -> Bool
    /// Stops reading, so that the client's bytes stay in the network.
    func stopReading()
    func resumeReading()
    /// Ends the direction to the client once everything is written. The other direction stays open.
    func shutdown(because code: ErrorCode)
    func close()
}

extension ByteStream {
    package var origin: String? { nil }
}
