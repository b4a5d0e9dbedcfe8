internal import CLibuv

/// A connection: bytes in order, in both directions. Either a ``TCP`` or a ``Pipe``.
///
/// Confined to its loop's thread. Like every ``Handle`` it stays open, and alive, until it is closed, also after its
/// end or a failure was reported.
package class Stream: Handle {
    /// The other end, for people, for example `127.0.0.1:7777`.
    package final let peerDescription: String

    /// Called when a write that was ``WriteResult/draining`` is done and nothing is queued behind it.
    package final var onDrain: (() -> Void)?

    private var onBytes: ((UnsafeRawBufferPointer) -> Void)?
    private var onEnd: ((UVError) -> Void)?
    private var isReading = false
    private var hasEnded = false

    /// What ended both directions.
    private(set) final var failure: UVError?
    private var isFailureReported = false

    /// The state of the writing half, see `Stream+Writing.swift`. libuv never calls back while it changes, so the exclusivity check at
    /// run time is not needed.
    @exclusivity(unchecked) final var output = Output()

    init(
        _ loop: Loop, _ type: uv_handle_type, peer: String,
        _ initialize: (UnsafeMutablePointer<uv_loop_t>, UnsafeMutableRawPointer) -> Void
    ) {
        peerDescription = peer
        super.init(loop, type, initialize)
    }

    /// Starts to read, or goes on reading with other closures.
    /// - Parameters:
    ///   - onBytes: gets what has arrived, at least one byte. The bytes are valid during the call only.
    ///   - onEnd: called at most once with `.eof`, when the peer ended its direction in an orderly way; this side can
    ///     still write. And at most once with an error, of reading or of writing, which ends both directions. After
    ///     that it is neither read nor written, and only ``Handle/close(_:)`` is left to do.
    package final func startReading(
        _ onBytes: @escaping (UnsafeRawBufferPointer) -> Void, onEnd: @escaping (UVError) -> Void
    ) {
        guard !isClosing else { return }
        self.onEnd = onEnd
        if failure != nil {
            // A write failed before there was a closure to tell.
            loop.soon { [self] in reportFailure() }
        } else if !hasEnded {
            self.onBytes = onBytes
            resumeReading()
        }
    }

    /// Stops reading until ``resumeReading()``, so that the peer has to wait. Its end is not noticed meanwhile, but
    /// write errors are.
    package final func stopReading() {
        guard !isClosing, isReading else { return }
        uv_read_stop(stream)
        isReading = false
    }

    /// Goes on reading with the closures of ``startReading(_:onEnd:)``.
    package final func resumeReading() {
        guard onBytes != nil, !isReading else { return }
        isReading = true
        let result = uv_read_start(
            stream,
            { handle, _, buffer in
                // The loop's own buffer. libuv fills it and reports it before it asks again for any stream.
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
            onBytes?(UnsafeRawBufferPointer(start: bytes, count: count))
        } else if count == Int(UV_EOF.rawValue) {
            stopReading()
            hasEnded = true
            onBytes = nil
            onEnd?(.eof)
        } else if count < 0 {
            fail(UVError(code: Int32(count)))
        }
    }

    /// Ends both directions and reports why, once.
    final func fail(_ error: UVError) {
        guard !isClosing, failure == nil else { return }
        failure = error
        stopReading()
        onBytes = nil
        onDrain = nil
        abandonOutput(error)
        reportFailure()
    }

    private func reportFailure() {
        guard let failure, let report = onEnd, !isFailureReported else { return }
        isFailureReported = true
        onEnd = nil
        report(failure)
    }

    override func willClose() {
        onBytes = nil
        onEnd = nil
        onDrain = nil
    }

    override func didClose() {
        abandonOutput(.canceled)
    }

    final var stream: UnsafeMutablePointer<uv_stream_t> { raw.assumingMemoryBound(to: uv_stream_t.self) }
}
