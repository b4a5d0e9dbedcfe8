import EventLoop
import HandSync

/// A loop's stream, as a service knows it.
final class Socket: ByteStream {
    private let stream: any Channel
    private unowned let service: Service
    /// Which holds this object; let go of when the stream is closed.
    private var connection: Connection?

    let caller: Caller
    var origin: String? { caller.address }

    init(_ stream: any Channel, from caller: Caller, _ service: Service) {
        self.stream = stream
        self.caller = caller
        self.service = service
    }

    /// Hands on what comes. The closures hold nothing but this object: many connections are idle, and should take little.
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
