import EventLoop
import HandSync

/// A stream on a loop, in the form that a service needs.
final class Socket: ByteStream {
    private let stream: any Channel
    private unowned let service: Service
    /// Retains this object until the stream is closed.
    private var connection: Connection?

    let caller: Caller
    var origin: String? { caller.address }

    init(_ stream: any Channel, from caller: Caller, _ service: Service) {
        self.stream = stream
        self.caller = caller
        self.service = service
    }

    /// Passes events to the service. The closures capture only this object, because idle connections must take little
    /// memory.
    func start() {
        connection = service.accepted(self)
        stream.onDrain = drained
        stream.open(received, onEnd: ended)
    }

    private func drained() {
        if let connection { service.drained(connection) }
    }

    private func received(_ bytes: UnsafeRawBufferPointer) {
        if let connection { service.received(bytes, from: connection) }
    }

    private func ended(_ end: ChannelEnd) {
        if let connection { service.ended(connection, reason: "\(end)") }
    }

    var peerDescription: String { stream.peerDescription }
    var isWriting: Bool { stream.isWriting }

    func write(_ runs: [FrameRun]) -> Bool {
        withUnsafeTemporaryAllocation(of: OutputBuffer.self, capacity: runs.count) { buffers in
            for (index, run) in runs.enumerated() {
                buffers.initializeElement(at: index, to: OutputBuffer(bytes: run.bytes, owner: run.segment))
            }
            defer { buffers.deinitialize() }
            return stream.write(UnsafeBufferPointer(buffers)) == .written
        }
    }

    func stopReading() { stream.stopReading() }
    func resumeReading() { stream.resumeReading() }
    func shutdown() { stream.shutdown() }
    func close() {
        connection = nil
        stream.close()
    }
}
