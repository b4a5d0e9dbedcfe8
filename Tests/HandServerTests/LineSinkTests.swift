import Foundation
import Glibc
import HandServer
import HandTestSupport
import Synchronization
import Testing

/// A log's file is moved away, is full, and has room again, more than once: no line is lost or doubled, and nothing is
/// left open.
@Suite struct LineSinkTests {
    private let folder: TemporaryFolder
    private let reasons = Told()

    private final class Told: Sendable {
        private let all = Mutex<[String]>([])
        func add(_ text: String) { all.withLock { $0.append(text) } }
        var texts: [String] { all.withLock { $0 } }
    }

    init() throws { folder = try TemporaryFolder() }

    private func file(_ name: String) throws -> Int32 {
        let descriptor = open(folder.path + "/" + name, O_WRONLY | O_APPEND | O_CREAT, 0o600)
        try #require(descriptor > 2)
        return descriptor
    }

    private func full() throws -> Int32 {
        let descriptor = open("/dev/full", O_WRONLY)
        try #require(descriptor > 2)
        return descriptor
    }

    private func lines(_ name: String) throws -> [Substring] {
        try String(contentsOfFile: folder.path + "/" + name, encoding: .utf8).split(separator: "\n")
    }

    private func sink(_ descriptor: Int32) -> LineSink {
        LineSink(descriptor, tell: { "lost \($0)\n" }, trouble: { [reasons] in reasons.add($0) })
    }

    /// Whether a descriptor still stands for the file of that name. Its number may be another file's by now, as other
    /// tests run beside this one.
    private func isOpen(_ descriptor: Int32, _ name: String) -> Bool {
        var (mine, named) = (stat(), stat())
        guard fstat(descriptor, &mine) == 0, stat(folder.path + "/" + name, &named) == 0 else { return false }
        return mine.st_dev == named.st_dev && mine.st_ino == named.st_ino
    }

    /// Whether a condition becomes true within a minute.
    private func waits(for condition: () -> Bool) -> Bool {
        let end = ContinuousClock.now + .seconds(60)
        while !condition(), ContinuousClock.now < end { usleep(1_000) }
        return condition()
    }

    @Test func aLogIsMovedAwayTwice() throws {
        var descriptors = [try file("0")]
        let sink = sink(descriptors[0])
        for number in 0..<4 {
            sink.write("line \(number)\n")
            sink.flush(within: 60)
            descriptors.append(try file("\(number + 1)"))
            sink.move(to: descriptors[number + 1])
            sink.write("after \(number)\n")
            sink.flush(within: 60)
            #expect(!isOpen(descriptors[number], "\(number)"), "the former file is closed")
        }
        sink.close()
        #expect(try lines("0") == ["line 0"] && lines("1") == ["after 0", "line 1"])
        #expect(try lines("3") == ["after 2", "line 3"] && lines("4") == ["after 3"])
        #expect(reasons.texts.isEmpty)
    }

    /// Two descriptors in a row: the first is not leaked, though nothing was written to it.
    @Test func aFileThatIsReplacedAtOnceIsClosed() throws {
        let sink = sink(try full())
        sink.write("line\n")
        #expect(waits { !reasons.texts.isEmpty })
        let skipped = try file("skipped")
        sink.move(to: skipped)
        sink.move(to: try file("last"))
        sink.flush(within: 60)
        sink.close()
        let all = try [lines("skipped"), lines("last")]
        #expect(all == [[], ["line"]] || all == [["line"], []])
        #expect(waits { !isOpen(skipped, "skipped") })
    }

