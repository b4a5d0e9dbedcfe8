import EventLoop
import Glibc
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5))) struct ThreadTests {
    @Test func aMailboxAcceptsFromManyThreadsAndKeepsTheOrderOfEach() throws {
        try withLoop { loop in
            let writers = 8
            let each = 5000
            var next = Array(repeating: 0, count: writers)
            var mailbox: Mailbox<(writer: Int, number: Int)>?
            mailbox = try Mailbox(loop) { batch in
                #expect(!batch.isEmpty)
                for message in batch {
                    if message.number != next[message.writer] { Issue.record("\(message)") }
                    next[message.writer] += 1
                }
                if next.allSatisfy({ $0 == each }) { mailbox?.close() }
            }
            let sending = try #require(mailbox)
            for writer in 0..<writers {
                Work.submit(loop) {
                    for number in 0..<each { sending.post((writer, number)) }
                } then: {
                }
            }
            loop.run()
            #expect(next == Array(repeating: each, count: writers))
        }
    }

    /// Each batch wakes the loop, however small it is.
    @Test func oneMessageWakesTheLoop() throws {
        try withLoop { loop in
            var received: [Int] = []
            let timeout = Timer(loop)
            var mailbox: Mailbox<Int>?
            func end() {
                mailbox?.close()
                timeout.close()
            }
            mailbox = try Mailbox(loop) { batch in
                received += batch
                if received.count < 3 { mailbox?.post(received.count) } else { end() }
            }
            timeout.start(after: 60_000) { end() }
            let sending = try #require(mailbox)
            Work.submit(loop) {
                sending.post(0)
            } then: {
            }
            loop.run()
            #expect(received == [0, 1, 2])
        }
    }

    @Test func aClosedMailboxAcceptsNothing() throws {
        try withLoop { loop in
            let mailbox = try Mailbox<Int>(loop) { _ in Issue.record("delivered") }
            #expect(mailbox.post(1))
            mailbox.close()
            #expect(!mailbox.post(2))
            loop.run()
            mailbox.close()
            #expect(!mailbox.post(3))
        }
    }

    @Test func aMailboxCanBeClosedFromAnotherThread() throws {
        try withLoop { loop in
            let mailbox = try Mailbox<Int>(loop) { _ in }
            Work.submit(loop) {
                mailbox.close()
            } then: {
            }
            loop.run()
            #expect(!mailbox.post(1))
        }
    }

    @Test func aMailboxOutlivesItsLoop() throws {
        let loop = try Loop()
        let mailbox = try Mailbox<Int>(loop) { _ in }
        loop.close()
        #expect(!mailbox.post(1))
        mailbox.close()
    }

    @Test func aMailboxThatDoesNotKeepTheLoopAliveStillDelivers() throws {
        try withLoop { loop in
            var received: [Int] = []
            let mailbox = try Mailbox<Int>(loop, keepsLoopAlive: false) { received += $0 }
            loop.run()
            mailbox.post(1)
            mailbox.post(2)
            let timer = Timer(loop)
            timer.start(after: 0, repeating: 1) {
                if !received.isEmpty { timer.close() }
            }
            loop.run()
            #expect(received == [1, 2])
        }
    }

    @Test func aMessageMayPostWhenItIsDropped() throws {
        final class Poster: Sendable {
            let mailbox = Mutex<Mailbox<Poster>?>(nil)
            deinit { mailbox.withLock { _ = $0?.post(Poster()) } }
        }
        try withLoop { loop in
            let mailbox = try Mailbox<Poster>(loop) { _ in }
            let poster = Poster()
            poster.mailbox.withLock { $0 = mailbox }
            mailbox.post(poster)
            mailbox.close()
        }
    }

    @Test func workRunsOnAnotherThreadAndIsAnsweredOnTheLoop() throws {
        try withLoop { loop in
            let results = Log<Int>()
            let own = pthread_self()
            for number in 1...20 {
                Work.submit(loop) {
                    (number, thread: pthread_self())
                } then: { result in
                    #expect(result.thread != own && pthread_self() == own)
                    results.add(result.0)
                }
            }
            #expect(results.entries.isEmpty)
            loop.run()
            #expect(results.entries.sorted() == Array(1...20))
        }
    }

    @Test func workReleasesWhatItCaptured() throws {
        final class Thing: Sendable {}
        try withLoop { loop in
            weak var thing: Thing?
            do {
                let captured = Thing()
                thing = captured
                Work.submit(loop) {
                    captured
                } then: {
                    #expect($0 === captured)
                }
            }
            loop.run()
            #expect(thing == nil)
        }
    }

    /// Its result is there when `then` is called, and `then` may start it again.
    @Test func repeatedWorkRunsOnceForEachStart() throws {
        try withLoop { loop in
            let runs = Atomic<Int>(0)
            var seen: [Int] = []
            var work: RepeatedWork?
            work = RepeatedWork(loop) {
                runs.add(1, ordering: .relaxed)
            } then: {
                seen.append(runs.load(ordering: .relaxed))
                if seen.count < 100 { work?.start() }
            }
            work?.start()
            loop.run()
            #expect(seen == Array(1...100))
            work = nil
        }
    }
}
