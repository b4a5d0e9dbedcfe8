internal import CLibuv

/// Watches a descriptor that other code reads and writes, such as a terminal. Confined to its loop's thread.
///
/// The poll does not own the descriptor: close the descriptor after the poll was stopped or closed. There may be one
/// poll per descriptor. The descriptor becomes non-blocking.
package final class Poll: Handle {
    /// The operations for which a descriptor is ready.
    package struct Events: OptionSet, Hashable, Sendable {
        package let rawValue: Int32

        package init(rawValue: Int32) {
            self.rawValue = rawValue
        }

        package static let readable = Events(rawValue: Int32(UV_READABLE.rawValue))
        package static let writable = Events(rawValue: Int32(UV_WRITABLE.rawValue))
        /// The peer has ended its side.
        package static let disconnected = Events(rawValue: Int32(UV_DISCONNECT.rawValue))
    }

    private var body: ((Result<Events, UVError>) -> Void)?

    /// - Throws: `.badDescriptor`, or `EPERM` for a descriptor that cannot be watched, such as a regular file.
    package init(_ loop: Loop, descriptor: Int32) throws(UVError) {
        try super.init(loop, UV_POLL) { (loop, raw) throws(UVError) in
            try UVError.check(uv_poll_init(loop, raw.assumingMemoryBound(to: uv_poll_t.self), descriptor))
        }
    }

    /// Calls back in each turn in which the descriptor is ready for one of `events`, until the poll is stopped.
    ///
    /// A failure is the last call. Starting the poll again replaces the events and the body.
    package func start(_ events: Events, _ body: @escaping (Result<Events, UVError>) -> Void) {
        guard !isClosing else { return }
        self.body = body
        uv_poll_start(poll, events.rawValue) { handle, status, events in
            Poll.of(handle).ready(status, events)
        }
    }

    /// Stops watching; the body is not called until the poll is started again.
    package func stop() {
        guard !isClosing else { return }
        uv_poll_stop(poll)
        body = nil
    }

    override func willClose() {
        body = nil
    }

    private func ready(_ status: Int32, _ events: Int32) {
        guard let body else { return }
        if status < 0 {
            stop()
            body(.failure(UVError(code: status)))
        } else {
            body(.success(Events(rawValue: events)))
        }
    }

    private var poll: UnsafeMutablePointer<uv_poll_t> { raw.assumingMemoryBound(to: uv_poll_t.self) }
}