    /// Each outage is told once, and its lines are written after it, in order.
    @Test(.timeLimit(.minutes(5))) func aFullDiskIsToldEachTime() throws {
        let sink = sink(try file("log"))
        for outage in 1...3 {
            sink.write("before \(outage)\n")
            sink.flush(within: 60)
            sink.move(to: try full())
            for number in 0..<3 { sink.write("\(outage).\(number)\n") }
            #expect(waits { reasons.texts.count == outage })
            sink.move(to: try file("log"))
            sink.flush(within: 60)
        }
        sink.close()
        #expect(reasons.texts == Array(repeating: "No space left on device", count: 3))
        #expect(
            try lines("log") == (1...3).flatMap { ["before \($0)", "\($0).0", "\($0).1", "\($0).2"].map { $0[...] } })
    }

    /// The queue's room is free again once its lines are written, however much was written before.
    @Test func muchMoreThanTheQueueIsWritten() throws {
        let sink = sink(try file("log"))
        let line = String(repeating: "x", count: 65_535) + "\n"
        let count = 4 * LineSink.maxBytes / line.utf8.count
        for round in 1...count {
            for _ in 0..<2 { sink.write(line) }
            sink.flush(within: 60)
            let size = try FileManager.default.attributesOfItem(atPath: folder.path + "/log")[.size] as? Int
            #expect(size == 2 * round * line.utf8.count, "all that was queued is written")
        }
        sink.close()
        #expect(try lines("log").map(\.utf8.count) == Array(repeating: 65_535, count: 2 * count))
    }

    /// What is queued is written, though the log is closed at once; what comes later is not.
    @Test func aClosedLogIsWrittenToItsEnd() throws {
        let descriptor = try file("log")
        let sink = sink(descriptor)
        for number in 0..<1_000 { sink.write("\(number)\n") }
        sink.close()
        sink.write("later\n")
        #expect(waits { !isOpen(descriptor, "log") })
        #expect(try lines("log") == (0..<1_000).map { "\($0)" })
    }

    private final class Progress: Sendable {
        let read = Atomic(0)
        let isFlushing = Atomic(false)
        /// How much had been read when flushing was over; -1 before.
        let whenFlushed = Atomic(-1)
    }

    /// Flushing waits for the line that is being written, also if it is the last one.
    @Test func flushingWaitsForTheLastLine() throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        defer { close(ends[0]) }
        let sink = sink(ends[1])
        let length = 1_000_000
        sink.write(String(repeating: "x", count: length))
        // Once the pipe is full, the line is no longer in the queue.
        var room = pollfd(fd: ends[1], events: Int16(POLLOUT), revents: 0)
        #expect(waits { poll(&room, 1, 0) == 0 })
        let progress = Progress()
        Thread.detachNewThread {
            progress.isFlushing.store(true, ordering: .relaxed)
            sink.flush(within: 60)
            progress.whenFlushed.store(progress.read.load(ordering: .relaxed), ordering: .relaxed)
        }
        #expect(waits { progress.isFlushing.load(ordering: .relaxed) })
        var part = [UInt8](repeating: 0, count: 10_000)
        while progress.read.load(ordering: .relaxed) < length {
            let count = read(ends[0], &part, part.count)
            try #require(count > 0)
            progress.read.add(count, ordering: .relaxed)
        }
        #expect(waits { progress.whenFlushed.load(ordering: .relaxed) >= 0 })
        // The pipe holds the rest.
        #expect(progress.whenFlushed.load(ordering: .relaxed) > length / 2)
        sink.close()
    }

    /// What did not fit is counted, each time.
    @Test(.timeLimit(.minutes(5))) func lostLinesAreToldEachTime() throws {
        let sink = sink(try full())
        let line = String(repeating: "x", count: 65_535) + "\n"
        let room = LineSink.maxBytes / line.utf8.count
        for round in 1...2 {
            for _ in 0..<room + 3 { sink.write(line) }
            sink.move(to: try file("\(round)"))
            sink.flush(within: 60)
            let written = try lines("\(round)")
            #expect(written.count == room + 1 && written.last == "lost 3", "\(written.count)")
            let before = reasons.texts.count
            sink.move(to: try full())
            sink.write("next\n")
            #expect(waits { reasons.texts.count > before })
            sink.move(to: try file("between"))
            sink.flush(within: 60)
            sink.move(to: try full())
        }
        sink.close()
    }
}
