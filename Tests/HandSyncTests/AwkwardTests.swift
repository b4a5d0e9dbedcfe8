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
        for seed in UInt64(1)...60 {
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
        // There is one list, and its name has one form.
        #expect(Set(Requirement.allCases).subtracting(exercised) == [.rightList, .composedNames])
    }

    /// Each broken client is found out by at least one of a few seeds, for the requirement that it breaks.
    @Test(arguments: BrokenClient.Fault.allCases)
    func aBrokenClientIsNoticed(_ fault: BrokenClient.Fault) {
        for seed in UInt64(1)...40 {
            let play = AwkwardPlay(seed: seed, BrokenClient(fault))
            play.run(edits: 12)
            let verdict = play.awkwardness.judge.verdict
            guard let finding = verdict.findings.first(where: { $0.requirement == fault.breaks }) else { continue }
            #expect(!finding.frames.isEmpty && !verdict.isGood)
            return
        }
        Issue.record("nobody noticed")
    }

    /// A judge that did not run accuses nobody of silence.
    @Test func timeWithoutTheJudgeDoesNotCount() {
        for (stood, isBroken) in [(UInt64(0), true), (3_400, false)] {
            var judge = Judge()
            let id = judge.connected(now: 0)
            let hello = UpMessage.hello(.init(client: ClientID(high: 1, low: 2), person: "Ann", program: "test"))
            hello.frame.withUnsafeBytes { judge.received($0, on: id, now: 0) }
            let welcome = DownMessage.welcome(
                .init(version: 5, author: 1, idleDeadline: 3_000, frameBytes: 1 << 20, program: "test"))
            welcome.frame.withUnsafeBytes { judge.sent($0, on: id, now: 0) }
            judge.stood(for: stood)
            UpMessage.ping(1).frame.withUnsafeBytes { judge.received($0, on: id, now: 3_500) }
            #expect(judge.verdict.isBroken(.neverSilent) == isBroken)
        }
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
