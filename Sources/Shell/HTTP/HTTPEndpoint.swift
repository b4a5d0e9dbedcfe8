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
    /// By the order of their coming.
    private var visitors: [UInt64: HTTPVisitor] = [:]
    private var nextNumber: UInt64 = 0

    /// - Parameter mostVisitors: if one more comes, the oldest of those makes room that keep the server waiting. Several times as
    ///   many as are accepted in one turn of the loop, so that who asks at once is heard before.
    /// - Throws: as `Listener` does; the file of a socket whose server is gone is replaced.
    public init(
        _ loop: Loop, at place: Place, mostVisitors: Int = 256, answer: @escaping Answer
    ) throws(UVError) {
        var accept: (Stream) -> Void = { $0.close() }
        switch place {
        case .tcp(let address): listener = try Listener.tcp(loop, address: address, onConnection: { accept($0) })
        case .unix(let path):
            try Listener.removeStaleSocket(path: path)
            listener = try Listener.pipe(loop, path: path, onConnection: { accept($0) })
        }
        accept = { [unowned self] stream in
            if visitors.count >= mostVisitors {
                let idle = visitors.filter { $0.value.isAwaited }.keys.min()
                guard let idle else { return stream.close() }
                visitors[idle]?.close()
            }
            let number = nextNumber
            nextNumber += 1
            visitors[number] = HTTPVisitor(loop, stream, answer) { [unowned self] in visitors[number] = nil }
        }
    }

    public var localAddress: SocketAddress? { listener.localAddress }

    public func close() {
        listener.close()
        for visitor in visitors.values { visitor.close() }
    }
}
