import EventLoop
import Glibc
import Testing

@Suite(.timeLimit(.minutes(5))) struct LoopTests {
    @Test func stopEndsTheRunWithWorkLeft() throws {
        try withLoop { loop in
            let late = Timer(loop)
            late.start(after: 1_000_000) { Issue.record("called") }
            let timer = Timer(loop)
            timer.start(after: 0) { loop.stop() }
            loop.run()
            #expect(!late.isClosing)
        }
    }

    @Test func theTurnHookRunsOnceAfterAllIO() throws {
        try withLoop { loop in
            let log = Log<String>()
            let first = try Mailbox<Int>(loop) { log.add("first \($0)") }
            let second = try Mailbox<Int>(loop) { log.add("second \($0)") }
            loop.onTurnEnd { log.add("end") }
            first.post(1)
            second.post(2)
            loop.runOnce()
            #expect(Set(log.entries[1...2]) == ["first [1]", "second [2]"])
            #expect(log.entries.count == 4 && log.entries[0] == "end" && log.entries[3] == "end")
        }
    }

    @Test func theTurnHookRunsBeforeTheLoopWaitsAndAfterIO() throws {
        try withLoop { loop in
            let log = Log<String>()
            let mailbox = try Mailbox<Int>(loop) { _ in log.add("received") }
            let hook = loop.onTurnEnd { log.add("end") }
            let timer = Timer(loop)
            timer.start(after: 0) {
                log.add("timer")
                mailbox.post(1)
            }
            loop.runOnce()
            #expect(log.entries == ["timer", "end", "received", "end"])
            hook.cancel()
            hook.cancel()
            mailbox.post(2)
            loop.runOnce()
            #expect(log.entries.suffix(2) == ["end", "received"])
        }
    }

    @Test func aHookCanCancelItself() throws {
        try withLoop { loop in
            var calls = 0
            var hook: TurnHook?
            hook = loop.onTurnEnd {
                calls += 1
                hook?.cancel()
                hook = nil
            }
            let timer = Timer(loop)
            timer.start(after: 0, repeating: 1) {
                if calls > 0 { timer.close() }
            }
            loop.run()
            #expect(calls == 1)
        }
    }

    @Test func closingTheLoopFreesOpenHandles() throws {
        weak var timer: Timer?
        weak var stream: TCP?
        weak var listener: Listener?
        weak var signal: Signal?
        weak var mailbox: Mailbox<Int>?
        weak var hooked: Log<Int>?
        weak var closed: Loop?
        let answers = Log<UVError?>()
        do {
            let loop = try Loop()
            closed = loop
            let open = Timer(loop)
            open.start(after: 1_000_000) { open.stop() }
            timer = open
            let listening = try Listener.tcp(loop, address: .loopback()) { _ in }
            listener = listening
            let handling = try Signal(loop, SIGUSR2) {}
            signal = handling
            let receiving = try Mailbox<Int>(loop) { _ in }
            mailbox = receiving
            let turns = Log<Int>()
            hooked = turns
            loop.onTurnEnd { turns.add(1) }
            try withPair(loop) { client, server in
                stream = server
                // More than the sockets can hold, so that neither this nor anything after it can be done.
                #expect(server.write([OutputBuffer(pattern(20_000_000))]) == .draining)
                server.shutdown { answers.add($0) }
                server.open { _ in
                    server.stopReading()
                } onEnd: { _ in
                    Issue.record("called")
                }
                loop.stop()
            }
            loop.run()
            #expect(timer != nil && stream != nil && listener != nil && signal != nil && mailbox != nil)
            #expect(hooked?.entries.isEmpty == false)
            let address = try #require(listening.localAddress)
            TCP.connect(loop, to: address) { #expect(throws: UVError.canceled, performing: $0.get) }
            Work.submit(loop) {
                7
            } then: {
                #expect($0 == 7)
            }
            loop.close()
            loop.close()
            open.start(after: 0) { Issue.record("called") }
            open.close { answers.add(nil) }
        }
        #expect(answers.entries == [.canceled, nil])
        #expect(timer == nil && stream == nil && listener == nil && signal == nil && mailbox == nil)
        #expect(hooked == nil && closed == nil)
    }

    @Test func everyCloseIsAnswered() throws {
        try withLoop { loop in
            let log = Log<Int>()
            let timer = Timer(loop)
            timer.close { log.add(1) }
            timer.close { log.add(2) }
            #expect(timer.isClosing && log.entries.isEmpty)
            loop.run()
            timer.close { log.add(3) }
            #expect(log.entries == [1, 2, 3])
        }
    }

    @Test func aLoopThatIsDroppedWithoutOpenHandlesIsFreed() throws {
        weak var dropped: Loop?
        do {
            let loop = try Loop()
            dropped = loop
            let timer = Timer(loop)
            timer.close()
            loop.run()
        }
        #expect(dropped == nil)
    }

    @Test func handlesAreDroppedWithoutBeingClosed() throws {
        try withLoop { loop in
            var calls = 0
            Timer(loop).start(after: 0) { calls += 1 }
            _ = Timer(loop)
            loop.run()
            #expect(calls == 1)
        }
    }

    @Test func timeDoesNotGoBack() throws {
        try withLoop { loop in
            let before = (loop.now, Loop.monotonicNanoseconds)
            Timer(loop).start(after: 1) {}
            loop.run()
            #expect(loop.now > before.0)
            #expect(Loop.monotonicNanoseconds > before.1)
        }
    }

    @Test func errorsHaveNames() {
        #expect(UVError.connectionRefused.name == "ECONNREFUSED")
        #expect(UVError.connectionRefused.description == "connection refused")
        #expect(UVError(code: -99_999).name == "Unknown system error -99999")
    }
}
