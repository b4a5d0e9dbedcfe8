import EventLoop
import HandSync

/// A loop's stream, as a service knows it.
final class Socket: ByteStream {
    private let stream: Stream

    init(_ stream: Stream) {
        self.stream = stream
    }

    var peerDescription: String { stream.peerDescription }
    var isWriting: Bool { stream.isWriting }

    func write(_ runs: [FrameRun]) -> Bool {
        stream.write(runs.map { OutputBuffer(bytes: $0.bytes, owner: $0.segment) }) == .written
    }

    func stopReading() { stream.stopReading() }
    func resumeReading() { stream.resumeReading() }
    func shutdown() { stream.shutdown() }
    func close() { stream.close() }
}
