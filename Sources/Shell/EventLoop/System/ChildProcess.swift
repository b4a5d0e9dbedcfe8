internal import CLibuv
internal import Glibc

/// A child process that shares this process's standard streams, and so its terminal. Confined to its loop's thread.
package final class ChildProcess: Handle {
    package enum End: Equatable, Sendable {
        case status(Int)
        case signal(Int)
    }

    private var body: ((End) -> Void)?

    /// Starts a program, with the default action for all signals.
    ///
    /// - Parameters:
    ///   - arguments: the path of the program, then its arguments.
    ///   - body: called once, when the program has ended.
    /// - Throws: for example `.noSuchFile` if there is no such program.
    package init(_ loop: Loop, _ arguments: [String], _ body: @escaping (End) -> Void) throws(UVError) {
        self.body = body
        var result: Int32 = 0
        // The handle must be closed even if the process did not start.
        super.init(loop, UV_PROCESS) { loop, raw in
            result = Self.spawn(loop, raw.assumingMemoryBound(to: uv_process_t.self), arguments)
        }
        try check(result)
        // This signal reports the end of the child.
        Signal.unblock(SIGCHLD)
    }

    /// Sends a signal to the process, if it still runs.
    package func kill(_ signal: Int32) {
        if !isClosing { uv_process_kill(raw.assumingMemoryBound(to: uv_process_t.self), signal) }
    }

    private static func spawn(
        _ loop: UnsafeMutablePointer<uv_loop_t>, _ process: UnsafeMutablePointer<uv_process_t>, _ arguments: [String]
    ) -> Int32 {
        var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var streams = (0..<3).map { descriptor in
            var stream = uv_stdio_container_t()
            stream.flags = UV_INHERIT_FD
            stream.data.fd = Int32(descriptor)
            return stream
        }
        return words.withUnsafeMutableBufferPointer { words in
            streams.withUnsafeMutableBufferPointer { streams in
                var options = uv_process_options_t()
                options.exit_cb = { ChildProcess.of($0).didEnd(status: $1, signal: $2) }
                options.file = UnsafePointer(words[0])
                options.args = words.baseAddress
                (options.stdio_count, options.stdio) = (Int32(streams.count), streams.baseAddress)
                return uv_spawn(loop, process, &options)
            }
        }
    }

    private func didEnd(status: Int64, signal: Int32) {
        let body = body
        close()
        body?(signal == 0 ? .status(Int(status)) : .signal(Int(signal)))
    }

    override func willClose() {
        body = nil
    }
}
