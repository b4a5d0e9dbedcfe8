import Foundation
import Glibc

/// Writes lines to a file, pipe or terminal from a thread of its own: who does not read, a full disk and one that hangs must
/// not hold up whoever has something to say. What is too much is left out, counted, and told as soon as there is room again.
///
/// Safe to send: everything that changes is under the condition's lock, but for `descriptor`, which belongs to the thread.
final class LineSink: @unchecked Sendable {
    private let condition = NSCondition()
    private var waiting: [String] = []
    private var waitingBytes = 0
    private var lost = 0
    private var isWriting = false
    private var isClosed = false
    /// Where to go on writing; what is waiting goes there.
    private var next: Int32?

    /// The line that tells how many were left out.
    private let tell: @Sendable (Int) -> String
    /// Hears when a line cannot be written, and why; it is tried again until it can.
    private let trouble: @Sendable (String) -> Void

    /// What may wait.
    static let mostBytes = 1 << 20

    init(
        _ descriptor: Int32, tell: @escaping @Sendable (Int) -> String,
        trouble: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.tell = tell
        self.trouble = trouble
        Thread.detachNewThread { [self] in run(descriptor) }
    }

    /// Has a line written, in its turn. Never waits.
    func write(_ line: String) {
        condition.withLock {
            guard !isClosed else { return }
            if waitingBytes + line.utf8.count > Self.mostBytes {
                lost += 1
            } else {
                if lost > 0 { tellOfLost() }
                waiting.append(line)
                waitingBytes += line.utf8.count
            }
            condition.broadcast()
        }
    }

    /// Has it go on in another file; the former one is closed.
    func goOn(at descriptor: Int32) {
        condition.withLock {
            if let next { Glibc.close(next) }
            next = descriptor
            condition.broadcast()
        }
    }

    /// Waits until everything is written, but no longer than so.
    func flush(within seconds: Double) {
        let end = Date(timeIntervalSinceNow: seconds)
        condition.withLock {
            while !waiting.isEmpty || lost > 0 || isWriting, condition.wait(until: end) {}
        }
    }

    /// No more comes; what is waiting is written if it can be, and the file is closed.
    func close() {
        condition.withLock {
            isClosed = true
            condition.broadcast()
        }
    }

    /// To be called with the lock.
    private func tellOfLost() {
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
                    // It is tried again before anything that came later.
                    waiting.insert(line, at: 0)
                    _ = condition.wait(until: Date(timeIntervalSinceNow: 1))
                }
                condition.broadcast()
            }
        }
        // Standard error is not ours to close.
        if descriptor > 2 { Glibc.close(descriptor) }
    }

    /// The next line; nil when no more will come.
    private func takeLine(_ descriptor: inout Int32) -> String? {
        condition.withLock {
            while waiting.isEmpty, lost == 0, next == nil, !isClosed { condition.wait() }
            if let next {
                if descriptor > 2 { Glibc.close(descriptor) }
                descriptor = next
                self.next = nil
            }
            if waiting.isEmpty, lost > 0 { tellOfLost() }
            if waiting.isEmpty { return isClosed ? nil : "" }
            isWriting = true
            return waiting.removeFirst()
        }
    }

    /// Writes a line, whole or not at all where that can be. Returns what was wrong.
    private static func put(_ line: String, _ descriptor: Int32) -> String? {
        let bytes = Array(line.utf8)
        var done = 0
        while done < bytes.count {
            // One call for a line, so that lines of several processes do not mix.
            let count = bytes.withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress?.advanced(by: done), bytes.count - done)
            }
            if count >= 0 {
                done += count
                continue
            }
            let code = errno
            if code == EINTR { continue }
            if code == EAGAIN {
                var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&ready, 1, -1)
                continue
            }
            takeBack(done, descriptor)
            return String(cString: strerror(code))
        }
        return nil
    }

    /// Takes the beginning of a line out of a file again, unless another process has written behind it.
    private static func takeBack(_ count: Int, _ descriptor: Int32) {
        var facts = stat()
        guard count > 0, fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { return }
        if lseek(descriptor, 0, SEEK_CUR) == facts.st_size { ftruncate(descriptor, facts.st_size - count) }
    }
}
