import EventLoop
import HandWire

/// Connections through trusted proxies, which must name the client's origin. Nobody else is trusted to name an origin.
extension Server {
    /// Accepts a connection from a proxy. A client behind a proxy never counts as local, whatever address the header
    /// names.
    func acceptProxied(_ stream: TCP, at endpoint: ServerConfiguration.Endpoint) {
        guard arriving < configuration.limits.connections else { return stream.close() }
        arriving += 1
        let proxied = ProxiedStream(loop, stream)
        proxied.awaitHeader(within: configuration.limits.handshakeDeadline) { [unowned self] result in
            arriving -= 1
            switch result {
            case .success(let address):
                accept(proxied, from: .address((address ?? stream.peerAddress).site), at: endpoint)
            case .failure(.ended): proxied.close()
            case .failure(let problem):
                logger.warning(
                    "refused a connection",
                    metadata: ["proxy": "\(stream.peerDescription)", "reason": "\(problem.rawValue)"])
                refuse(proxied)
            }
        }
    }

    /// Sends the reason for the refusal, for clients at the address of a proxy. With TLS there is no way to send a
    /// reason.
    private func refuse(_ proxied: ProxiedStream) {
        guard !isEncrypted else { return proxied.close() }
        let text =
            "connections from your address must begin with a valid PROXY header; use another, or the server's Unix socket"
        proxied.write([
            OutputBuffer(DownMessage.error(code: .notHand, request: 0, retryAfter: 0, message: text).frame)
        ])
        proxied.closeWhenRead(within: configuration.limits.drainDeadline, loop)
    }
}
