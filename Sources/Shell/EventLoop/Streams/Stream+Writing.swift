internal import CLibuv
internal import Glibc

/// What ``Stream/write(_:)`` did with the bytes.
package enum WriteResult: Hashable, Sendable {
    /// The system has taken all bytes.
    case written
    /// The rest is being written or queued; ``ChannelEvent/drained`` or an error follows.
    case draining
    /// The bytes were dropped, because the stream is closed, has failed, or was shut down.
    case dropped
}

/// The write that libuv is making, and the buffers that were added meanwhile.
final class Backlog: Request {
    /// The buffers that libuv is writing. Retains the owners.
    var inFlight: [OutputBuffer] = []
    /// The buffers that were added while libuv was writing.
    var queue: [OutputBuffer] = []
}

final class OutputEnd: Request {
    /// Called once; nil afterwards.
    var done: ((UVError?) -> Void)?
}

extension Stream {
    /// Whether bytes are waiting for the peer. Code that produces faster than the peer reads must wait until this is
    /// false.
    package final var isWriting: Bool { backlog != nil }

    /// The number of bytes that the system has not taken yet.
    package final var pendingBytes: Int {
        if isClosing { return 0 }
        let queue = backlog?.queue ?? []
        return queue.reduce(uv_stream_get_write_queue_size(stream)) { $0 + $1.bytes.count }
    }

    /// Writes the bytes after all earlier ones.
    ///
    /// Bytes that the system takes at once are written without any allocation; the owners of the rest are retained
    /// until the rest is written. While ``isWriting``, all bytes are queued, without limit, and then sent together.
    /// Errors are reported as ``ChannelEvent/ended(_:)``, never inside this call.
    @discardableResult
    package final func write(_ buffers: UnsafeBufferPointer<OutputBuffer>) -> WriteResult {
        guard !isClosing, failure == nil, outputEnd == nil else { return .dropped }
        guard let backlog else { return send(buffers) }
        backlog.queue += buffers
        return .draining
    }

    /// Writes as many of the bytes as the system takes at once, without any allocation. Returns the number of bytes
    /// written: 0 after an error, which the next ``write(_:)`` reports.
    package final func writeNow(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard canWriteNow, !bytes.isEmpty else { return 0 }
        // Does what libuv does, but without touching libuv's memory: when thousands of streams are written to in turn,
        // every cache miss counts.
        return max(0, Glibc.write(descriptor, bytes.baseAddress, bytes.count))
    }

    package final func writeNow(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> Int {
        guard canWriteNow, !first.isEmpty else { return 0 }
        return withUnsafeTemporaryAllocation(of: iovec.self, capacity: 2) { pieces in
            for (index, bytes) in [first, second].enumerated() {
                pieces[index] = iovec(
                    iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: bytes.count)
            }
            return max(0, writev(descriptor, pieces.baseAddress, 2))
        }
    }

    private var canWriteNow: Bool {
        guard !isClosing, outputEnd == nil, !isWriting else { return false }
        return descriptor >= 0 || uv_fileno(base, &descriptor) >= 0
    }

    /// Ends this direction once everything is written: the peer sees `.eof`. Reading continues.
    /// - Parameter done: called once: with nil when the direction has ended, or with the error.
    package final func shutdown(_ done: @escaping (UVError?) -> Void = { _ in }) {
        guard !isClosing, failure == nil, outputEnd == nil else {
            let error = failure ?? .notConnected
            return loop.soon { done(error) }
        }
        let end = OutputEnd(UV_SHUTDOWN)
        end.done = done
        outputEnd = end
        if !isWriting { send(end) }
    }

    /// Drops the bytes that were not written, and completes a pending shutdown.
    final func abandonOutput(_ error: UVError) {
        backlog?.queue = []
        answerShutdown(error)
    }

    /// Writes as much as the socket takes at once, then makes one request for the rest.
    private func send(_ buffers: UnsafeBufferPointer<OutputBuffer>) -> WriteResult {
        withUnsafeTemporaryAllocation(of: uv_buf_t.self, capacity: buffers.count) { vector in
            var count = 0
            for buffer in buffers where !buffer.bytes.isEmpty {
                vector[count] = uv_buf_t(buffer.bytes)
                count += 1
            }
            guard count > 0 else { return .written }
            let result = uv_try_write(stream, vector.baseAddress, UInt32(count))
            let rest = UnsafeMutableBufferPointer(rebasing: vector[..<count]).dropping(bytes: max(0, Int(result)))
            if rest.isEmpty { return .written }
            // A failure takes the same path as the rest of the bytes, so that it is reported later and not here. The
            // error is passed along, because the request would report only the next failure.
            let isFailure = result < 0 && result != UV_EAGAIN.rawValue
            return send(rest, of: buffers, failed: isFailure ? UVError(code: result) : nil)
        }
    }

    private func send(
        _ rest: UnsafeMutableBufferPointer<uv_buf_t>, of buffers: UnsafeBufferPointer<OutputBuffer>, failed: UVError?
    ) -> WriteResult {
        let backlog = backlog ?? Backlog(UV_WRITE)
        self.backlog = backlog
        backlog.inFlight = Array(buffers)
        var failed = failed
        if failed == nil {
            let write = backlog.raw.assumingMemoryBound(to: uv_write_t.self)
            let result = uv_write(write, stream, rest.baseAddress, UInt32(rest.count)) { request, status in
                Stream.of(request?.pointee.handle).wrote(status)
            }
            if result < 0 { failed = UVError(code: result) }
        }
        if let failed { loop.soon { [self] in wrote(failed.code) } }
        return .draining
    }

    private func wrote(_ status: Int32) {
        if status == 0, let backlog, !backlog.queue.isEmpty {
            let queue = exchange(&backlog.queue, with: [])
            if queue.withUnsafeBufferPointer({ send($0) }) == .draining { return }
        }
        backlog = nil
        // Closing cancels the write. The cancellation is not an error to report.
        if isClosing { return }
        if status < 0 {
            readRest()
            return fail(UVError(code: status))
        }
        if let outputEnd, outputEnd.done != nil { send(outputEnd) }
        receive?(.drained)
    }

    private func send(_ end: OutputEnd) {
        let result = uv_shutdown(end.raw.assumingMemoryBound(to: uv_shutdown_t.self), stream) { request, status in
            Stream.of(request?.pointee.handle).answerShutdown(status < 0 ? UVError(code: status) : nil)
        }
        if result < 0 {
            loop.soon { [self] in answerShutdown(UVError(code: result)) }
        }
    }

    private func answerShutdown(_ error: UVError?) {
        outputEnd?.done.take()?(error)
    }
}

extension uv_buf_t {
    fileprivate init(_ bytes: UnsafeRawBufferPointer) {
        // libuv uses this type for reading too; it does not change the bytes that it writes.
        let base = UnsafeMutableRawPointer(mutating: bytes.baseAddress)
        self.init(base: base?.assumingMemoryBound(to: CChar.self), len: bytes.count)
    }
}

extension UnsafeMutableBufferPointer<uv_buf_t> {
    /// Returns the buffers without the first `count` bytes. Changes the first remaining buffer.
    fileprivate func dropping(bytes count: Int) -> Self {
        var count = count
        var first = startIndex
        while first < endIndex, count >= self[first].len {
            count -= self[first].len
            first += 1
        }
        if first < endIndex, count > 0, let base = self[first].base {
            self[first] = uv_buf_t(base: base + count, len: self[first].len - count)
        }
        return Self(rebasing: self[first...])
    }
}
