import HandCore
import HandSimulation
import HandSync
import HandWire
import Testing

/// An awkward server keeps to the protocol, and does everything in its repertoire.
@Suite struct AwkwardTests {
    @Test func clientsConvergeAndMeetEverything() throws {
        var met: [String: Int] = [:]
        var exercised: Set<Requirement> = []
        for seed in UInt64(1)...40 {
            let play = AwkwardPlay(seed: seed)
            play.run(edits: 12)
            let trace = play.problem == nil ? [] : play.trace.suffix(60)
            #expect(play.problem == nil, "seed \(seed): \(trace.joined(separator: "\n"))")
            let verdict = play.awkwardness.judge.verdict
            #expect(verdict.isGood, "seed \(seed): \(verdict.lines.joined(separator: "\n"))")
            exercised.formUnion(verdict.exercised)
            for (name, count) in play.met { met[name, default: 0] += count }
        }
        let all = [
            "stale", "rejected", "lag snapshot", "resumed", "resumed by snapshot", "acknowledged before its commit",
            "cut",
            "replaced", "tooManyConnections", "shuttingDown", "internalError", "idleTimeout", "slowedDown", "presence",
            "others’ commits", "half a frame", "several frames",
        ]
        for name in all { #expect(met[name, default: 0] > 2, "\(name): \(met)") }
        // There is one list, its name has one form, and there is one program, with the items and without the history.
        let rest: Set<Requirement> = [
            .rightList, .composedNames, .ownID, .historyStart, .keptSequence, .offeredVersion, .stopsOnUnknown,
            .leavesSharedID,
        ]
        #expect(Set(Requirement.allCases.filter { $0.proof == nil }).subtracting(exercised) == rest)
    }

    /// Each broken client is found out by at least one of a few seeds, for the requirement that it breaks.
    @Test(arguments: BrokenClient.Fault.allCases)
    func aBrokenClientIsNoticed(_ fault: BrokenClient.Fault) {
        for seed in UInt64(1)...40 {
            let play = AwkwardPlay(seed: seed, BrokenClient(fault), provoking: fault.provocation)
            play.run(edits: 12)
            let verdict = play.awkwardness.judge.verdict
            guard let finding = verdict.findings.first(where: { $0.requirement == fault.breaks }) else { continue }
            #expect(!finding.frames.isEmpty && !verdict.isGood)
            return
        }
        Issue.record("nobody noticed")
    }

    /// A correct client stops after what each provocation does, and breaks nothing.
    @Test(arguments: Provocation.allCases)
    func aProvokedClientStops(_ provocation: Provocation) {
        for seed in UInt64(1)...4 {
            let play = AwkwardPlay(seed: seed, provoking: provocation)
            play.run(edits: 1)
            let verdict = play.awkwardness.judge.verdict
            #expect(verdict.isGood, "seed \(seed): \(verdict.lines.joined(separator: "\n"))")
            let requirement: Requirement =
                switch provocation {
                case .unknown: .stopsOnUnknown
                case .version: .offeredVersion
                case .replaced: .leavesSharedID
                }
            #expect(verdict.exercised.contains(requirement), "seed \(seed)")
        }
    }

    // MARK: Programs that share an id, or start again

    private func served() -> (TestWorld, Awkwardness) {
        let world = TestWorld(limits: Awkwardness.limits(Limits()))
        let maker = world.connect(99)
        world.settle()
        maker.say(.create(request: 1, name: "list", rules: Awkwardness.rules))
        world.settle()
        maker.end()
        return (world, Awkwardness(seed: 1))
    }

    /// A program has left its first connection before it uses a second one; of two programs, both use theirs.
    @Test(arguments: [false, true])
    func twoProgramsWithOneIDAreNoticed(_ isOne: Bool) {
        let (world, awkwardness) = served()
        let client = ClientID(high: 1, low: 2)
        let (first, second) = (
            JudgedProgram(world, awkwardness, client), JudgedProgram(world, awkwardness, client)
        )
        first.connect()
        world.settle()
        _ = first.hear()
        second.connect()
        world.settle()
        _ = second.hear()
        // What the first has sent just before may be late.
        first.say(.ping(1))
        world.now += 1_000
        if isOne { first.leave() } else { first.say(.ping(2)) }
        world.now += 10
        second.say(.ping(3))
        #expect(awkwardness.judge.verdict.isBroken(.ownID) == !isOne)
    }

    /// A program that edits without the items keeps its last sequence, also of an edit that the server never got; it
    /// may send that edit again.
    @Test(arguments: [false, true])
    func aForgottenSequenceIsNoticed(_ isKept: Bool) {
        let (world, awkwardness) = served()
        let program = JudgedProgram(world, awkwardness, ClientID(high: 1, low: 2))
        var used: SequenceNumber = 0
        for (run, isLost) in [(0, false), (1, true), (1, true), (2, false)] {
            program.connect()
            program.say(.subscribe(.init(request: 1, name: "list", logID: 0, revision: 0, wantsItems: false)))
            world.settle()
            for case .subscribed(let subscribed) in program.hear() {
                let isAgain = run == 1 && used > 1
                let sequence =
                    isAgain ? used : isKept ? max(used, subscribed.lastSequence).next : subscribed.lastSequence.next
                used = max(used, sequence)
                let item = Item(id: ItemID(rawValue: UInt64(run + 1) << 40), content: .note("x"))
                let delta = Delta.inserting([item], at: 0, .after)
                program.say(.submit(Submission(list: 1, base: 0, sequence: sequence, delta: delta)), isLost: isLost)
            }
            world.settle()
            _ = program.hear()
            program.leave()
        }
        let verdict = awkwardness.judge.verdict
        #expect(verdict.isBroken(.keptSequence) == !isKept && verdict.exercised.contains(.keptSequence))
        #expect(verdict.findings.count == (isKept ? 0 : 1), "\(verdict.lines)")
    }

    // MARK: Time

    /// A judge, and the number of a connection that the server has just welcomed.
    private func welcomed(_ judge: Judge = Judge(), now: UInt64 = 0) -> (Judge, Int) {
        var judge = judge
        let id = judge.connected(now: now)
        let hello = UpMessage.hello(.init(client: ClientID(high: 1, low: 2), person: "Ann", program: "test"))
        hello.frame.withUnsafeBytes { judge.received($0, on: id, now: now) }
        let welcome = DownMessage.welcome(
            .init(version: 5, author: 1, idleDeadline: 3_000, frameBytes: 1 << 20, program: "test"))
        welcome.frame.withUnsafeBytes { judge.sent($0, on: id, now: now) }
        return (judge, id)
    }

    /// Tells a judge of a client that pings after each of these silences.
    private func judged(_ silences: [UInt64], stood: UInt64 = 0) -> Verdict {
        var (judge, id) = welcomed()
        var now: UInt64 = 0
        for silence in silences {
            now += silence
            judge.stood(for: stood, now: now)
            UpMessage.ping(1).frame.withUnsafeBytes { judge.received($0, on: id, now: now) }
        }
        return judge.verdict
    }

    /// Whether a client is accused that closes its connection this long after it got an item of an unknown kind, and
    /// does so again.
    private func accuses(after pause: UInt64, stood: UInt64 = 0) -> Bool {
        var (judge, now) = (Judge(), UInt64(0))
        let subscribe = UpMessage.subscribe(.init(request: 1, name: "list", logID: 1 << 40, revision: 1))
        let subscribed = DownMessage.subscribed(
            .init(
                request: 1, list: 1, logID: 1 << 40, rules: Awkwardness.rules, lastSequence: 0,
                start: .resumed(head: 2, digest: 0)))
        let item = Item(id: ItemID(rawValue: 1), content: .unknown(Content.Kind(rawValue: 77), [1]))
        let delta = Delta.inserting([item], at: 0, .after)
        let commit = DownMessage.commit(
            list: 1, Commit(revision: 2, author: 9, sequence: 1, base: 1, time: 0, count: 1, digest: 0, delta: delta))
        for _ in 0..<3 {
            let id: Int
            (judge, id) = welcomed(judge, now: now)
            subscribe.frame.withUnsafeBytes { judge.received($0, on: id, now: now) }
            for message in [subscribed, commit] { message.frame.withUnsafeBytes { judge.sent($0, on: id, now: now) } }
            now += pause
            if stood > 0 { judge.stood(for: stood, now: now - pause / 2) }
            judge.ended(id, isLeft: true, now: now)
            now += 100
        }
        return judge.verdict.isBroken(.unknownKinds)
    }

    /// A client that is held up hears nothing for too long, and closes its connection for that.
    @Test func closingForSilenceIsNoRefusal() {
        #expect(accuses(after: 0) && accuses(after: 1_400))
        #expect(!accuses(after: 1_600))
        #expect(accuses(after: 1_400, stood: 900) && !accuses(after: 1_400, stood: 1_100))
        #expect(accuses(after: 2_200, stood: 1_100))
    }

    /// A client is late if all its pings are: on a busy machine, some of a correct client's are. A judge that did not
    /// run accuses nobody.
    @Test func oneDelayIsNoBreach() {
        let late = judged([900, 2_500, 2_100, 2_200])
        #expect(late.isBroken(.pingsInTime) && !late.isBroken(.neverSilent))
        #expect(judged([3_500, 3_400]).isBroken(.neverSilent))
        #expect(judged([2_500, 1_050, 2_900, 3_300, 3_900, 8_000]).findings.isEmpty)
        #expect(judged([3_500, 3_400, 3_500], stood: 2_400).findings.isEmpty)
    }

    /// Waits count as too short only where chance hardly makes them that short.
    @Test func shortWaitsAreImprobable() {
        // Two waits below 100 and 200 ms are a point of that rectangle; 70 ms cut off a triangle of 2,450.
        #expect(abs(Judge.Refusals(waits: [10, 60]).chance - 2_450.0 / 20_000) < 1e-9)
        #expect(Judge.Refusals(waits: [50, 100, 200, 400, 800]).chance > 0.5)
        #expect(Judge.Refusals(waits: [100, 100, 100, 100, 100, 100, 100, 100]).chance < 1e-5)
        #expect(Judge.Refusals(waits: [20, 90, 300, 10, 900, 1_500, 3_000, 9_000]).chance > 0.01)
    }

    /// A server that no client has edited on judges nothing.
    @Test func withoutEditsThereIsNoPass() {
        #expect(!Judge().verdict.isGood)
        #expect(Judge().verdict.lines.last == "verdict: nothing was judged, because no client has edited")
    }

    /// The same seed leads to the same events.
    @Test func theSameSeedLeadsToTheSameEvents() {
        let plays = [UInt64](arrayLiteral: 7, 7, 8).map { seed in
            let play = AwkwardPlay(seed: seed)
            play.run(edits: 8)
            return play.met
        }
        #expect(plays[0] == plays[1])
        #expect(plays[0] != plays[2])
    }

    /// Guests do not return to a server that is being stopped.
    @Test func theServerStops() {
        let play = AwkwardPlay(seed: 3)
        play.run(edits: 4)
        #expect(play.stops())
    }

    /// A client is not replaced so often that it would suspect another program of having its id and stop.
    @Test func noClientIsReplacedTooOften() {
        let play = AwkwardPlay(seed: 1)
        let often = (0..<50).filter { _ in play.awkwardness.mayReplace() }.count
        #expect(often <= ClientMachine.maxReplacements)
    }
}
