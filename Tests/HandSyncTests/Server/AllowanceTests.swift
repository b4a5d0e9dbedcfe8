import HandCore
import HandSync
import HandWire
import Testing

extension TestWorld {
    /// Returns a server for `ada` and `ben`, with allowances that a test can use up.
    static func ofTwoUsers(_ change: (inout Limits) -> Void) -> TestWorld {
        var limits = Limits()
        limits.userRequests = 10
        limits.tellingDelay = 1_000
        limits.tooFastDeadline = 5_000
        // Nobody is disconnected for silence here.
        limits.idleDeadline = 1_000_000
        change(&limits)
        let world = TestWorld(limits: limits)
        world.tokens = ["ada": .everything, "ben": .everything]
        return world
    }

    /// Lets time pass as a loop does: to one deadline after the other, up to the given time. The store answers if
    /// `settles`.
    func pass(_ milliseconds: UInt64, settles: Bool = true) {
        let end = now + milliseconds
        while machine.deadline <= end {
            now = max(now, machine.deadline)
            timeout()
            if settles { settle() } else { turn() }
        }
        now = end
    }

    /// Returns a client that has made a list and follows it.
    func ownerOfList() -> TestStream {
        let ada = connect(1, token: "ada")
        // After each step, until the budget is full again.
        pass(20_000)
        ada.say(.create(request: 1, name: "list", rules: Rules()))
        pass(20_000)
        ada.subscribe("list", request: 2)
        pass(20_000)
        return ada
    }
}

/// The totals over all connections of one user.
@Suite struct AllowanceTests {
    /// A user who is connected but idle is still known when they connect a second time.
    @Test func aConnectedUserIsNotForgotten() {
        let world = TestWorld.ofTwoUsers { $0.userSubscriptions = 1 }
        let ada = world.ownerOfList()
        world.pass(60_000)
        let again = world.connect(2, token: "ada")
        world.settle()
        again.subscribe("list", request: 1)
        world.settle()
        #expect(again.errors == [.tooManySubscriptions])
        for stream in [ada, again] { stream.end() }
        #expect(world.machine.brokenInvariant() == nil)
    }

    /// Long lists stay in memory while somebody follows them.
    @Test func followedItemsOfOneUserAreLimited() {
        let world = TestWorld.ofTwoUsers { $0.userItems = 4 }
        let ada = world.ownerOfList()
        for request in [7, 8] as [RequestNumber] {
            ada.say(.create(request: request, name: "list\(request)", rules: Rules()))
            world.settle()
            ada.subscribe("list\(request)", request: request)
            world.settle()
            let list = request.rawValue - 5
            for sequence in UInt64(1)...3 {
                ada.submit(
                    SequenceNumber(sequence), base: Int(sequence) - 1, "\(request) \(sequence)", list: ListNumber(list))
                world.settle()
            }
        }
        let (again, ben) = (world.connect(2, token: "ada"), world.connect(3, token: "ben"))
        world.settle()
        for stream in [again, ben] {
            for request in [7, 8] as [RequestNumber] {
                stream.subscribe("list\(request)", request: request)
                world.settle()
            }
            #expect(stream.errors == [.tooManySubscriptions])
            #expect(world.machine.brokenInvariant() == nil)
        }
        // Subscribing again to a followed list does not count twice; a list that was unsubscribed no longer counts.
        again.subscribe("list7", request: 9)
        world.settle()
        again.say(.unsubscribe(list: 2))
        again.subscribe("list8", request: 10)
        world.settle()
        #expect(again.errors.count == 1 && world.machine.brokenInvariant() == nil)
    }

    @Test func listsAndSubscriptionsOfOneUserAreLimited() {
        let world = TestWorld.ofTwoUsers {
            $0.userLists = 3
            $0.userSubscriptions = 2
        }
        let ada = world.connect(1, token: "ada")
        let again = world.connect(2, token: "ada")
        let ben = world.connect(3, token: "ben")
        world.settle()
        for number in 1...4 { ada.say(.create(request: 1, name: "a\(number)", rules: Rules())) }
        world.settle()
        #expect(ada.errors == [.tooManyLists])
        ben.say(.create(request: 1, name: "b", rules: Rules()))
        world.settle()
        #expect(ben.errors.isEmpty)
        ada.say(.delete(request: 2, name: "a1"))
        world.settle()
        ada.say(.create(request: 3, name: "a4", rules: Rules()))
        world.settle()
        #expect(ada.errors.count == 1)
        ada.subscribe("a2", request: 4)
        again.subscribe("a2", request: 4)
        world.settle()
        again.subscribe("a3", request: 5)
        world.settle()
        #expect(again.errors == [.tooManySubscriptions])
        ben.subscribe("a3", request: 5)
        ada.end()
        world.settle()
        again.subscribe("a3", request: 6)
        world.settle()
        #expect(again.errors == [.tooManySubscriptions] && ben.errors.isEmpty)
    }

    /// Most of a large message on each of many connections.
    @Test func unfinishedMessagesOfOneUserAreLimited() {
        let world = TestWorld.ofTwoUsers { $0.userUnfinishedBytes = 5_000 }
        let streams = (1...4).map { world.connect($0, token: "ada") }
        let ben = world.connect(9, token: "ben")
        world.settle()
        for stream in streams + [ben] { stream.send([0xFF, 0x7F] + [UInt8](repeating: 1, count: 2_000)) }
        #expect(streams.map(\.errors) == [[], [], [.tooFast], [.tooFast]])
        #expect(ben.errors.isEmpty && world.machine.brokenInvariant() == nil)
        // Closed connections no longer count.
        for stream in streams[1...] { stream.end() }
        let next = world.connect(5, token: "ada")
        world.settle()
        next.send([0xFF, 0x7F] + [UInt8](repeating: 1, count: 2_500))
        #expect(next.errors.isEmpty && world.machine.brokenInvariant() == nil)
    }

    /// Unread answers on many connections, each with no more than one connection may leave unread.
    @Test func unreadAnswersOfOneUserAreLimited() {
        let world = TestWorld.ofTwoUsers { $0.userAnswerBytes = 500 }
        _ = world.ownerOfList()
        let ben = world.connect(9, token: "ben")
        let streams = (11...14).map { world.connect($0, token: "ada") }
        world.settle()
        for stream in streams + [ben] {
            stream.isWriting = true
            for request in 1...10 { stream.say(.create(request: RequestNumber(request), name: "", rules: Rules())) }
            world.settle()
            #expect(world.machine.brokenInvariant() == nil)
        }
        #expect(streams.map(\.errors.last).contains(.tooFast) == false)
        for stream in streams { stream.drain() }
        ben.drain()
        world.settle()
        let closed = streams.map { $0.errors.last == .tooFast }
        #expect(closed.contains(true) && !closed[0])
        #expect(ben.errors.last != .tooFast && world.machine.brokenInvariant() == nil)
        // Answers that were read, and closed connections, no longer count.
        let next = world.connect(5, token: "ada")
        world.settle()
        next.say(.lists(request: 3, after: ""))
        world.settle()
        #expect(next.errors.isEmpty && next.heard.contains { if case .lists(3, _, _) = $0 { true } else { false } })
    }
}
