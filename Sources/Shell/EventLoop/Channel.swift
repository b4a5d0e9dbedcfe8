/// An ordered byte stream in both directions: a ``Stream``, or a layer above one, such as TLS.
///
/// Confined to its loop's thread. Stays open until it is closed.
package protocol Channel: AnyObject {
    /// A description of the peer for people.
    var peerDescription: String { get }
    /// Called after a ``WriteResult/draining`` write, when the system has taken all output.
    var onDrain: (() -> Void)? { get set }
    /// Whether bytes are waiting for the peer.
    var isWriting: Bool { get }

    /// Starts to read. `onEnd` is called at most once with `.eof`, after which writing is still possible, and at most
    /// once with a failure, after which the channel can only be closed.
    func open(_ onBytes: @escaping (UnsafeRawBufferPointer) -> Void, onEnd: @escaping (ChannelEnd) -> Void)
    func stopReading()
    func resumeReading()
    /// Writes bytes. The buffer pointer is needed only during the call; the buffers' owners are retained until their
    /// bytes are written.
    @discardableResult func write(_ buffers: UnsafeBufferPointer<OutputBuffer>) -> WriteResult
    /// Writes as many of the bytes as the system takes at once, and retains nothing. Returns their number: 0 if earlier bytes
    /// wait, or if the channel cannot tell.
    func writeNow(_ bytes: UnsafeRawBufferPointer) -> Int
    /// Ends the output once everything is written.
    func shutdown()
    func close()
}

extension Channel {
    package func writeNow(_ bytes: UnsafeRawBufferPointer) -> Int { 0 }

    @discardableResult
    package func write(_ buffers: [OutputBuffer]) -> WriteResult {
        buffers.withUnsafeBufferPointer { write($0) }
    }
}

/// The reason why no more input will arrive.
package enum ChannelEnd: Equatable, Sendable, CustomStringConvertible {
    /// The peer has ended its output.
    case eof
    case failed(String)

    package var description: String {
        switch self {
        case .eof: "the connection was closed"
        case .failed(let reason): reason
        }
    }
}

extension Stream: Channel {
    package final func open(
        _ onBytes: @escaping (UnsafeRawBufferPointer) -> Void, onEnd: @escaping (ChannelEnd) -> Void
    ) {
        startReading(onBytes) { onEnd($0.isEOF ? .eof : .failed("\($0)")) }
    }

    package final func shutdown() { shutdown { _ in } }
    package final func close() { close(nil) }
}
