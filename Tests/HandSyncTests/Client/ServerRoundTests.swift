import HandSync
import Testing

/// The order in which several servers are tried.
@Suite struct ServerRoundTests {
    typealias Target = ClientMachine.Target

    private static func round(_ names: String..., list: String? = nil) -> ServerRound {
        ServerRound(names, list: list, maxTimeout: 10_000)
    }

    /// Returns the targets that are tried until there is a wait if nobody can be reached, and the wait.
    private func failures(
        _ round: inout ServerRound, addresses: [Int] = [1, 1, 1], _ reason: String = "refused"
    ) -> ([String], ServerRound.Step) {
        var tried: [String] = []
        while true {
            if round.target.address == nil { round.found(addresses: addresses[round.target.host]) }
            tried.append("\(round.target.host).\(round.target.address ?? -1)")
            let step = round.failed(reason)
            if step != .tryNext { return (tried, step) }
        }
    }

    /// It must never change, or clients of different versions would choose different servers.
    @Test func theHomeOfAListIsTheSameForEverybody() {
        let names = ["", "a", "groceries", "Einkäufe", "foobar", "list-1", "list-2"]
        #expect(names.map { ServerRound.home(of: $0, among: 3) } == [2, 1, 1, 0, 1, 1, 1])
        #expect(names.map { ServerRound.home(of: $0, among: 16) } == [1, 0, 5, 10, 9, 14, 3])
        #expect(names.allSatisfy { ServerRound.home(of: $0, among: 1) == 0 })
        for hosts in [2, 3, 16] {
            var counts = Array(repeating: 0, count: hosts)
            for number in 0..<1_000 * hosts { counts[ServerRound.home(of: "list \(number)", among: hosts)] += 1 }
            #expect(counts.allSatisfy { (800...1_200).contains($0) }, "\(counts)")
        }
    }

    /// A single server is tried and then waited for, and gets all the time that the system allows.
    @Test func aSingleServerGetsAllTheTime() {
        for names in [[], ["a:1"]] {
            var round = ServerRound(names, list: "groceries", maxTimeout: 10_000)
            #expect(round.target == Target(host: 0, address: nil, timeout: nil))
            #expect(round.failed("unknown host") == .wait(notBefore: 0, reason: "unknown host"))
            round.found(addresses: 1)
            #expect(round.target == Target(host: 0, address: 0, timeout: nil) && round.answerTimeout == nil)
            #expect(round.name == nil)
            round.succeeded()
            let end = round.failed("lost", notBefore: 200, lasted: 100_000)
            #expect(end == .wait(notBefore: 200, reason: "lost"))
            #expect(round.target == Target(host: 0, address: nil, timeout: nil), "it is looked up again")
        }
    }

    /// Each is tried once; then there is a wait, and everything starts again, from the home server on.
    @Test func allServersAreTriedBeforeAWait() throws {
        var round = Self.round("a:1", "b:1", "c:1")
        #expect(round.target == Target(host: 0, address: nil, timeout: 1_000) && round.name == "a:1")
        for _ in 0..<2 {
            let (tried, step) = failures(&round)
            #expect(tried == ["0.0", "1.0", "2.0"])
            #expect(step == .wait(notBefore: 0, reason: "a:1, b:1, c:1: refused"))
        }
        let list = try #require((0..<100).map { "list \($0)" }.first { ServerRound.home(of: $0, among: 3) == 2 })
        round = ServerRound(["a:1", "b:1", "c:1"], list: list, maxTimeout: 10_000)
        #expect(round.name == "c:1")
        let (tried, step) = failures(&round)
        #expect(tried == ["2.0", "0.0", "1.0"])
        #expect(step == .wait(notBefore: 0, reason: "a:1, b:1, c:1: refused"))
        #expect(round.name == "c:1")
    }

    /// A name may have several addresses.
    @Test func allAddressesAreTried() {
        var round = Self.round("a:1", "b:1", "c:1")
        let (tried, _) = failures(&round, addresses: [1, 3, 2])
        #expect(tried == ["0.0", "1.0", "1.1", "1.2", "2.0", "2.1"])
        var one = Self.round("a:1")
        #expect(failures(&one, addresses: [2]).0 == ["0.0", "0.1"])
        // While there are others to try, each has one second.
        #expect(one.target.timeout == nil)
        one.found(addresses: 2)
        #expect(one.target == Target(host: 0, address: 0, timeout: 1_000))
        #expect(one.failed("refused") == .tryNext)
        #expect(one.failed("reset") == .wait(notBefore: 0, reason: "refused; reset"))
    }

