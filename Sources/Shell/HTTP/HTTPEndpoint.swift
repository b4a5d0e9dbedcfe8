import EventLoop

/// Answers over HTTP/1.1, one request without a body for each connection: enough for whoever watches or runs a server, and no
/// more. What it reads and how long it waits is bounded.
public final class HTTPEndpoint {
    /// Where to listen, and where to ask.
    public enum Place: Sendable, CustomStringConvertible {
        case tcp(SocketAddress)
        /// A Unix socket, which only its owner may use.
        case unix(String)

        public var description: String {
            switch self {
            case .tcp(let address): "\(address)"
            case .unix(let path): path
            }
        }
    }

    public struct Request: Sendable {
        /// In capitals; HEAD comes as GET.
        public let method: String
        /// The parts between slashes.
        public let path: [String]
        public let query: [String: String]
    }

    public struct Page: Sendable {
        public var status = "200 OK"
        public var type = "text/plain; charset=utf-8"
        public var body: String

        public init(status: String = "200 OK", type: String = "text/plain; charset=utf-8", body: String) {
            self.status = status
            self.type = type
            self.body = body
        }
    }

    /// Finds the page for a request; it may take its time.
    public typealias Answer = (Request, _ page: @escaping (Page) -> Void) -> Void

    private let listener: Listener
    private var visitors: [ObjectIdentifier: HTTPVisitor] = [:]
    /// More are turned away.
    private static let mostVisitors = 64

    /// - Throws: as `Listener` does; the file of a socket whose server is gone is replaced.
    public init(_ loop: Loop, at place: Place, answer: @escaping Answer) throws(UVError) {
        var accept: (Stream) -> Void = { $0.close() }
        switch place {
        case .tcp(let address): listener = try Listener.tcp(loop, address: address, onConnection: { accept($0) })
        case .unix(let path):
            try Listener.removeStaleSocket(path: path)
            listener = try Listener.pipe(loop, path: path, onConnection: { accept($0) })
        }
        accept = { [unowned self] stream in
            guard visitors.count < Self.mostVisitors else { return stream.close() }
            let visitor = HTTPVisitor(loop, stream, answer) { [unowned self] in visitors[ObjectIdentifier($0)] = nil }
            visitors[ObjectIdentifier(visitor)] = visitor
        }
    }

    public var localAddress: SocketAddress? { listener.localAddress }

    public func close() {
        listener.close()
        for visitor in visitors.values { visitor.close() }
    }
}
