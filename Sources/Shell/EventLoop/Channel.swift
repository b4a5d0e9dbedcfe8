/// Bytes in order, in both directions: a ``Stream``, or something that puts them into another form on their way.
///
/// Confined to its loop's thread; stays open until it is closed.
package protocol Channel: AnyObject {
    /// The other end, for people.
    var peerDescription: String { get }
    /// Called when everything that was written has been taken, after a write that was ``WriteResult/draining``.
    var onDrain: (() -> Void)? { get set }
    /// Whether bytes are waiting for the peer.
    var isWriting: Bool { get }

    /// Starts to read. `onEnd` is called at most once with `.eof`, after which can still be written, and at most once with a
    /// failure, after which it is only to be closed.
    func open(_ onBytes: @escaping (UnsafeRawBufferPointer) -> Void, onEnd: @escaping (ChannelEnd) -> Void)
    func stopReading()
    func resumeReading()
    /// The buffers themselves are not needed afterwards; their owners are kept until their bytes are written.
    @discardableResult func write(_ buffers: UnsafeBufferPointer<OutputBuffer>) -> WriteResult
    /// Ends this direction, once everything is written.
    func shutdown()
    func close()
}

extension Channel {
    @discardableResult
    package func write(_ buffers: [OutputBuffer]) -> WriteResult {
        buffers.withUnsafeBufferPointer { write($0) }
    }
}

/// Why nothing more comes.
package enum ChannelEnd: Equatable, Sendable, CustomStringConvertible {
    /// The peer has ended its direction.
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
