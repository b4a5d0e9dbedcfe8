/// A client's connection to one of several hosts, one at a time. After a loss, `connect` may be called again. Confined
/// to the loop's thread.
package final class ServerConnection {
    package enum Event {
        /// The host has that number of addresses. Nothing is connected yet.
        case found(addresses: Int)
        case opened
        case bytes(UnsafeRawBufferPointer)
        /// The system has taken all output, after some of the output had to wait.
        case drained
        /// The connection could not be made, or has ended.
        case lost(String)
        /// The connection could not be made in time.
        case unanswered
    }

    package struct Destination {
        package enum Place {
            case unix(path: String)
            /// A name to look up, or a numeric address.
            case host(String, port: UInt16)
            /// The addresses that were found for a name: at least one.
            case addresses([SocketAddress])
        }

        let place: Place
        /// The host that the server's certificate must name, and the context; nil without TLS.
        let tls: (host: String, context: () throws -> TLSContext)?
        /// Makes a layer above the connection, and above TLS; nil without one.
        let layer: ((Loop, any Channel) -> any Channel)?

        package init(
            _ place: Place, tls: (host: String, context: () throws -> TLSContext)? = nil,
            layer: ((Loop, any Channel) -> any Channel)? = nil
        ) {
            (self.place, self.tls, self.layer) = (place, tls, layer)
        }

        /// The reason to report if the server closes the connection without sending anything.
        fileprivate var silence: String {
            if case .unix = place { return ServerConnection.closed }
            if tls != nil { return ServerConnection.closed }
            return "\(ServerConnection.closed). If it speaks TLS, its address begins with hands://"
        }
    }

    private let loop: Loop
    private let destinations: [Destination]
    private let receive: (Event) -> Void
    /// The addresses of the host that was last looked up.
    private var addresses: [SocketAddress] = []
    private var stream: (any Channel)?
    private var attempt: Cancellable?
    private var alarm: Timer?
    /// Counts connections, so that late events of an earlier connection are ignored.
    private var generation = 0

    /// - Parameter destinations: one destination for each host.
    package init(_ loop: Loop, to destinations: [Destination], _ receive: @escaping (Event) -> Void) {
        self.loop = loop
        self.destinations = destinations
        self.receive = receive
    }

    package var isOpen: Bool { stream != nil }
    package var isWriting: Bool { stream?.isWriting == true }
    /// The seconds until the server's certificate expires; nil without TLS, below another layer, or before the
    /// certificate has arrived.
    package var certificateLifetime: Int? { (stream as? TLSStream)?.certificateLifetime }

    /// Closes the former connection, then connects. With `address` nil, the call only finds the host's addresses. A
    /// Unix socket has no such addresses: it is connected in any case.
    ///
    /// - Parameters:
    ///   - address: the index of the host's address to connect to; nil to find the addresses.
    ///   - timeout: the most milliseconds for finding or connecting; nil for the system's own limit.
    package func connect(to host: Int, address: Int?, within timeout: UInt64?) {
        close()
        let (mine, destination) = (generation, destinations[host])
        if let timeout { startAlarm(timeout) }
        if case .unix(let path) = destination.place {
            attempt = Pipe.connect(loop, path: path) { [weak self] in self?.opened($0, destination, mine) }
        } else if let address {
            attempt = TCP.connect(loop, to: addresses[address]) { [weak self] in self?.secure($0, destination, mine) }
        } else {
            find(destination.place, mine)
        }
    }

    private func startAlarm(_ timeout: UInt64) {
        let alarm = Timer(loop)
        self.alarm = alarm
        alarm.start(after: timeout) { [weak self] in
            self?.close()
            self?.receive(.unanswered)
        }
    }

    private func find(_ place: Destination.Place, _ mine: Int) {
        switch place {
        case .unix: break
        case .addresses(let known): loop.soon { [weak self] in self?.found(known, mine) }
        case .host(let host, let port):
            attempt = DNS.resolve(loop, host: host, port: port) { [weak self] result in
                switch result {
                case .failure(let error): if self?.generation == mine { self?.lost("\(host): \(error)") }
                case .success(let addresses): self?.found(addresses, mine)
                }
            }
        }
    }

    private func found(_ addresses: [SocketAddress], _ mine: Int) {
        guard mine == generation else { return }
        self.addresses = addresses
        receive(.found(addresses: addresses.count))
    }

    private func secure(_ result: Result<TCP, UVError>, _ destination: Destination, _ mine: Int) {
        guard mine == generation, case .success(let stream) = result, let (host, context) = destination.tls else {
            return opened(result, destination, mine)
        }
        do {
            let secure = try TLSStream(loop, stream, context(), .client(of: host))
            opened(Result<TLSStream, UVError>.success(secure), destination, mine)
        } catch {
            stream.close()
            lost("\(error)")
        }
    }

    private static let closed = "the server closed the connection"

    private func opened(_ result: Result<some Channel, UVError>, _ destination: Destination, _ mine: Int) {
        guard mine == generation else {
            if case .success(let stream) = result { stream.close() }
            return
        }
        attempt = nil
        stopAlarm()
        switch result {
        case .failure(let error): lost("\(error)")
        case .success(let plain):
            let stream = destination.layer?(loop, plain) ?? plain
            self.stream = stream
            var hasSpoken = false
            stream.open { [weak self] bytes in
                hasSpoken = true
                self?.receive(.bytes(bytes))
            } onDrain: { [weak self] in
                self?.receive(.drained)
            } onEnd: { [weak self] end in
                guard let self, mine == generation else { return }
                lost(end == .eof ? (hasSpoken ? Self.closed : destination.silence) : "\(end)")
            }
            receive(.opened)
        }
    }

    private func lost(_ reason: String) {
        close()
        receive(.lost(reason))
    }

    private func stopAlarm() {
        alarm?.close()
        alarm = nil
    }

    package func write(_ bytes: [UInt8]) { stream?.write([OutputBuffer(bytes)]) }

    /// Leaves input in the system's buffers, so that the server has to wait.
    package func stopReading() { stream?.stopReading() }
    package func resumeReading() { stream?.resumeReading() }

    package func close() {
        generation += 1
        attempt?.cancel()
        attempt = nil
        stopAlarm()
        stream?.close()
        stream = nil
    }
}
