internal import CLibuv
internal import Synchronization

/// Passes messages from other threads to a loop's thread.
///
/// Messages arrive in batches, each in the order in which they were posted. The loop is woken once per batch.
package final class Mailbox<Message: Sendable>: Sendable {
    private let state = Mutex(State())

    private struct State {
        var messages: [Message] = []
        /// Nil once the mailbox is closed.
        var wakeup: Wakeup?
    }

    /// - Parameters:
    ///   - keepsLoopAlive: whether the loop keeps running while the mailbox is open.
    ///   - receive: called on the loop's thread with at least one message.
    /// - Throws: for example `.tooManyOpenFiles`.
    package init(
        _ loop: Loop, keepsLoopAlive: Bool = true, _ receive: @escaping ([Message]) -> Void
    ) throws(UVError) {
        let handle = try AsyncHandle(loop)
        let wakeup = Wakeup(handle)
        state.withLock { $0.wakeup = wakeup }
        handle.onClose = { [self] in close() }
        handle.onWakeup = { [self, unowned handle] in
            let (messages, isOpen) = state.withLock { state in
                (exchange(&state.messages, with: []), state.wakeup != nil)
            }
            if !isOpen {
                handle.close()
            } else if !messages.isEmpty {
                receive(messages)
            }
        }
        if !keepsLoopAlive { handle.unreference() }
    }

    /// Posts a message. May be called from any thread.
    /// - Returns: false if the mailbox was closed and the message is dropped.
    @discardableResult
    package func post(_ message: Message) -> Bool {
        state.withLock { state in
            guard let wakeup = state.wakeup else { return false }
            state.messages.append(message)
            // If other messages wait, the loop has been woken already.
            if state.messages.count == 1 { wakeup.send() }
            return true
        }
    }

    /// Closes the mailbox. May be called from any thread, and more than once. Undelivered messages are dropped.
    package func close() {
        // Dropped outside the lock, because a message's `deinit` may post.
        _ = state.withLock { state in
            // This wakes the loop's thread, which closes the handle.
            state.wakeup.take()?.send()
            return exchange(&state.messages, with: [])
        }
    }
}

/// The part of an ``AsyncHandle`` that other threads may use.
///
/// Unchecked because of the pointer. Safe because other threads may call `uv_async_send`, and because a mailbox
/// calls it under its lock and only while the handle is open.
private struct Wakeup: @unchecked Sendable {
    private let async: UnsafeMutablePointer<uv_async_t>

    init(_ handle: AsyncHandle) {
        async = handle.raw.assumingMemoryBound(to: uv_async_t.self)
    }

    func send() {
        uv_async_send(async)
    }
}

/// Not inside `Mailbox`, because a C callback cannot be written in a generic type.
private final class AsyncHandle: Handle {
    var onWakeup: (() -> Void)?
    var onClose: (() -> Void)?

    init(_ loop: Loop) throws(UVError) {
        try super.init(loop, UV_ASYNC) { (loop, raw) throws(UVError) in
            let async = raw.assumingMemoryBound(to: uv_async_t.self)
            try UVError.check(uv_async_init(loop, async) { AsyncHandle.of($0).onWakeup?() })
        }
    }

    override func willClose() {
        onClose?()
        onClose = nil
        onWakeup = nil
    }
}
