import EventLoop
import Glibc
import Testing

@Suite(.timeLimit(.minutes(5))) struct DescriptorTests {
    @Test func aSignalArrives() throws {
        try withLoop { loop in
            var calls = 0
            var signal: Signal?
            signal = try Signal(loop, SIGUSR1) {
                calls += 1
                signal?.close()
                signal = nil
            }
            // Not `raise`: the threads that run tests block all signals.
            kill(getpid(), SIGUSR1)
            #expect(calls == 0)
            loop.run()
            #expect(calls == 1)
        }
    }

    @Test func anUnreferencedSignalDoesNotKeepTheLoopRunning() throws {
        try withLoop { loop in
            try Signal(loop, SIGWINCH) {}.unreference()
            loop.run()
        }
    }

    @Test func someSignalsCannotBeHandled() throws {
        try withLoop { loop in
            #expect(throws: UVError.invalidArgument) { _ = try Signal(loop, SIGKILL) {} }
        }
    }

    @Test func aPipeIsPolled() throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        let (reading, writing) = (ends[0], ends[1])
        defer { close(reading) }
        try withLoop { loop in
            let log = Log<Poll.Events>()
            let poll = try Poll(loop, descriptor: reading)
            poll.start(.readable) { _ in Issue.record("replaced") }
            poll.start([.readable, .disconnected]) { result in
                guard let events = result.orRecord() else { return }
                log.add(events)
                var byte: UInt8 = 0
                if read(reading, &byte, 1) == 0 { poll.close() } else { close(writing) }
            }
            var byte: UInt8 = 1
            write(writing, &byte, 1)
            loop.run()
            #expect(log.entries.first == .readable)
            #expect(log.entries.last?.contains(.disconnected) == true)
        }
    }

    @Test func aStoppedPollIsSilent() throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        let (reading, writing) = (ends[0], ends[1])
        defer {
            close(reading)
            close(writing)
        }
        try withLoop { loop in
            let poll = try Poll(loop, descriptor: writing)
            var calls = 0
            poll.start(.writable) { [unowned poll] _ in
                calls += 1
                poll.stop()
            }
            loop.run()
            #expect(calls == 1)
        }
    }

    @Test func aFileCannotBePolled() throws {
        let file = open("/proc/self/exe", O_RDONLY)
        defer { close(file) }
        try withLoop { loop in
            #expect(throws: UVError.self) { _ = try Poll(loop, descriptor: file) }
            #expect(throws: UVError.badDescriptor) { _ = try Poll(loop, descriptor: 1_000_000) }
        }
    }
}
