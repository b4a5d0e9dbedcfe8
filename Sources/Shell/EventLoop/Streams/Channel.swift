/// An ordered byte stream in both directions: a ``Stream``, or a layer above one, such as TLS.
///
/// Confined to its loop's thread. Stays open until it is closed.
package protocol Channel: AnyObject {
    var peerDescription: String { get }
    /// Whether bytes are waiting for the peer.
    var isWriting: Bool { get }

    /// Starts to read, or continues with another function. `receive` gets all events: there is no function for each
    /// kind of event, because idle connections must take little memory.
    func open(_ receive: @escaping (ChannelEvent) -> Void)
    func stopReading()
    func resumeReading()
    /// Writes bytes. The buffer pointer is needed only during the call; the buffers' owners are retained until their
    /// bytes are written.
    @discardableResult func write(_ buffers: UnsafeBufferPointer<OutputBuffer>) -> WriteResult
    /// Writes as many of the bytes as the system takes at once, and retains nothing. Returns the number of bytes
    /// written: 0 if earlier bytes wait, or if the channel cannot tell.
    func writeNow(_ bytes: UnsafeRawBufferPointer) -> Int
    /// Like ``writeNow(_:)``, for two pieces in order.
    func writeNow(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> Int
    /// Ends the output once everything is written.
    func shutdown()
    func close()
}

extension Channel {
    /// Like ``Channel/open(_:)``, with a function for each kind of event.
    package func open(
        _ onBytes: @escaping (UnsafeRawBufferPointer) -> Void, onDrain: @escaping () -> Void = {},
        onEnd: @escaping (ChannelEnd) -> Void
    ) {
        open {
            switch $0 {
            case .bytes(let bytes): onBytes(bytes)
            case .drained: onDrain()
            case .ended(let end): onEnd(end)
            }
        }
    }

    package func writeNow(_ bytes: UnsafeRawBufferPointer) -> Int { 0 }
    package func writeNow(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> Int { 0 }

    @discardableResult
    package func write(_ buffers: [OutputBuffer]) -> WriteResult {
        buffers.withUnsafeBufferPointer { write($0) }
    }

    /// Ends the output, ignores the input, and closes the channel when the peer has ended its output, or after
    /// `timeout` milliseconds. A connection that is closed with unread input is reset, and the peer would not get the
    /// end of the output.
    package func closeWhenRead(within timeout: UInt64, _ loop: Loop) {
        let deadline = Timer(loop)
        let end = { [self] in
            deadline.close()
            close()
        }
        deadline.start(after: timeout, end)
        open({ _ in }, onEnd: { _ in end() })
        resumeReading()
        shutdown()
    }
}

package enum ChannelEvent {
    /// The received bytes, at least one; valid only during the call.
    case bytes(UnsafeRawBufferPointer)
    /// The system has taken all output, after a ``WriteResult/draining`` write.
    case drained
    /// No more input will arrive. Comes at most once with `.eof`, after which writing is still possible, and at most
    /// once with a failure, after which the channel can only be closed.
    case ended(ChannelEnd)
}

/// The reason why no more input will arrive.
package enum ChannelEnd: Equatable, Sendable, CustomStringConvertible {
    /// The peer has ended its output.
    case eof
    case failed(UVError)
    /// A layer above the stream has given up, for this reason.
    case broken(String)

    package var description: String {
        switch self {
        case .eof: "the connection was closed"
        case .failed(let error): "\(error)"
        case .broken(let reason): reason
        }
    }
}

extension Stream: Channel {
    package final func shutdown() { shutdown { _ in } }
    package final func close() { close(nil) }
}
