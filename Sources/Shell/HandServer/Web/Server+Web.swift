import EventLoop
import HTTP
import HandSync

/// Clients that come by HTTP and go on as WebSockets: a browser has no other way.
extension Server {
    /// Reads the request of a browser, and serves it as any other client once it is a WebSocket. One deadline is for
    /// TLS, the request and the hello.
    func serveWeb(_ channel: any Channel, from caller: Caller) {
        let limits = configuration.limits
        let isFull = caller.address.map { webRequests.count(from: $0) >= limits.connectionsPerAddress } ?? false
        guard !isFull, arriving + webRequests.count < limits.connections else { return channel.close() }
        var start = loop.now
        var key: ObjectIdentifier?
        let request = HTTPConnection(loop, channel, timeout: limits.handshakeDeadline) {
            [unowned self] request, reply in
            if let page = page(for: request, from: caller) {
                start = loop.now
                return reply(.page(page))
            }
            let caller = caller == .thisMachine && request.isPassedOn ? .proxied : caller
            reply(.webSocket { [unowned self] in serve(WebSocketStream(loop, $0), from: caller, since: start) })
        } onEnd: { [unowned self] in
            if let key { webRequests.remove(key) }
        }
        key = ObjectIdentifier(request)
        webRequests.add(request, from: caller.address)
    }

    /// A file of the page, or why a request is not fulfilled; nil for a WebSocket of a page that may have one.
    ///
    /// A page of another site can make its visitor's browser send requests to this server. The browser says which site
    /// that is (`Origin`), and under which name it knows the server (`Host`): a name of the other site may lead here.
    private func page(for request: HTTPEndpoint.Request, from caller: Caller) -> HTTPEndpoint.Page? {
        guard request.host != nil, request.isFor(configuration.webNames + [Self.host]) else {
            let text = "This server has another name. Ask for its address, or start it with --web-name NAME.\n"
            return .init(status: "421 Misdirected Request", body: text)
        }
        guard request.method == "GET" else {
            return .init(status: "405 Method Not Allowed", body: "There is only GET.\n")
        }
        guard request.wantsWebSocket else {
            return webPages.page(at: request.path)
                ?? .init(status: "404 Not Found", body: "There is no page of that name.\n")
        }
        guard request.path.isEmpty else {
            return .init(status: "404 Not Found", body: "There is no WebSocket of that name.\n")
        }
        // Guests of this machine may do much, and any page that is open on it could be one. Other programs say no
        // origin; on this machine they have better ways to connect.
        let isOwn = request.origin.map { $0 == "\(isEncrypted ? "https" : "http")://\(request.authority ?? "")" }
        guard isOwn ?? (caller.address != nil) else {
            return .init(status: "403 Forbidden", body: "Pages of other sites may not connect to this server.\n")
        }
        return nil
    }
}
