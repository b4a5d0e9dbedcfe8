internal import CLibuv

/// A connection: ordered bytes in both directions. Either a ``TCP`` or a ``Pipe``.
///
/// Confined to its loop's thread. Like every ``Handle`` it stays open, and alive, until it is closed, even after its
/// end or a failure was reported.
package class Stream: Handle {
    // Writing, see `Stream+Writing.swift`. The fields that each write reads come first, so that they take few cache
    // lines. libuv never calls back while these change, so the dynamic exclusivity check is not needed.
    /// Output that the system has not taken; nil if there is none, as nearly always.
    @exclusivity(unchecked) final var backlog: Backlog?
    /// The end of the output, once it was requested.
    @exclusivity(unchecked) final var outputEnd: OutputEnd?
    /// The failure that ended both directions.
    @exclusivity(unchecked) private(set) final var failure: UVError?
    private var isReading = false
    private var hasEnded = false
    /// The system's number of the socket; negative before the first write.
    @exclusivity(unchecked) final var descriptor: Int32 = -1

    /// A description of the peer for people, for example `127.0.0.1:7777`.
    package final let peerDescription: String

    /// Gets all events; nil before ``open(_:)``, and after a failure or closing.
    private(set) final var receive: ((ChannelEvent) -> Void)?

    init(
        _ loop: Loop, _ type: uv_handle_type, peer: String,
        _ initialize: (UnsafeMutablePointer<uv_loop_t>, UnsafeMutableRawPointer) -> Void
    ) {
        peerDescription = peer
        super.init(loop, type, initialize)
    }

    package final func open(_ receive: @escaping (ChannelEvent) -> Void) {
        guard !isClosing else { return }
        self.receive = receive
        if failure != nil {
            // A write failed before there was a function to call.
            loop.soon { [self] in reportFailure() }
        } else {
            resumeReading()
        }
    }

    /// Stops reading until ``resumeReading()``, so that the peer has to wait. Until then the peer's end is not noticed,
    /// but write errors are.
    package final func stopReading() {
        guard !isClosing, isReading else { return }
        uv_read_stop(stream)
        isReading = false
    }

    /// Continues reading after ``stopReading()``.
    package final func resumeReading() {
        guard receive != nil, !hasEnded, !isReading else { return }
        isReading = true
        let result = uv_read_start(
            stream,
            { handle, _, buffer in
                // The loop's shared buffer. libuv fills and reports it before it requests a buffer for any other
                // stream.
                let memory = handle?.pointee.loop.pointee.data
                buffer?.pointee = uv_buf_t(
                    base: memory?.assumingMemoryBound(to: CChar.self), len: Loop.readBufferSize)
            },
            { Stream.of($0).received($1, $2?.pointee.base) })
        if result < 0 {
            loop.soon { [self] in fail(UVError(code: result)) }
        }
    }

    private func received(_ count: Int, _ bytes: UnsafePointer<CChar>?) {
        if count > 0 {
            receive?(.bytes(UnsafeRawBufferPointer(start: bytes, count: count)))
        } else if count == Int(UV_EOF.rawValue) {
            stopReading()
            hasEnded = true
            receive?(.ended(.eof))
        } else if count < 0 {
            fail(UVError(code: Int32(count)))
        }
    }

    /// Ends both directions and reports the error, once.
    final func fail(_ error: UVError) {
        guard !isClosing, failure == nil else { return }
        failure = error
        stopReading()
        abandonOutput(error)
        reportFailure()
    }

    private func reportFailure() {
        guard let failure, let report = receive else { return }
        receive = nil
        report(.ended(.failed(failure)))
    }

    override func willClose() {
        receive = nil
    }

    override func didClose() {
        abandonOutput(.canceled)
    }

    final var stream: UnsafeMutablePointer<uv_stream_t> { raw.assumingMemoryBound(to: uv_stream_t.self) }
}
