final class HTTPConnection {
    private let stream: EventLoop.Stream
    private let deadline: EventLoop.Timer
    private let answer: HTTPEndpoint.Answer
    private let onEnd: () -> Void
    private var head: [UInt8] = []
    /// Whether the request is complete or refused. Later input is not read as another request.
    private var isTaken = false
    /// Whether the server waits for the client: to send the request, or to read the answer.
    private(set) var isAwaited = true
    private var isClosed = false

    private static let maxBytes = 8_192
    private let timeout: UInt64

    init(
        _ loop: Loop, _ stream: EventLoop.Stream, timeout: UInt64, _ answer: @escaping HTTPEndpoint.Answer,
        onEnd: @escaping () -> Void
    ) {
        self.stream = stream
        self.timeout = timeout
        self.answer = answer
        self.onEnd = onEnd
        deadline = EventLoop.Timer(loop)
        startDeadline()
        stream.open { [unowned self] in
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
        head.append(contentsOf: bytes.prefix(Self.maxBytes + 1 - head.count))
        if let end = head.firstRange(of: Array("\r\n\r\n".utf8)) {
            isTaken = true
            stream.stopReading()
            deadline.stop()
            isAwaited = false
            take(String(decoding: head[..<end.lowerBound], as: UTF8.self))
        } else if head.count > Self.maxBytes {
            isTaken = true
            send(.init(status: "431 Request Header Fields Too Large", body: "The request is too long.\n"))
        }
    }

    private func take(_ head: String) {
        let words = head.prefix { $0 != "\r\n" }.split(separator: " ")
        guard words.count == 3, words[2].hasPrefix("HTTP/1.") else {
            return send(.init(status: "400 Bad Request", body: "Expected: GET PATH HTTP/1.1\n"))
        }
        let isHead = words[0] == "HEAD"
        let parts = words[1].split(separator: "?", maxSplits: 1)
        let request = HTTPEndpoint.Request(
            method: isHead ? "GET" : String(words[0]),
            path: (parts.first ?? "").split(separator: "/").map { Self.decoded($0) },
            query: parts.count > 1 ? Self.query(parts[1]) : [:], host: Self.host(in: head))
        answer(request) { [weak self] page in self?.send(page, hasBody: !isHead) }
    }

    private static func host(in head: String) -> String? {
        let lines = head.split(separator: "\r\n").dropFirst()
        guard let line = lines.first(where: { $0.lowercased().hasPrefix("host:") }) else { return nil }
        let place = line.dropFirst("host:".count).drop { $0 == " " }.prefix { $0 != " " }.lowercased()
        // An IPv6 address stands in brackets, because of its colons.
        if place.hasPrefix("[") { return String(place.dropFirst().prefix { $0 != "]" }) }
        return String(place.prefix { $0 != ":" })
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

    private func send(_ page: HTTPEndpoint.Page, hasBody: Bool = true) {
        guard !isClosed else { return }
        let body = Array(page.body.utf8)
        let head =
            "HTTP/1.1 \(page.status)\r\nContent-Type: \(page.type)\r\nContent-Length: \(body.count)\r\n"
            + "Cache-Control: no-store\r\nConnection: close\r\n\r\n"
        stream.write([OutputBuffer(Array(head.utf8) + (hasBody ? body : []))])
        // The client closes the connection after reading the answer; otherwise the deadline closes it.
        isAwaited = true
        startDeadline()
        stream.shutdown()
        stream.resumeReading()
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        deadline.close()
        stream.close()
        onEnd()
    }
}
