internal import CLibuv
internal import Glibc

/// A TCP connection. Confined to its loop's thread.
package final class TCP: Stream {
    package let peerAddress: SocketAddress

    package override var peerDescription: String { peerAddress.description }

    private init(_ loop: Loop, peer: SocketAddress) {
        peerAddress = peer
        // Cannot fail: the socket itself is created later.
        super.init(loop, UV_TCP) { loop, raw in
            uv_tcp_init(loop, raw.assumingMemoryBound(to: uv_tcp_t.self))
        }
        // The system sends small writes at once instead of collecting them.
        uv_tcp_nodelay(tcp, 1)
    }

    /// Connects.
    /// - Parameter done: called once, with the connection or the error, for example `.connectionRefused`.
    /// - Returns: an object that cancels the attempt. The only time limit is the system's, which is minutes.
    @discardableResult
    package static func connect(
        _ loop: Loop, to address: SocketAddress, _ done: @escaping (Result<TCP, UVError>) -> Void
    ) -> Cancellable {
        let tcp = TCP(loop, peer: address)
        let request = ConnectRequest(tcp) { error in
            done(error.map(Result.failure) ?? .success(tcp))
        }
        return request.start { request in
            address.withSockaddr { sockaddr, _ in
                uv_tcp_connect(request, tcp.tcp, sockaddr) { ConnectRequest.answered($0, $1) }
            }
        }
    }

    /// Takes over a connected socket.
    static func adopt(
        _ descriptor: consuming Descriptor, _ loop: Loop, peer: SocketAddress
    ) throws(UVError) -> TCP {
        let tcp = TCP(loop, peer: peer)
        try tcp.check(uv_tcp_open(tcp.tcp, descriptor.number))
        descriptor.release()
        return tcp
    }

    /// Closes the connection without an orderly end: unsent bytes are dropped, and the peer gets `.connectionReset`.
    package func reset() {
        var descriptor: Int32 = -1
        if !isClosing, uv_fileno(base, &descriptor) == 0 {
            var atOnce = linger(l_onoff: 1, l_linger: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &atOnce, socklen_t(MemoryLayout<linger>.size))
        }
        close()
    }

    /// This end's address, or nil once the connection is closed.
    package var localAddress: SocketAddress? {
        if isClosing { return nil }
        return SocketAddress(filling: { address, size in
            var length = Int32(size)
            return uv_tcp_getsockname(tcp, address, &length)
        })
    }

    private var tcp: UnsafeMutablePointer<uv_tcp_t> { raw.assumingMemoryBound(to: uv_tcp_t.self) }
}