    @Test func eachReasonIsReportedOnce() {
        var round = Self.round("a:1", "b:1", "c:1")
        for (reason, expected) in [("x", .tryNext), ("y", .tryNext), ("x", nil)] as [(String, ServerRound.Step?)] {
            #expect(round.failed(reason) == expected ?? .wait(notBefore: 0, reason: "a:1, c:1: x; b:1: y"))
        }
    }

    /// After a connection that lasted long, a new round starts: all others are tried before there is a wait.
    @Test func aLongConnectionStartsANewRound() {
        var round = Self.round("a:1", "b:1", "c:1")
        #expect(round.failed("refused") == .tryNext)
        round.found(addresses: 3)
        #expect(round.failed("refused") == .tryNext)
        #expect(round.target.address == 1)
        round.succeeded()
        #expect(round.failed("lost", lasted: 1_000) == .tryNext)
        #expect(round.target == Target(host: 1, address: 2, timeout: 1_000))
        #expect(round.failed("refused") == .tryNext)
        #expect(round.target == Target(host: 1, address: 0, timeout: 1_000), "the address is still valid")
        #expect(round.failed("refused") == .tryNext)
        let (tried, step) = failures(&round)
        #expect(tried == ["2.0", "0.0"])
        #expect(step == .wait(notBefore: 0, reason: "b:1: lost; a:1, b:1, c:1: refused"))
    }

    /// Servers that admit a client and soon disconnect it are also tried once each.
    @Test func aShortConnectionIsNoSuccess() {
        var round = Self.round("a:1", "b:1")
        round.found(addresses: 1)
        round.succeeded()
        #expect(round.failed("sent away", notBefore: 300, lasted: 999) == .tryNext)
        round.found(addresses: 1)
        round.succeeded()
        #expect(round.failed("sent away", notBefore: 200, lasted: 0) == .wait(notBefore: 200, reason: "b:1: sent away"))
    }

    /// The server that asks for the longest wait decides.
    @Test func theLongestRequestedWaitDecides() {
        var round = Self.round("a:1", "b:1", "c:1")
        #expect(round.failed("full", notBefore: 5_000) == .tryNext)
        #expect(round.failed("drains", notBefore: 200) == .tryNext)
        #expect(round.failed("refused") == .wait(notBefore: 5_000, reason: "a:1: full; b:1: drains; c:1: refused"))
        #expect(failures(&round).1 == .wait(notBefore: 0, reason: "a:1, b:1, c:1: refused"))
    }

    /// If a server did not answer in the short time that it had, the next round gives it twice as long, and starts at
    /// once.
    @Test func aSlowServerGetsMoreTimeInTheNextRound() {
        var round = Self.round("a:1", "b:1")
        for timeout in [1_000, 2_000, 4_000, 8_000] as [UInt64] {
            #expect(round.answerTimeout == timeout && round.name == "a:1")
            #expect(round.failed("refused") == .tryNext)
            #expect(round.answerTimeout == timeout && round.name == "b:1")
            #expect(round.failed("no answer", isHasty: true) == .tryNext)
        }
        #expect(round.answerTimeout == 10_000)
        #expect(round.failed("refused") == .tryNext)
        let end = round.failed("no answer", isHasty: true)
        #expect(end == .wait(notBefore: 0, reason: "a:1: refused; b:1: no answer"))
        #expect(round.answerTimeout == 1_000, "after a wait, the timeout is reset")
        #expect(round.failed("no answer", isHasty: true) == .tryNext)
        #expect(round.failed("full", notBefore: 700) == .wait(notBefore: 700, reason: "a:1: no answer; b:1: full"))
        #expect(round.answerTimeout == 2_000)
        round.found(addresses: 1)
        round.succeeded()
        #expect(round.answerTimeout == 1_000)
    }

    /// No server gets more time than a single server would.
    @Test func timeoutsAreBounded() {
        var round = ServerRound(["a:1", "b:1"], list: nil, maxTimeout: 2_000)
        for step in [.tryNext, .tryNext, .tryNext, nil] as [ServerRound.Step?] {
            let expected = step ?? .wait(notBefore: 0, reason: "a:1, b:1: no answer")
            #expect(round.failed("no answer", isHasty: true) == expected)
        }
    }

    /// A client that is told to connect begins at the home server.
    @Test func aRestartBeginsAtTheHomeServer() {
        var round = Self.round("a:1", "b:1")
        #expect(round.failed("refused", notBefore: 50, isHasty: true) == .tryNext)
        round.begin()
        #expect(round.name == "a:1")
        let (tried, step) = failures(&round, "gone")
        #expect(tried == ["0.0", "1.0"] && step == .wait(notBefore: 0, reason: "a:1, b:1: gone"))
    }
}
