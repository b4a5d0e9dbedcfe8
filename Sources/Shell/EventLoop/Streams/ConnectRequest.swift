internal import CLibuv

final class ConnectRequest: Request {
    private let stream: Stream
    private let done: (UVError?) -> Void

    /// - Parameter done: called once on the loop's thread. After a failure the stream is already closed.
    init(_ stream: Stream, _ done: @escaping (UVError?) -> Void) {
        self.stream = stream
        self.done = done
        super.init(UV_CONNECT)
    }

    /// Passes the request to libuv; `connect` makes the call, with ``answered(_:_:)`` as its callback.
    func start(_ connect: (UnsafeMutablePointer<uv_connect_t>) -> Int32) -> Cancellable {
        do {
            try submit { connect($0.assumingMemoryBound(to: uv_connect_t.self)) }
        } catch {
            stream.loop.soon { [self] in finish(error.code) }
        }
        return Cancellable { [weak self] in self?.cancel() }
    }

    static func answered(_ request: UnsafeMutablePointer<uv_connect_t>?, _ status: Int32) {
        ConnectRequest.take(request).finish(status)
    }

    private func cancel() {
        // Makes libuv answer with ECANCELED.
        if isUnderWay { stream.close() }
    }

    private func finish(_ status: Int32) {
        if status < 0 {
            stream.close()
            done(UVError(code: status))
        } else {
            done(nil)
        }
    }
}
