import EventLoop
import HandFormats
import TLS

/// One scripted client's connection. Bytes go out at once.
final class LoadConnection {
    /// What becomes of it.
    enum Event {
        case opened
        case bytes(UnsafeRawBufferPointer)
        case lost(String)
    }

    private let loop: Loop
    private let destination: Destination
    private let meter: Meter
    private let receive: (Event) -> Void
    private var stream: (any Channel)?
    private var attempt: Cancellable?
    /// Counts connections, so that what is late of an earlier one is not taken for the present one's.
    private var generation = 0

    /// Where to connect, resolved.
    enum Destination {
        case tcp(SocketAddress)
        case tls(SocketAddress, host: String, TLSContext)
        case unix(String)
    }

    init(_ loop: Loop, _ destination: Destination, _ meter: Meter, _ receive: @escaping (Event) -> Void) {
        self.loop = loop
        self.destination = destination
        self.meter = meter
        self.receive = receive
    }

    func connect() {
        close()
        let mine = generation
        switch destination {
        case .tcp(let address):
            attempt = TCP.connect(loop, to: address) { [weak self] in self?.opened($0, mine) }
        case .tls(let address, let host, let context):
            attempt = TCP.connect(loop, to: address) { [weak self] in self?.secure($0, of: host, context, mine) }
        case .unix(let path):
            attempt = Pipe.connect(loop, path: path) { [weak self] in self?.opened($0, mine) }
        }
    }

    /// Puts TLS onto a connection.
    private func secure(_ result: Result<TCP, UVError>, of host: String, _ context: TLSContext, _ mine: Int) {
        guard case .success(let stream) = result else { return opened(result, mine) }
        do {
            opened(.success(try TLSStream(loop, stream, context, .client(of: host))), mine)
        } catch {
            stream.close()
            if mine == generation { receive(.lost("\(error)")) }
        }
    }

    private func opened(_ result: Result<some Channel, UVError>, _ mine: Int) {
        guard mine == generation else {
            if case .success(let stream) = result { stream.close() }
            return
        }
        attempt = nil
        switch result {
        case .failure(let error): receive(.lost("\(error)"))
        case .success(let stream):
            self.stream = stream
            stream.open { [weak self] bytes in
                self?.receive(.bytes(bytes))
            } onEnd: { [weak self] end in
                guard let self, mine == generation else { return }
                close()
                receive(.lost(end == .eof ? "the server closed the connection" : "\(end)"))
            }
            receive(.opened)
        }
    }

    func write(_ bytes: [UInt8]) {
        guard let stream else { return }
        meter.sent(bytes: bytes.count)
        stream.write([OutputBuffer(bytes)])
    }

    /// Leaves what comes to the kernel, until it has no more room.
    func stopReading() { stream?.stopReading() }
    func resumeReading() { stream?.resumeReading() }

    func close() {
        generation += 1
        attempt?.cancel()
        attempt = nil
        stream?.close()
        stream = nil
    }
}
