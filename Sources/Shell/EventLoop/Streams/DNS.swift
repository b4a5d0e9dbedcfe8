internal import CLibuv
internal import Glibc

/// Resolves host names to addresses.
package enum DNS {
    /// Asks the system's resolver, on libuv's thread pool.
    /// - Parameters:
    ///   - host: a name or a numeric address.
    ///   - done: called once on the loop's thread: with at least one address, of both families, in the order in which
    ///     to try them; or with the error, for example if there is no such host.
    @discardableResult
    package static func resolve(
        _ loop: Loop, host: String, port: UInt16, _ done: @escaping (Result<[SocketAddress], UVError>) -> Void
    ) -> Cancellable {
        let request = ResolveRequest(loop, done)
        do {
            try request.start(host: host, port: port)
        } catch {
            loop.soon { done(.failure(error)) }
        }
        return Cancellable { [weak request] in request?.cancel() }
    }
}

private final class ResolveRequest: Request {
    private let loop: Loop
    private let done: (Result<[SocketAddress], UVError>) -> Void
    private var isCanceled = false

    init(_ loop: Loop, _ done: @escaping (Result<[SocketAddress], UVError>) -> Void) {
        precondition(!loop.isClosed, "a query on a closed loop")
        self.loop = loop
        self.done = done
        super.init(UV_GETADDRINFO)
    }

    func start(host: String, port: UInt16) throws(UVError) {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_NUMERICSERV
        try submit { raw in
            uv_getaddrinfo(
                loop.pointer, raw.assumingMemoryBound(to: uv_getaddrinfo_t.self),
                { request, status, list in
                    ResolveRequest.take(request).finish(status, list)
                    uv_freeaddrinfo(list)
                }, host, String(port), &hints)
        }
    }

    func cancel() {
        guard isUnderWay else { return }
        isCanceled = true
        // Canceling fails once the resolver has started; the resolver's answer is ignored then.
        uv_cancel(base)
    }

    private func finish(_ status: Int32, _ list: UnsafeMutablePointer<addrinfo>?) {
        if isCanceled {
            done(.failure(.canceled))
        } else if status < 0 {
            done(.failure(UVError(code: status)))
        } else {
            done(.success(addresses(list)))
        }
    }

    private func addresses(_ list: UnsafeMutablePointer<addrinfo>?) -> [SocketAddress] {
        var addresses: [SocketAddress] = []
        for entry in sequence(first: list, next: { $0?.pointee.ai_next }) {
            guard let pointer = entry?.pointee.ai_addr, let address = SocketAddress(pointer) else { continue }
            // The resolver may name an address once per line in /etc/hosts.
            if !addresses.contains(address) { addresses.append(address) }
        }
        return addresses
    }
}
