internal import CLibuv
internal import Glibc

/// A connection over a Unix domain socket. Confined to its loop's thread.
package final class Pipe: Stream {
    /// The path of the listening side's socket file.
    package let path: String

    /// The user whose process has connected, according to the system; nil at the connecting side.
    package let peerUser: UInt32?

    package override var peerDescription: String { "unix:" + path }

    private init(_ loop: Loop, path: String, peerUser: UInt32? = nil) {
        self.path = path
        self.peerUser = peerUser
        super.init(loop, UV_NAMED_PIPE) { loop, raw in
            uv_pipe_init(loop, raw.assumingMemoryBound(to: uv_pipe_t.self), 0)
        }
    }

    /// Connects.
    /// - Parameter done: called once, with the connection or the error: `.noSuchFile`, `.connectionRefused` if the
    ///   file's server is dead, `EAGAIN` if too many connections wait for it, `.nameTooLong`.
    /// - Returns: an object that cancels the attempt.
    @discardableResult
    package static func connect(
        _ loop: Loop, path: String, _ done: @escaping (Result<Pipe, UVError>) -> Void
    ) -> Cancellable {
        let pipe = Pipe(loop, path: path)
        let request = ConnectRequest(pipe) { error in
            done(error.map(Result.failure) ?? .success(pipe))
        }
        return request.start { request in
            // libuv would truncate a path that is too long.
            do throws(UVError) { _ = try UnixAddress(path: path) } catch { return error.code }
            uv_pipe_connect(request, pipe.pipe, path) { ConnectRequest.answered($0, $1) }
            return 0
        }
    }

    /// Takes over a connected socket.
    static func adopt(_ descriptor: consuming Descriptor, _ loop: Loop, path: String) throws(UVError) -> Pipe {
        let pipe = Pipe(loop, path: path, peerUser: try peerUser(of: descriptor.number))
        try pipe.check(uv_pipe_open(pipe.pipe, descriptor.number))
        descriptor.release()
        return pipe
    }

    private static func peerUser(of descriptor: Int32) throws(UVError) -> UInt32 {
        // The system's `struct ucred`, which is not imported: process, user, group.
        var peer: [UInt32] = [0, 0, 0]
        var size = socklen_t(peer.count * MemoryLayout<UInt32>.size)
        try UVError.checkCall(getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size))
        return peer[1]
    }

    private var pipe: UnsafeMutablePointer<uv_pipe_t> { raw.assumingMemoryBound(to: uv_pipe_t.self) }
}
