import EventLoop

/// A client's connection to a server: one at a time, which can be renewed. Confined to the loop's thread.
package final class ServerConnection {
    package enum Event {
        case opened
        case bytes(UnsafeRawBufferPointer)
        /// The system has taken all output, after some had to wait.
        case drained
        /// It could not be made, or has ended.
        case lost(String)
    }

    package struct Destination {
        package enum Place {
            case unix(path: String)
            /// Resolved for each connection; its addresses are tried one after the other.
            case host(String, port: UInt16)
            case address(SocketAddress)
        }

        let place: Place
        /// The host that the server's certificate must name, and the context; nil without TLS.
        let tls: (host: String, context: () throws -> TLSContext)?

        package init(_ place: Place, tls: (host: String, context: () throws -> TLSContext)? = nil) {
            self.place = place
            self.tls = tls
        }
    }

    private let loop: Loop
    private let destination: Destination
    private let receive: (Event) -> Void
    private var stream: (any Channel)?
    private var attempt: Cancellable?
    /// Counts connections, so that late events of an earlier one are ignored.
    private var generation = 0

    package init(_ loop: Loop, to destination: Destination, _ receive: @escaping (Event) -> Void) {
        self.loop = loop
        self.destination = destination
        self.receive = receive
    }

    package var isOpen: Bool { stream != nil }
    package var isWriting: Bool { stream?.isWriting == true }

    /// Connects, and closes the former connection.
    package func connect() {
        close()
        let mine = generation
        switch destination.place {
        case .unix(let path): attempt = Pipe.connect(loop, path: path) { [weak self] in self?.opened($0, mine) }
        case .address(let address): connect(to: [address], error: nil, mine)
        case .host(let host, let port):
            attempt = DNS.resolve(loop, host: host, port: port) { [weak self] result in
                guard let self, mine == generation else { return }
                switch result {
                case .failure(let error): lost("\(host): \(error)")
                case .success(let addresses): connect(to: addresses[...], error: nil, mine)
                }
            }
        }
    }

    /// Tries one address after the other.
    private func connect(to addresses: ArraySlice<SocketAddress>, error: UVError?, _ mine: Int) {
        guard let address = addresses.first else { return lost(error.map { "\($0)" } ?? "no address was found") }
        attempt = TCP.connect(loop, to: address) { [weak self] result in
            if case .failure(let error) = result, let self, mine == generation {
                connect(to: addresses.dropFirst(), error: error, mine)
            } else {
                self?.secure(result, mine)
            }
        }
    }

    /// Adds TLS to a connection, if the destination has it.
    private func secure(_ result: Result<TCP, UVError>, _ mine: Int) {
        guard mine == generation, case .success(let stream) = result, let (host, context) = destination.tls else {
            return opened(result, mine)
        }
        do {
            let secure = try TLSStream(loop, stream, context(), .client(of: host))
            opened(Result<TLSStream, UVError>.success(secure), mine)
        } catch {
            stream.close()
            lost("\(error)")
        }
    }

    private func opened(_ result: Result<some Channel, UVError>, _ mine: Int) {
        guard mine == generation else {
            if case .success(let stream) = result { stream.close() }
            return
        }
        attempt = nil
        switch result {
        case .failure(let error): lost("\(error)")
        case .success(let stream):
            self.stream = stream
            stream.onDrain = { [weak self] in self?.receive(.drained) }
            stream.open { [weak self] bytes in
                self?.receive(.bytes(bytes))
            } onEnd: { [weak self] end in
                guard let self, mine == generation else { return }
                lost(end == .eof ? "the server closed the connection" : "\(end)")
            }
            receive(.opened)
        }
    }

    private func lost(_ reason: String) {
        close()
        receive(.lost(reason))
    }

    package func write(_ bytes: [UInt8]) { stream?.write([OutputBuffer(bytes)]) }

    /// Leaves input in the system's buffers, so that the server has to wait.
    package func stopReading() { stream?.stopReading() }
    package func resumeReading() { stream?.resumeReading() }

    package func close() {
        generation += 1
        attempt?.cancel()
        attempt = nil
        stream?.close()
        stream = nil
    }
}
