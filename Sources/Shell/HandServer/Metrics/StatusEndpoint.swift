import EventLoop

/// Answers GET over HTTP/1.1 with a few pages, one request for each connection: enough for whoever watches a server, and no
/// more. What it reads and how long it waits is bounded.
final class StatusEndpoint {
    struct Page {
        var status = "200 OK"
        var type = "text/plain; charset=utf-8"
        var body: String
    }

    private let loop: Loop
    private let listener: Listener
    private var visitors: [ObjectIdentifier: Visitor] = [:]
    /// More are turned away.
    private static let mostVisitors = 64

    /// - Parameter page: the page at a path; nil if there is none.
    init(_ loop: Loop, at address: SocketAddress, page: @escaping (String) -> Page?) throws(UVError) {
        self.loop = loop
        var accept: (TCP) -> Void = { $0.close() }
        listener = try Listener.tcp(loop, address: address, onConnection: { accept($0) })
        accept = { [unowned self] stream in
            guard visitors.count < Self.mostVisitors else { return stream.close() }
            let visitor = Visitor(loop, stream, page) { [unowned self] in visitors[ObjectIdentifier($0)] = nil }
            visitors[ObjectIdentifier(visitor)] = visitor
        }
    }

    var localAddress: SocketAddress? { listener.localAddress }

    func close() {
        listener.close()
        for visitor in visitors.values { visitor.close() }
    }
}

/// One who asks.
private final class Visitor {
    private let stream: TCP
    private let deadline: Timer
    private let page: (String) -> StatusEndpoint.Page?
    private let onEnd: (Visitor) -> Void
    private var head: [UInt8] = []
    private var isClosed = false

    private static let mostBytes = 8_192
    /// Milliseconds for a request and its answer.
    private static let patience: UInt64 = 5_000

    init(
        _ loop: Loop, _ stream: TCP, _ page: @escaping (String) -> StatusEndpoint.Page?,
        onEnd: @escaping (Visitor) -> Void
    ) {
        self.stream = stream
        self.page = page
        self.onEnd = onEnd
        deadline = Timer(loop)
        deadline.start(after: Self.patience) { [unowned self] in close() }
        stream.startReading { [unowned self] in
            received($0)
        } onEnd: { [unowned self] _ in
            close()
        }
    }

    private func received(_ bytes: UnsafeRawBufferPointer) {
        head.append(contentsOf: bytes.prefix(Self.mostBytes + 1 - head.count))
        if let end = head.firstRange(of: Array("\r\n\r\n".utf8)) {
            stream.stopReading()
            answer(String(decoding: head[..<end.lowerBound], as: UTF8.self))
        } else if head.count > Self.mostBytes {
            send(.init(status: "431 Request Header Fields Too Large", body: "The request is too long.\n"))
        }
    }

    private func answer(_ head: String) {
        let words = head.prefix { $0 != "\r\n" }.split(separator: " ")
        guard words.count == 3, words[2].hasPrefix("HTTP/1.") else {
            return send(.init(status: "400 Bad Request", body: "Expected: GET PATH HTTP/1.1\n"))
        }
        guard words[0] == "GET" || words[0] == "HEAD" else {
            return send(.init(status: "405 Method Not Allowed", body: "There is only GET.\n"))
        }
        let path = String(words[1].prefix { $0 != "?" })
        let found = page(path) ?? .init(status: "404 Not Found", body: "There are /metrics, /healthz and /readyz.\n")
        send(found, hasBody: words[0] == "GET")
    }

    private func send(_ page: StatusEndpoint.Page, hasBody: Bool = true) {
        let body = Array(page.body.utf8)
        let head =
            "HTTP/1.1 \(page.status)\r\nContent-Type: \(page.type)\r\nContent-Length: \(body.count)\r\n"
            + "Cache-Control: no-store\r\nConnection: close\r\n\r\n"
        stream.write([OutputBuffer(Array(head.utf8) + (hasBody ? body : []))])
        // The other side closes when it has read all of that; the deadline, if it does not.
        stream.shutdown()
        stream.resumeReading()
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        deadline.close()
        stream.close()
        onEnd(self)
    }
}
