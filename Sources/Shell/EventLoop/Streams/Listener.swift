internal import CLibuv
internal import Glibc

/// Listens for connections. Confined to its loop's thread. Like a ``Handle`` it stays open until it is closed.
///
/// The listener does not use `uv_listen`: when the process is out of descriptors, `uv_listen` silently drops the
/// waiting connections, or calls back endlessly. Here the connections keep waiting, and the owner is notified.
package final class Listener {
    /// The address, with the system's choice instead of port 0; nil for a Unix socket.
    package let localAddress: SocketAddress?

    private let poll: Poll
    private let pause: Timer
    private var socket: Descriptor?
    private let file: SocketFile?

    private let adopt: (consuming Descriptor, SocketAddress?) throws(UVError) -> Void
    private let onError: (UVError) -> Void

    /// The milliseconds until the next attempt after a failure to accept.
    private static let retryDelay: UInt64 = 100
    /// Limits how long many new connections can keep the loop from other work.
    private static let acceptsPerTurn = 64

    /// - Parameters:
    ///   - socket: a socket that is bound and listens.
    ///   - file: the socket file to remove at the end.
    ///   - adopt: makes a stream from an accepted socket and passes the stream on.
    init(
        _ loop: Loop, _ socket: consuming Descriptor, localAddress: SocketAddress?, file: SocketFile?,
        adopt: @escaping (consuming Descriptor, SocketAddress?) throws(UVError) -> Void,
        onError: @escaping (UVError) -> Void
    ) throws(UVError) {
        poll = try Poll(loop, descriptor: socket.number)
        pause = Timer(loop)
        self.socket = consume socket
        self.localAddress = localAddress
        self.file = file
        self.adopt = adopt
        self.onError = onError
        // The closure retains this listener while it is open, and also cleans up if the loop closes the poll.
        poll.whenClosed { [self] in release() }
        start()
    }

    /// Stops listening at once, and removes a Unix socket's file. Accepted connections stay open.
    package func close(_ done: (() -> Void)? = nil) {
        pause.close()
        poll.close(done)
        release()
    }

    private func start() {
        poll.start(.readable) { [unowned self] result in
            switch result {
            case .success: acceptWaiting()
            case .failure(let error): retryLater(error)
            }
        }
    }

    private func acceptWaiting() {
        do throws(UVError) {
            for _ in 0..<Listener.acceptsPerTurn {
                guard try acceptNext() else { return }
            }
        } catch {
            retryLater(error)
        }
    }

    /// - Returns: whether to continue.
    private func acceptNext() throws(UVError) -> Bool {
        guard let listening = socket?.number else { return false }
        var accepted: Int32 = -1
        let peer = SocketAddress(filling: { address, size in
            accepted = accept4(listening, address, &size, Descriptor.flags)
            return accepted
        })
        if accepted >= 0 {
            try adopt(Descriptor(accepted), peer)
            return true
        }
        switch errno {
        case EAGAIN: return false
        // A signal came, or this connection was lost while it waited: the next one may be there.
        case EINTR, ECONNABORTED, EPROTO: return true
        case let number: throw UVError(errno: number)
        }
    }

    /// The socket stays ready while accepting fails, so an immediate retry would loop endlessly.
    private func retryLater(_ error: UVError) {
        poll.stop()
        pause.start(after: Listener.retryDelay) { [unowned self] in start() }
        onError(error)
    }

    private func release() {
        guard socket != nil else { return }
        socket = nil
        // If somebody else has removed or replaced the file, nothing is removed.
        try? file?.remove()
    }
}
