import EventLoop

/// Answers over HTTP/1.1, one request without a body for each connection: enough for whoever watches or runs a server, and no
/// more. What it reads and how long it waits is bounded.
package final class HTTPEndpoint {
    /// Where to listen, and where to ask.
    package enum Place: Sendable, CustomStringConvertible {
        case tcp(SocketAddress)
        /// A Unix socket, which only its owner may use.
        case unix(String)

        package var description: String {
            switch self {
            case .tcp(let address): "\(address)"
            case .unix(let path): path
            }
        }
    }

    package struct Request: Sendable {
        /// In capitals; HEAD comes as GET.
        package let method: String
        /// The parts between slashes.
        package let path: [String]
        package let query: [String: String]
    }

    package struct Page: Sendable {
        package var status = "200 OK"
        package var type = "text/plain; charset=utf-8"
        package var body: String

        package init(status: String = "200 OK", type: String = "text/plain; charset=utf-8", body: String) {
            self.status = status
            self.type = type
            self.body = body
        }
    }

    /// Finds the page for a request; it may take its time.
    package typealias Answer = (Request, _ page: @escaping (Page) -> Void) -> Void

    private let listener: Listener
    /// By the order of their coming.
    private var visitors: [UInt64: HTTPVisitor] = [:]
    private var nextNumber: UInt64 = 0

    /// - Parameter mostVisitors: if one more comes, the oldest of those makes room that keep the server waiting. Several times as
    ///   many as are accepted in one turn of the loop, so that who asks at once is heard before.
    /// - Throws: as `Listener` does; the file of a socket whose server is gone is replaced.
    package init(
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

    package var localAddress: SocketAddress? { listener.localAddress }

    package func close() {
        listener.close()
        for visitor in visitors.values { visitor.close() }
    }
}
