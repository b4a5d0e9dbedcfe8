internal import CLibuv

/// An operation that libuv completes later, once.
///
/// Like a ``Handle``, a request is retained while libuv knows its address: from ``submit(_:)`` to ``take(_:)``.
class Request {
    /// A `uv_*_t` of the right size, at a fixed address.
    let raw: UnsafeMutableRawPointer
    /// Whether libuv still has to complete the request.
    private(set) final var isUnderWay = false

    init(_ type: uv_req_type) {
        raw = UnsafeMutableRawPointer.allocate(byteCount: uv_req_size(type), alignment: 16)
    }

    deinit {
        raw.deallocate()
    }

    final var base: UnsafeMutablePointer<uv_req_t> { raw.assumingMemoryBound(to: uv_req_t.self) }

    /// Passes the request to libuv; `start` makes the call and returns libuv's result.
    final func submit(_ start: (UnsafeMutableRawPointer) -> Int32) throws(UVError) {
        let retained = Unmanaged.passRetained(self)
        base.pointee.data = retained.toOpaque()
        let result = start(raw)
        if result < 0 {
            retained.release()
            throw UVError(code: result)
        }
        isUnderWay = true
    }

    /// Returns the object of a pending request, for callbacks that are not the last one.
    static func of(_ pointer: UnsafeMutableRawPointer?) -> Self {
        unsafeDowncast(unmanaged(pointer).takeUnretainedValue(), to: Self.self)
    }

    /// Returns the object of a request that has just been completed, which libuv no longer uses.
    static func take(_ pointer: UnsafeMutableRawPointer?) -> Self {
        let request = unmanaged(pointer).takeRetainedValue()
        request.isUnderWay = false
        return unsafeDowncast(request, to: Self.self)
    }

    private static func unmanaged(_ pointer: UnsafeMutableRawPointer?) -> Unmanaged<Request> {
        // libuv calls back only with requests that went through `submit`, and those have their object in `data`.
        let data = pointer.unsafelyUnwrapped.assumingMemoryBound(to: uv_req_t.self).pointee.data
        return Unmanaged.fromOpaque(data.unsafelyUnwrapped)
    }
}

/// Cancels a pending operation.
///
/// Confined to its loop's thread. Dropping this object does not cancel the operation.
package final class Cancellable {
    private let action: () -> Void

    init(_ action: @escaping () -> Void) {
        self.action = action
    }

    /// Cancels the operation, which then reports `.canceled`, but never inside this call. Does nothing after
    /// completion.
    package func cancel() {
        action()
    }
}
