import EventLoop

/// A minimal HTTP/1.1 server for monitoring and administration: requests without a body. The endpoint
/// limits the size of requests and how long it waits for clients.
package final class HTTPEndpoint {
    /// The address to listen on, or to send a request to.
    package enum Place: Sendable, CustomStringConvertible {
        case tcp(SocketAddress)
        /// A Unix socket that only its owner may use.
        case unix(String)

        package var description: String {
            switch self {
            case .tcp(let address): "\(address)"
            case .unix(let path): path
            }
        }

        /// The value of `Host` in requests to this place.
        var host: String { if case .tcp = self { description } else { "localhost" } }
    }

    package struct Request: Sendable {
        /// The method in upper case; HEAD is reported as GET.
        package let method: String
        /// The parts of the path between slashes.
        package let path: [String]
        package let query: [String: String]
        /// The name or address under which the client knows the server, without a port; nil if the request has no
        /// `Host`.
        package let host: String?
        /// `Host` as it was sent, in lower case.
        package let authority: String?
        /// The page that makes a browser send the request; nil if the client does not say.
        package let origin: String?
        /// Whether a proxy says that it has passed the request on.
        package let isPassedOn: Bool
        /// Whether the client understands the format Brotli.
        let readsBrotli: Bool
        /// Whether the client may send another request on the connection.
        let mayStay: Bool
        /// The answer to a client that wants to go on as a WebSocket; nil if the client does not.
        let webSocketAnswer: String?
        /// Whether the client wants to go on as a WebSocket.
        package var wantsWebSocket: Bool { webSocketAnswer != nil }

        /// Whether the client knows the server by an address, as localhost, or by one of `names`. A page of another
        /// site can make a browser send requests under that site's name, and read the answers.
        package func isFor(_ names: [String]) -> Bool {
            guard let host else { return true }
            // A zone may be any text.
            let isAddress = !host.contains("%") && (try? SocketAddress(ip: host, port: 0)) != nil
            return isAddress || host == "localhost" || names.contains { $0.lowercased() == host }
        }
    }

    package struct Page: Sendable {
        package var status = "200 OK"
        package var type = "text/plain; charset=utf-8"
        package var body: [UInt8]
        /// Whether the page is one of many that a browser asks for.
        package let isFile: Bool
        /// The body in the format Brotli, for clients that understand it; nil before `compress`.
        package private(set) var compressed: [UInt8]?
        /// Which copies of the page may be used: the value of `Cache-Control`.
        package private(set) var caching = "no-store"
        /// Further fields of the head.
        package var fields: [(name: String, value: String)] = []

        package init(status: String = "200 OK", type: String = "text/plain; charset=utf-8", body: String) {
            self.status = status
            self.type = type
            self.body = Array(body.utf8)
            isFile = false
        }

        /// A file of a web page, of which a browser asks for many.
        package init(file: [UInt8], type: String, caching: String, fields: [(name: String, value: String)]) {
            body = file
            isFile = true
            self.type = type
            self.caching = caching
            self.fields = fields + [("Vary", "Accept-Encoding")]
        }

        /// Compresses the body, the first time. O(bytes): about 1 ms a kilobyte.
        package mutating func compress() {
            compressed = compressed ?? Brotli.compressed(body)
        }
    }

    package enum Reply {
        case page(Page)
        /// Goes on as a WebSocket. The function gets the channel, which is not read yet, and becomes its owner.
        case webSocket((any Channel) -> Void)
    }

    /// Passes the page for a request to `page`, now or later.
    package typealias Answer = (Request, _ page: @escaping (Page) -> Void) -> Void

    private let listener: Listener
    /// The connections by number, in the order of arrival.
    private var connections: [UInt64: HTTPConnection] = [:]
    /// The number of connections that are open.
    package var connectionCount: Int { connections.count }
    private var nextNumber: UInt64 = 0

    /// - Parameter maxConnections: the most connections at once. A further connection replaces the oldest one whose
    ///   client the server waits for. The default is several times the number accepted in one turn, so that a client
    ///   who sends a request at once is always served.
    /// - Parameter timeout: the milliseconds for sending the request, and for reading the answer.
    /// - Throws: the errors of `Listener`. A stale socket file is replaced.
    package init(
        _ loop: Loop, at place: Place, maxConnections: Int = 256, timeout: UInt64 = 3_000, answer: @escaping Answer
    ) throws(UVError) {
        var accept: (Stream) -> Void = { $0.close() }
        switch place {
        case .tcp(let address): listener = try Listener.tcp(loop, address: address, onConnection: { accept($0) })
        case .unix(let path):
            try Listener.removeStaleSocket(path: path)
            listener = try Listener.pipe(loop, path: path, onConnection: { accept($0) })
        }
        accept = { [unowned self] stream in
            if connections.count >= maxConnections {
                let idle = connections.filter { $0.value.isAwaited }.keys.min()
                guard let idle else { return stream.close() }
                connections[idle]?.close()
            }
            let number = nextNumber
            nextNumber += 1
            connections[number] = HTTPConnection(loop, stream, timeout: timeout) { request, reply in
                answer(request) { reply(.page($0)) }
            } onEnd: { [unowned self] in
                connections[number] = nil
            }
        }
    }

    package var localAddress: SocketAddress? { listener.localAddress }

    package func close() {
        listener.close()
        for client in connections.values { client.close() }
    }
}
