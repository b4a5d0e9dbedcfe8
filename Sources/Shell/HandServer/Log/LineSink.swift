import Disk
import EventLoop
import Glibc

/// Writes lines to a file, pipe or terminal on its own thread: a slow reader or a full or hanging disk must not block
/// the callers. Lines that do not fit into the queue are dropped and counted, and the count is written once there is
/// room.
///
/// Safe to send: all mutable state is guarded by the condition's lock. The current descriptor belongs to the thread.
package final class LineSink: @unchecked Sendable {
    private let condition = Condition()
    private var waiting: [String] = []
    private var waitingBytes = 0
    private var lost = 0
    private var isWriting = false
    private var isClosed = false
    /// The descriptor to switch to; queued lines go there.
    private var next: Int32?

    /// Makes the line that reports how many lines were dropped.
    private let tell: @Sendable (Int) -> String
    /// Called with the reason why a line cannot be written. Writing is retried.
    private let trouble: @Sendable (String) -> Void

    package static let maxBytes = 1 << 20

    package init(
        _ descriptor: Int32, tell: @escaping @Sendable (Int) -> String,
        trouble: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.tell = tell
        self.trouble = trouble
        Threads.start("log") { [self] in run(descriptor) }
    }

    /// Queues a line. Never blocks.
    package func write(_ line: String) {
        condition.withLock {
            guard !isClosed else { return }
            if waitingBytes + line.utf8.count > Self.maxBytes {
                lost += 1
            } else {
                if lost > 0 { reportLost() }
                waiting.append(line)
                waitingBytes += line.utf8.count
            }
            condition.broadcast()
        }
    }

    /// Switches to another file, and closes the former one.
    package func move(to descriptor: Int32) {
        condition.withLock {
            if let next { Glibc.close(next) }
            next = descriptor
            condition.broadcast()
        }
    }

    /// Waits until everything is written, or the time is up.
    package func flush(within seconds: Double) {
        let end = ContinuousClock.now + .seconds(seconds)
        condition.withLock {
            while !waiting.isEmpty || lost > 0 || isWriting, condition.wait(until: end) {}
        }
    }

    /// Accepts no more lines. Queued lines are written if possible, then the file is closed.
    package func close() {
        condition.withLock {
            isClosed = true
            condition.broadcast()
        }
    }

    /// Call with the lock held.
    private func reportLost() {
        let line = tell(lost)
        lost = 0
        waiting.append(line)
        waitingBytes += line.utf8.count
    }

    // MARK: The thread

    private func run(_ first: Int32) {
        var descriptor = first
        var isInTrouble = false
        while let line = takeLine(&descriptor) {
            let problem = Self.put(line, descriptor)
            if let problem, !isInTrouble { trouble(problem) }
            isInTrouble = problem != nil
            condition.withLock {
                isWriting = false
                if problem == nil {
                    waitingBytes -= min(waitingBytes, line.utf8.count)
                } else if !isClosed {
                    // Retried before all later lines.
                    waiting.insert(line, at: 0)
                    _ = condition.wait(until: .now + .seconds(1))
                }
                condition.broadcast()
            }
        }
        // Standard streams stay open.
        if descriptor > 2 { Glibc.close(descriptor) }
    }

    /// Returns the next line; nil at the end; an empty line after a switch to another file without lines.
    private func takeLine(_ descriptor: inout Int32) -> String? {
        condition.withLock {
            while waiting.isEmpty, lost == 0, next == nil, !isClosed { condition.wait() }
            if let next = next.take() {
                if descriptor > 2 { Glibc.close(descriptor) }
                descriptor = next
            }
            if waiting.isEmpty, lost > 0 { reportLost() }
            if waiting.isEmpty { return isClosed ? nil : "" }
            isWriting = true
            return waiting.removeFirst()
        }
    }

    /// Writes a line, atomically where possible. Returns the error.
    private static func put(_ line: String, _ descriptor: Int32) -> String? {
        // One call per line, so that lines of several processes do not mix.
        let (count, reason) = WholeWrite.write(Array(line.utf8), to: descriptor)
        guard let reason else { return nil }
        takeBack(count, descriptor)
        return String(cString: strerror(reason))
    }

    /// Removes a partial line from a file, unless another process has appended to it.
    private static func takeBack(_ count: Int, _ descriptor: Int32) {
        var facts = stat()
        guard count > 0, fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { return }
        if lseek(descriptor, 0, SEEK_CUR) == facts.st_size { ftruncate(descriptor, facts.st_size - count) }
    }
}
