import EventLoop
import HandSync
import HandWire

/// A stream on a loop, in the form that a machine needs.
final class Socket: ByteStream {
    private let stream: any Channel
    private unowned let driver: ServerDriver
    /// Retains this object until the stream is closed.
    private var connection: Connection?

    let caller: Caller
    var origin: String? { caller.address }

    init(_ stream: any Channel, from caller: Caller, _ driver: ServerDriver) {
        self.stream = stream
        self.caller = caller
        self.driver = driver
    }

    /// Passes events to the machine.
    ///
    /// - Parameter start: when the client connected, on the loop's clock; nil for now.
    func start(since start: UInt64? = nil) {
        connection = driver.machine.accepted(self, at: driver.time, since: start)
        stream.open { [self] in receive($0) }
    }

    private func receive(_ event: ChannelEvent) {
        guard let connection else { return }
        switch event {
        case .bytes(let bytes): driver.machine.received(bytes, from: connection, at: driver.time)
        case .drained: driver.machine.drained(connection, at: driver.time)
        case .ended(let end): driver.machine.ended(connection, reason: "\(end)", at: driver.time)
        }
    }

    var peerDescription: String { stream.peerDescription }
    var isWriting: Bool { stream.isWriting }

    func write(_ runs: [FrameRun]) -> Bool {
        // Nearly always there is one run, which the system takes at once.
        let taken = runs.count == 1 ? stream.writeNow(runs[0].bytes) : 0
        return taken > 0 && taken == runs[0].range.count || write(runs, from: taken)
    }

    /// - Parameter taken: the number of bytes of the first run that were written already.
    private func write(_ runs: [FrameRun], from taken: Int) -> Bool {
        withUnsafeTemporaryAllocation(of: OutputBuffer.self, capacity: runs.count) { buffers in
            for (index, run) in runs.enumerated() {
                let bytes = index == 0 ? UnsafeRawBufferPointer(rebasing: run.bytes[taken...]) : run.bytes
                buffers.initializeElement(at: index, to: OutputBuffer(bytes: bytes, owner: run.segment))
            }
            defer { buffers.deinitialize() }
            return stream.write(UnsafeBufferPointer(buffers)) == .written
        }
    }

    func stopReading() { stream.stopReading() }
    func resumeReading() { stream.resumeReading() }
    func shutdown(because code: ErrorCode) {
        (stream as? WebSocketStream)?.closeCode = code.webSocketCode
        stream.shutdown()
    }
    func close() {
        connection = nil
        stream.close()
    }
}

extension ErrorCode {
    /// What a WebSocket's close frame says of the same reason: a client may come back soon (1012), may come back later
    /// (1013), or is not wanted (1008).
    fileprivate var webSocketCode: UInt16 {
        switch self {
        case .shuttingDown: 1012
        case _ where mayRetry: 1013
        default: 1008
        }
    }
}
