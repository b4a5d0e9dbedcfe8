internal import CLibuv

/// Something that is open on a ``Loop``: a timer, a signal, a stream.
///
/// A handle belongs to its loop's thread. **The loop retains the handle, and the handle retains the loop, until the
/// handle is closed**: dropping the last reference to an open handle does not close it, and then only ``Loop/close()``
/// can close it. Every method on a closed handle does nothing.
package class Handle {
    package let loop: Loop

    /// A `uv_*_t` of the right size, at a fixed address.
    let raw: UnsafeMutableRawPointer
    private var closeActions: [() -> Void] = []
    // Last, so that fields of subclasses fit behind it: there is a handle for each connection.
    private var phase = Phase.open

    private enum Phase { case open, closing, closed }

    /// Allocates a handle of `type`. `initialize` calls its `uv_*_init`, and throws if that fails.
    init<Failure: Error>(
        _ loop: Loop, _ type: uv_handle_type,
        _ initialize: (UnsafeMutablePointer<uv_loop_t>, UnsafeMutableRawPointer) throws(Failure) -> Void
    ) throws(Failure) {
        precondition(!loop.isClosed, "a handle on a closed loop")
        let raw = UnsafeMutableRawPointer.allocate(byteCount: uv_handle_size(type), alignment: 16)
        do {
            try initialize(loop.pointer, raw)
        } catch {
            raw.deallocate()
            throw error
        }
        self.loop = loop
        self.raw = raw
        // From here on libuv has the address, so the object must live until libuv's last callback for it.
        base.pointee.data = Unmanaged.passRetained(self).toOpaque()
    }

    deinit {
        raw.deallocate()
    }

    /// Whether ``close(_:)`` was called.
    package final var isClosing: Bool { phase != .open }

    /// Closes the handle. From then on it calls only `done`, and its pending operations end with `ECANCELED`.
    ///
    /// May be called again, and from the handle's own callbacks.
    /// - Parameter done: called when the descriptor and the memory are released: later, or at once if the handle was
    ///   already closed.
    package final func close(_ done: (() -> Void)? = nil) {
        switch phase {
        case .open:
            phase = .closing
            if let done { closeActions.append(done) }
            willClose()
            uv_close(base) { Handle.finishClosing($0) }
        case .closing:
            if let done { closeActions.append(done) }
        case .closed:
            done?()
        }
    }

    /// Closes the handle and throws if libuv has refused what the handle is for.
    final func check(_ result: Int32) throws(UVError) {
        guard result < 0 else { return }
        close()
        throw UVError(code: result)
    }

    /// Runs `action` when the handle is closed, whoever closes it, before the actions passed to ``close(_:)``.
    final func whenClosed(_ action: @escaping () -> Void) {
        closeActions.append(action)
    }

    /// Lets ``Loop/run()`` return although this handle is active.
    package final func unreference() {
        if !isClosing { uv_unref(base) }
    }

    /// For subclasses: drops the closures, so that nothing is called and no cycle remains.
    func willClose() {}

    /// For subclasses: called when libuv has released the handle, to complete pending operations.
    func didClose() {}

    private static func finishClosing(_ pointer: UnsafeMutablePointer<uv_handle_t>?) {
        guard let data = pointer?.pointee.data else { return }
        let handle = Unmanaged<Handle>.fromOpaque(data).takeRetainedValue()
        handle.phase = .closed
        handle.didClose()
        for action in exchange(&handle.closeActions, with: []) { action() }
    }
}

extension Handle {
    final var base: UnsafeMutablePointer<uv_handle_t> { raw.assumingMemoryBound(to: uv_handle_t.self) }

    static func of(_ pointer: UnsafeMutableRawPointer?) -> Self {
        // libuv calls back only with handles from `init`, and those have their object in `data`.
        let data = pointer.unsafelyUnwrapped.assumingMemoryBound(to: uv_handle_t.self).pointee.data
        let handle = Unmanaged<Handle>.fromOpaque(data.unsafelyUnwrapped).takeUnretainedValue()
        return unsafeDowncast(handle, to: Self.self)
    }
}
