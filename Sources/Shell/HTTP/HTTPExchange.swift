import EventLoop

package final class HTTPExchange {
    package struct Answer: Sendable {
        package let status: Int
        package let body: String
    }

    private let deadline: Timer
    private let done: (Result<Answer, HTTPError>) -> Void
    private var attempt: Cancellable?
    private var stream: Stream?
    private var bytes: [UInt8] = []
    private var isOver = false

    /// - Parameters:
    ///   - target: the path and query, percent-encoded.
    ///   - timeout: the milliseconds until the request is given up.
    ///   - done: called once.
    @discardableResult
    package init(
        _ loop: Loop, at place: HTTPEndpoint.Place, _ target: String, method: String = "GET", timeout: UInt64 = 10_000,
        done: @escaping (Result<Answer, HTTPError>) -> Void
    ) {
        deadline = Timer(loop)
        self.done = done
        let request = "\(method) \(target) HTTP/1.1\r\nHost: \(place.host)\r\n\r\n"
        // The closures retain this object until the exchange is over.
        deadline.start(after: timeout) { self.end(.failure(.init(description: "it did not answer in time"))) }
        switch place {
        case .tcp(let address):
            attempt = TCP.connect(loop, to: address) { self.opened($0.map { $0 as Stream }, request) }
        case .unix(let path): attempt = Pipe.connect(loop, path: path) { self.opened($0.map { $0 as Stream }, request) }
        }
    }

    private func opened(_ result: Result<Stream, UVError>, _ request: String) {
        attempt = nil
        switch result {
        case .failure(let error): end(.failure(.init(description: "\(error)")))
        case .success(let stream):
            if isOver { return stream.close() }
            self.stream = stream
            stream.open {
                self.bytes.append(contentsOf: $0)
            } onEnd: { end in
                self.end(end == .eof ? self.parsed() : .failure(.init(description: "\(end)")))
            }
            stream.write([OutputBuffer(Array(request.utf8))])
        }
    }

    private func parsed() -> Result<Answer, HTTPError> {
        if bytes.isEmpty { return .failure(.init(description: "it closed the connection without an answer")) }
        guard let head = bytes.firstRange(of: Array("\r\n\r\n".utf8)), bytes.starts(with: Array("HTTP/1.".utf8)),
            let status = Int(String(decoding: bytes.prefix(12).suffix(3), as: UTF8.self))
        else { return .failure(.init(description: "another program answers there")) }
        let body = bytes[head.upperBound...]
        let fields = String(decoding: bytes[..<head.lowerBound], as: UTF8.self)
        guard let length = fields.firstMatch(of: #/(?i)\r\ncontent-length: *([0-9]+)/#).flatMap({ Int($0.1) }),
            length == body.count
        else { return .failure(.init(description: "its answer is incomplete")) }
        return .success(Answer(status: status, body: String(decoding: body, as: UTF8.self)))
    }

    private func end(_ result: Result<Answer, HTTPError>) {
        guard !isOver else { return }
        isOver = true
        deadline.close()
        attempt?.cancel()
        stream?.close()
        done(result)
    }
}

/// The reason why there is no answer, for people.
package struct HTTPError: Error, CustomStringConvertible {
    package let description: String
}
