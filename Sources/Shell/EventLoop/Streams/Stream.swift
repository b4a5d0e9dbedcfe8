internal import CLibuv
internal import Glibc

/// A connection: ordered bytes in both directions. Either a ``TCP`` or a ``Pipe``.
///
/// Confined to its loop's thread. Like every ``Handle`` it stays open, and alive, until it is closed, even after its
/// end or a failure was reported.
package class Stream: Handle {
    // In an order that leaves few gaps: an idle connection must take little memory. libuv never calls back while the
    // fields of `Stream+Writing.swift` change, so the dynamic exclusivity check is not needed.
    /// The failure that ended both directions.
    @exclusivity(unchecked) private(set) final var failure: UVError?
    private var isReading = false
    private var hasEnded = false
    /// The system's number of the socket; negative before the first write.
    @exclusivity(unchecked) final var descriptor: Int32 = -1
    /// The output that waits to be written, and the end of the output. Nil if neither exists yet, as on nearly every
    /// connection.
    @exclusivity(unchecked) private final var output: Output?
    /// Gets all events; nil before ``open(_:)``, and after a failure or closing.
    private(set) final var receive: ((ChannelEvent) -> Void)?

    /// A description of the peer for people, for example `127.0.0.1:7777`. Subclasses make the text when it is needed.
    package var peerDescription: String { "a stream" }

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

    /// Stops reading until ``resumeReading()``, so that the peer has to wait. While reading is stopped, the peer's end
    /// is not noticed, but write errors are.
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
                // The loop's shared buffer. libuv fills this buffer and reports it before it requests a buffer for any
                // other stream.
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

    /// Reads what has come before a write failed: it may say why the peer went away, as an alert of TLS does.
    final func readRest() {
        guard descriptor >= 0 || uv_fileno(base, &descriptor) == 0, let memory = stream.pointee.loop.pointee.data else {
            return
        }
        while isReading, !isClosing, failure == nil {
            let count = Glibc.read(descriptor, memory, Loop.readBufferSize)
            if count <= 0 { return }
            receive?(.bytes(UnsafeRawBufferPointer(start: memory, count: count)))
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
        guard let failure, let report = receive.take() else { return }
        report(.ended(.failed(failure)))
    }

    override func willClose() {
        receive = nil
    }

    override func didClose() {
        abandonOutput(.canceled)
    }

    private final class Output {
        var backlog: Backlog?
        var end: OutputEnd?
    }

    /// Output that the system has not taken; nil if there is none.
    final var backlog: Backlog? {
        get { output?.backlog }
        set {
            if output == nil { output = Output() }
            output?.backlog = newValue
        }
    }

    /// The end of the output, once it was requested.
    final var outputEnd: OutputEnd? {
        get { output?.end }
        set {
            if output == nil { output = Output() }
            output?.end = newValue
        }
    }

    final var stream: UnsafeMutablePointer<uv_stream_t> { raw.assumingMemoryBound(to: uv_stream_t.self) }
}
