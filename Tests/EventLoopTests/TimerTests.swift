import EventLoop
import Testing

@Suite(.timeLimit(.minutes(5))) struct TimerTests {
    @Test func timersRunInTheOrderInWhichTheyAreDue() throws {
        try withLoop { loop in
            let log = Log<Int>()
            for delay: UInt64 in [3, 1, 2, 0, 1] {
                let timer = Timer(loop)
                timer.start(after: delay) {
                    log.add(Int(delay))
                    timer.close()
                }
            }
            loop.run()
            #expect(log.entries == [0, 1, 1, 2, 3])
        }
    }

    @Test func aRepeatingTimerRunsUntilItIsStopped() throws {
        try withLoop { loop in
            var calls = 0
            let timer = Timer(loop)
            timer.start(after: 0, repeating: 1) { [unowned timer] in
                calls += 1
                if calls == 3 { timer.stop() }
            }
            loop.run()
            #expect(calls == 3)
        }
    }

    @Test func aTimerCanBeRestartedFromItsBodyAndReleasesItAfterTheLastCall() throws {
        try withLoop { loop in
            let log = Log<String>()
            let timer = Timer(loop)
            weak var captured: Log<Int>?
            do {
                let object = Log<Int>()
                captured = object
                timer.start(after: 0) {
                    object.add(1)
                    log.add("first")
                    timer.start(after: 0) { log.add("second") }
                }
            }
            #expect(captured != nil)
            loop.run()
            #expect(log.entries == ["first", "second"])
            #expect(captured == nil)
        }
    }

    @Test func anUnreferencedTimerDoesNotKeepTheLoopRunning() throws {
        try withLoop { loop in
            let timer = Timer(loop)
            timer.start(after: 1_000_000) { Issue.record("called") }
            timer.unreference()
            loop.run()
            #expect(!loop.runOnce())
        }
    }
}
