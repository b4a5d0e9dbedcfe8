internal import CLibuv
internal import Glibc

/// Waits for connections. Confined to its loop's thread, and like a ``Handle`` open until it is closed.
///
/// It accepts by itself instead of through `uv_listen`: when the process is out of descriptors, that drops the waiting
/// connections without a word, or calls back without end. Here they wait, and the owner hears of it.
package final class Listener {
    /// The address with the port that the system has chosen if 0 was asked for. Missing on a Unix socket.
    package let localAddress: SocketAddress?

    private let poll: Poll
    private let pause: Timer
    private var socket: Descriptor?
    private let file: SocketFile?

    private let adopt: (consuming Descriptor, SocketAddress?) throws(UVError) -> Void
    private let onError: (UVError) -> Void

    /// Milliseconds until it tries again after a failure to accept.
    private static let retryDelay: UInt64 = 100
    /// So that many connections at once do not keep the loop from the others for long.
    private static let acceptsPerTurn = 64

    /// - Parameters:
    ///   - socket: one that is bound and listens.
    ///   - file: what to remove at the end.
    ///   - adopt: makes a stream of an accepted socket and hands it out.
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
        // Retains this listener while it is open, and cleans up also when the loop closes the poll.
        poll.whenClosed { [self] in release() }
        start()
    }

    /// Stops to listen, at once; a Unix socket's file is removed. Accepted connections stay open.
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

    /// - Returns: whether to go on.
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
        // A connection that went away while it waited.
        case EINTR, ECONNABORTED, EPROTO: return true
        case let number: throw UVError(errno: number)
        }
    }

    /// The socket stays ready while it cannot be accepted, so asking again at once would never end.
    private func retryLater(_ error: UVError) {
        poll.stop()
        pause.start(after: Listener.retryDelay) { [unowned self] in start() }
        onError(error)
    }

    private func release() {
        guard socket != nil else { return }
        socket = nil
        // Nothing is to be done about a file that was removed or replaced meanwhile.
        try? file?.remove()
    }
}
