internal import Glibc

extension Listener {
    /// How many connections may wait to be accepted.
    private static let backlog: Int32 = 511

    /// Listens on a TCP address.
    /// - Parameters:
    ///   - address: port 0 lets the system choose, see ``localAddress``. The IPv6 address `::` also accepts IPv4.
    ///   - onConnection: called with each connection, which stays open until it is closed.
    ///   - onError: called when connections cannot be accepted, for example with `.tooManyOpenFiles`. The listener
    ///     tries again after 100 ms.
    /// - Throws: for example `.addressInUse`.
    package static func tcp(
        _ loop: Loop, address: SocketAddress,
        onConnection: @escaping (TCP) -> Void, onError: @escaping (UVError) -> Void = { _ in }
    ) throws(UVError) -> Listener {
        let socket = try Descriptor.socket(family: address.family)
        var on: Int32 = 1
        // A server must be able to start again while its old connections are in TIME_WAIT.
        try UVError.checkCall(
            setsockopt(socket.number, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size)))
        try UVError.checkCall(address.withSockaddr { bind(socket.number, $0, $1) })
        try UVError.checkCall(listen(socket.number, Self.backlog))
        let number = socket.number
        let local = SocketAddress(filling: { getsockname(number, $0, &$1) })
        return try Listener(
            loop, socket, localAddress: local, file: nil,
            adopt: { (accepted, peer) throws(UVError) in
                guard let peer else { throw .notConnected }
                onConnection(try TCP.adopt(accepted, loop, peer: peer))
            }, onError: onError)
    }

    /// Listens on a Unix socket. Creates the socket's file, which ``close(_:)`` removes.
    /// - Parameters:
    ///   - permissions: the permissions of the file. Users who may write to it may connect.
    ///   - onConnection, onError: as in ``tcp(_:address:onConnection:onError:)``.
    /// - Throws: `.addressInUse` if the file exists, see ``removeStaleSocket(path:)``; `.nameTooLong` for a path of
    ///   more than 107 bytes; `.noSuchFile` if its folder does not exist.
    package static func pipe(
        _ loop: Loop, path: String, permissions: UInt32 = 0o600,
        onConnection: @escaping (Pipe) -> Void, onError: @escaping (UVError) -> Void = { _ in }
    ) throws(UVError) -> Listener {
        let address = try UnixAddress(path: path)
        let socket = try Descriptor.socket(family: AF_UNIX)
        try UVError.checkCall(address.withSockaddr { bind(socket.number, $0, $1) })
        do throws(UVError) {
            // Before the socket listens: until then nobody can connect.
            try UVError.checkCall(chmod(path, permissions))
            try UVError.checkCall(listen(socket.number, Self.backlog))
            return try Listener(
                loop, socket, localAddress: nil, file: SocketFile(at: path),
                adopt: { (accepted, _) throws(UVError) in onConnection(try Pipe.adopt(accepted, loop, path: path)) },
                onError: onError)
        } catch {
            unlink(path)
            throw error
        }
    }

    /// Takes over a socket that already listens: the parent process opened the socket, and removes its file.
    /// - Parameters:
    ///   - onTCP, onPipe: called with each connection, depending on the kind of the socket.
    /// - Throws: `.notASocket`; `.invalidArgument` for a socket that does not listen; or another error of the system.
    package static func inherited(
        _ loop: Loop, descriptor: Int32, onTCP: @escaping (TCP) -> Void, onPipe: @escaping (Pipe) -> Void,
        onError: @escaping (UVError) -> Void = { _ in }
    ) throws(UVError) -> Listener {
        var (listens, size): (Int32, _) = (0, socklen_t(MemoryLayout<Int32>.size))
        try UVError.checkCall(getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size))
        guard listens == 1 else { throw .invalidArgument }
        let flags = fcntl(descriptor, F_GETFL)
        try UVError.checkCall(fcntl(descriptor, F_SETFL, flags | O_NONBLOCK))
        try UVError.checkCall(fcntl(descriptor, F_SETFD, FD_CLOEXEC))
        let local = SocketAddress(ofSocket: descriptor)
        return try Listener(
            loop, Descriptor(descriptor), localAddress: local, file: nil,
            adopt: { (accepted, peer) throws(UVError) in
                guard local != nil else { return onPipe(try Pipe.adopt(accepted, loop, path: "inherited")) }
                guard let peer else { throw .notConnected }
                onTCP(try TCP.adopt(accepted, loop, peer: peer))
            }, onError: onError)
    }

    /// Removes the socket file of a server that is gone, so that a new server can listen on its path.
    ///
    /// Two servers that start at the same moment may both remove the file; if that can happen, hold a lock file.
    /// - Returns: whether there was a stale socket.
    /// - Throws: `.addressInUse` if a server answers; `.notASocket` if the file is not a socket, and then the file is
    ///   left alone; `.permissionDenied` if the permissions do not let this process find out.
    @discardableResult
    package static func removeStaleSocket(path: String) throws(UVError) -> Bool {
        let address = try UnixAddress(path: path)
        do throws(UVError) {
            let file = try SocketFile(at: path)
            let socket = try Descriptor.socket(family: AF_UNIX)
            guard address.withSockaddr({ connect(socket.number, $0, $1) }) < 0 else { throw .addressInUse }
            switch errno {
            case ECONNREFUSED: try file.remove()
            // There is a server, but its queue of waiting connections is full.
            case EAGAIN: throw .addressInUse
            case let number: throw UVError(errno: number)
            }
            return true
        } catch .noSuchFile {
            return false
        }
    }
}
