import EventLoop

/// Requests over a stream or a layer above one: reads one, answers it, and closes the channel, unless the client may
/// send another one, or goes on as a WebSocket.
package final class HTTPConnection {
    package typealias Answer = (HTTPEndpoint.Request, _ reply: @escaping (HTTPEndpoint.Reply) -> Void) -> Void

    private let channel: any Channel
    private let deadline: Timer
    private let answer: Answer
    private let onEnd: () -> Void
    private var head: [UInt8] = []
    /// Whether the request is complete or refused. Later input is not read as another request before the answer.
    private var isTaken = false
    /// Whether the server waits for the client: to send the request, or to read the answer.
    private(set) var isAwaited = true
    private var isClosed = false
    private let timeout: UInt64

    /// - Parameters:
    ///   - timeout: the milliseconds for sending the request, and for reading the answer.
    ///   - onEnd: called once, when the channel is closed or has another owner.
    package init(
        _ loop: Loop, _ channel: any Channel, timeout: UInt64, _ answer: @escaping Answer,
        onEnd: @escaping () -> Void
    ) {
        self.channel = channel
        self.timeout = timeout
        self.answer = answer
        self.onEnd = onEnd
        deadline = Timer(loop)
        startDeadline()
        channel.open { [unowned self] in
            received($0)
        } onEnd: { [unowned self] _ in
            close()
        }
    }

    private func startDeadline() {
        deadline.start(after: timeout) { [unowned self] in close() }
    }

    private func received(_ bytes: UnsafeRawBufferPointer) {
        guard !isTaken else { return }
        head.append(contentsOf: bytes.prefix(HTTPHead.maxBytes + 1 - head.count))
        if let end = head.firstRange(of: Array("\r\n\r\n".utf8)) {
            isTaken = true
            channel.stopReading()
            deadline.stop()
            isAwaited = false
            take(Array(head[..<end.upperBound]), isFollowed: end.upperBound < head.count)
        } else if head.count > HTTPHead.maxBytes {
            isTaken = true
            refuse(.init(status: "431 Request Header Fields Too Large", reason: "the request is too long"))
        }
    }

    /// - Parameter isFollowed: whether bytes have come after the head.
    private func take(_ bytes: [UInt8], isFollowed: Bool) {
        let request: HTTPEndpoint.Request
        let isHead: Bool
        do throws(HTTPHead.Refusal) {
            let head = try HTTPHead(bytes)
            isHead = head.method == "HEAD"
            request = try Self.request(head, isFollowed: isFollowed)
            if request.wantsWebSocket, isFollowed { throw .bad("bytes came before the answer to the upgrade") }
        } catch {
            return refuse(error)
        }
        answer(request) { [weak self] reply in
            switch reply {
            case .page(let page):
                self?.send(page, hasBody: !isHead, isCompressed: request.readsBrotli, mayStay: request.mayStay)
            case .webSocket(let begin): self?.begin(begin, request.webSocketAnswer ?? "")
            }
        }
    }

    /// What proxies add to a request that they pass on.
    private static let proxyFields = ["forwarded", "x-forwarded-for", "x-real-ip", "via"]

    private static func request(
        _ head: HTTPHead, isFollowed: Bool
    ) throws(HTTPHead.Refusal) -> HTTPEndpoint.Request {
        let parts = head.target.split(separator: "?", maxSplits: 1)
        let authority = head.values(of: "host").first?.lowercased()
        return HTTPEndpoint.Request(
            method: head.method == "HEAD" ? "GET" : head.method,
            path: (parts.first ?? "").split(separator: "/").map { decoded($0) },
            query: parts.count > 1 ? query(parts[1]) : [:], host: authority.map(host), authority: authority,
            origin: head.values(of: "origin").first?.lowercased(),
            isPassedOn: proxyFields.contains { !head.values(of: $0).isEmpty },
            readsBrotli: head.words(of: "accept-encoding").contains("br"),
            mayStay: head.isVersion11 && !isFollowed && !head.words(of: "connection").contains("close"),
            webSocketAnswer: try WebSocketHandshake.answer(to: head))
    }

    /// The host without the port.
    private static func host(_ authority: String) -> String {
        // An IPv6 address stands in brackets, because of its colons.
        let isBracketed = authority.hasPrefix("[")
        let end = authority.firstIndex(of: isBracketed ? "]" : ":") ?? authority.endIndex
        let rest = authority[end...].drop { isBracketed && $0 == "]" }
        // Whatever else stands there is no port, so that the whole is no name of the server's.
        guard rest.isEmpty || rest.hasPrefix(":") && rest.dropFirst().allSatisfy({ $0.isASCII && $0.isNumber }) else {
            return authority
        }
        return String(isBracketed ? authority[..<end].dropFirst() : authority[..<end])
    }

    private static func query(_ text: Substring) -> [String: String] {
        let pairs = text.split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1)
            return (decoded(parts.first ?? ""), parts.count > 1 ? decoded(parts[1]) : "")
        }
        return Dictionary(pairs) { $1 }
    }

    /// Returns the text that a part of an address stands for, or the part itself if it is malformed.
    private static func decoded(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = rest.prefix(2).compactMap { Character(UnicodeScalar($0)).hexDigitValue }
            guard digits.count == 2 else { return String(text) }
            bytes.append(UInt8(digits[0] << 4 | digits[1]))
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self) ?? String(text)
    }

    // MARK: Answers

    private func refuse(_ refusal: HTTPHead.Refusal) {
        let reason = refusal.reason.prefix(1).uppercased() + refusal.reason.dropFirst()
        var page = HTTPEndpoint.Page(status: refusal.status, body: "\(reason).\n")
        if refusal.status.hasPrefix("426") {
            page.fields = [("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13")]
        }
        send(page)
    }

    private func send(
        _ page: HTTPEndpoint.Page, hasBody: Bool = true, isCompressed: Bool = false, mayStay: Bool = false
    ) {
        guard !isClosed else { return }
        let compressed = isCompressed ? page.compressed : nil
        let body = compressed ?? page.body
        let stays = mayStay && page.isFile
        let fields =
            [
                ("Content-Type", page.type), ("Content-Length", "\(body.count)"), ("Cache-Control", page.caching),
                ("Connection", stays ? "keep-alive" : "close"),
            ] + (compressed == nil ? [] : [("Content-Encoding", "br")]) + page.fields
        let head = "HTTP/1.1 \(page.status)\r\n" + fields.map { "\($0.0): \($0.1)\r\n" }.joined() + "\r\n"
        channel.write([OutputBuffer(Array(head.utf8))] + (hasBody ? [OutputBuffer(body)] : []))
        isAwaited = true
        startDeadline()
        if stays {
            self.head = []
            isTaken = false
        } else {
            // The client closes the connection after reading the answer; otherwise the deadline closes it.
            channel.shutdown()
        }
        channel.resumeReading()
    }

    private func begin(_ begin: (any Channel) -> Void, _ answer: String) {
        guard !isClosed else { return }
        isClosed = true
        deadline.close()
        let head =
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Accept: \(answer)\r\n\r\n"
        channel.write([OutputBuffer(head.utf8)])
        begin(channel)
        onEnd()
    }

    package func close() {
        guard !isClosed else { return }
        isClosed = true
        deadline.close()
        channel.close()
        onEnd()
    }
}
