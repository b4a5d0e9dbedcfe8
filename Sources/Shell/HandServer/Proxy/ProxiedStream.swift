import EventLoop
import HandFormats

/// A connection through a proxy: a header names the origin, then the client's bytes follow.
final class ProxiedStream: Channel {
    private let loop: Loop
    private let stream: TCP
    private let deadline: Timer
    /// The input that has not been passed on yet.
    private var bytes: [UInt8] = []
    private var isReading = true
    private var isClosed = false
    private var receive: ((ChannelEvent) -> Void)?
    private(set) var peerDescription: String

    /// The reason why there is no header.
    enum Problem: String, Error {
        case missing = "no valid PROXY header came first"
        case late = "no PROXY header came in time"
        case ended = "it was closed before a PROXY header came"
    }

    init(_ loop: Loop, _ stream: TCP) {
        self.loop = loop
        self.stream = stream
        deadline = Timer(loop)
        peerDescription = stream.peerDescription
    }

    // MARK: The header

    /// Waits for the header. The loop retains this object until the header or a problem has arrived.
    ///
    /// - Parameters:
    ///   - timeout: the milliseconds to wait.
    ///   - done: called once, with nil if the header does not name the origin.
    func awaitHeader(within timeout: UInt64, _ done: @escaping (Result<SocketAddress?, Problem>) -> Void) {
        let end: (Result<SocketAddress?, Problem>) -> Void = { [self] result in
            deadline.close()
            stream.stopReading()
            done(result)
        }
        deadline.start(after: timeout) { end(.failure(.late)) }
        stream.open { [self] in
            bytes.append(contentsOf: $0)
            do {
                if let source = try takeHeader() { end(.success(source)) }
            } catch {
                end(.failure(.missing))
            }
        } onEnd: { _ in
            end(.failure(.ended))
        }
    }

    /// Returns the origin, or `.some(nil)` if the header does not name it; nil if the header is incomplete.
    private func takeHeader() throws -> SocketAddress?? {
        guard let (header, size) = try ProxyHeader.read(bytes) else { return nil }
        bytes.removeFirst(size)
        guard let source = header.source else { return .some(nil) }
        let address = try SocketAddress(ip: source.ip, port: source.port)
        peerDescription = "\(address) through \(stream.peerDescription)"
        return .some(address)
    }

    // MARK: After the header

    var isWriting: Bool { stream.isWriting }

    func open(_ receive: @escaping (ChannelEvent) -> Void) {
        self.receive = receive
        stream.open(receive)
        guard !bytes.isEmpty else { return isReading ? () : stream.stopReading() }
        stream.stopReading()
        continueSoon()
    }

    /// Passes on first the input that came with the header, but not inside this call.
    private func continueSoon() {
        loop.soon { [self] in
            guard isReading, !isClosed else { return }
            let first = exchange(&bytes, with: [])
            if !first.isEmpty { first.withUnsafeBytes { receive?(.bytes($0)) } }
            if isReading { stream.resumeReading() }
        }
    }

    func stopReading() {
        isReading = false
        stream.stopReading()
    }

    func resumeReading() {
        guard !isReading else { return }
        isReading = true
        if bytes.isEmpty { stream.resumeReading() } else { continueSoon() }
    }

    func write(_ buffers: UnsafeBufferPointer<OutputBuffer>) -> WriteResult { stream.write(buffers) }
    func shutdown() { stream.shutdown() }

    func close() {
        isClosed = true
        receive = nil
        stream.close()
    }
}
