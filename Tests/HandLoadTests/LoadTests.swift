import EventLoop
import Foundation
import HandCore
import HandLoad
import HandServer
import HandStore
import HandSync
import HandWire
import Logging
import Testing

/// Load tests against a server in this process, and against one that misbehaves.
@Suite(.serialized) struct LoadTests {
    /// Runs a server on a thread of its own, at a Unix socket.
    ///
    /// - Parameters:
    ///   - lie: the alteration and its connection; the server is then reached through a relay.
    ///   - stands: the seconds in which the server does nothing, half a second after it has started.
    private static func withServer<Result>(
        lie: (victim: Int, AlteringRelay.Lie)? = nil, stands: Double? = nil, _ body: (String) throws -> Result
    ) throws -> Result {
        let path = FileManager.default.temporaryDirectory.path + "/hl-\(UInt32.random(in: 0...UInt32.max)).sock"
        let ready = DispatchSemaphore(value: 0)
        let stop = Stop()
        let thread = Thread {
            do {
                let loop = try Loop()
                let server = Server(
                    ServerConfiguration(endpoints: [.unix(path)], limits: Limits(), program: "test", seed: 1),
                    store: MemoryStore(), loop: loop, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
                _ = try server.start()
                let relay = try lie.map {
                    try AlteringRelay(loop, at: path + "-", to: path, victim: $0.victim, $0.1)
                }
                let pause = Timer(loop)
                if let stands { pause.start(after: 500) { Thread.sleep(forTimeInterval: stands) } }
                stop.mailbox = try Mailbox<Void>(loop) { _ in
                    relay?.close()
                    pause.close()
                    server.stop { loop.stop() }
                }
                ready.signal()
                loop.run()
                loop.close()
            } catch {
                Issue.record(error)
                ready.signal()
            }
        }
        thread.start()
        ready.wait()
        defer { stop.mailbox?.post(()) }
        return try body(lie == nil ? path : path + "-")
    }

    /// `@unchecked Sendable` is safe: it is written once, before the semaphore is signalled.
    private final class Stop: @unchecked Sendable {
        var mailbox: Mailbox<Void>?
    }

    private static func run(
        _ source: String, at path: String, _ kind: LoadPlan.Kind, clients: Int, seconds: Double = 20,
        rate: Double? = nil
    ) throws -> LoadResult {
        let plan = LoadPlan(
            script: try Script(parsing: source), server: .unix(path: path), kind: kind, clients: clients,
            seconds: seconds, rate: rate, seed: 3)
        return try LoadRun.run(plan) { _ in }
    }

    /// A client that does not hold the list cannot reword items.
    private static func work(_ kind: LoadPlan.Kind) -> String {
        """
        items 50
        loop 20
          choose
            2 add "{client}/{iteration}" at random
            1 delete random
            1 move random to random
            1 \(kind == .full ? "edit random to \"{client} {iteration}\"" : "tick random")
            1 tick random
          end
        end
        """
    }

    @Test(arguments: LoadPlan.Kind.allCases)
    func everybodyConverges(kind: LoadPlan.Kind) throws {
        try Self.withServer { path in
            let result = try Self.run(Self.work(kind), at: path, kind, clients: 8)
            #expect(result.hasConverged, "\(result.lists.flatMap(\.differences))")
            #expect(result.total.commits == 160)
            #expect(result.total.deliveries == 160 * 8)
            #expect(result.lists.map(\.agreed) == [8])
            #expect(result.total.acknowledged.totalCount == 160)
            #expect(result.total.seen.totalCount > 0)
            #expect(result.total.errors == [:])
            // Filling the list is one commit before.
            #expect(result.lists.map(\.revision) == [161])
        }
    }

    @Test func offlineEditsUndoAndRolesConverge() throws {
        try Self.withServer { path in
            let result = try Self.run(
                """
                lists 2
                role editor 3
                  loop 3
                    add "online {client}"
                    offline 20ms to 60ms with
                      add "offline {client}"
                      move random to top
                      undo
                    end
                    disconnect
                    expect converged
                    undo
                    redo
                  end
                role reader rest
                  pause 10ms
                """, at: path, .full, clients: 6)
            #expect(result.hasConverged, "\(result.lists.flatMap(\.differences))")
            #expect(result.lists.map(\.list) == ["load-1", "load-2"])
            #expect(result.total.errors == [:])
            // Each of three clients inserts an item of each kind three times.
            #expect(result.lists.reduce(0) { $0 + $1.items } == 18)
        }
    }

    /// What a client does offline may last longer than it is to be offline.
    @Test func whatIsDoneOfflineMayLastLonger() throws {
        try Self.withServer { path in
            let script = "offline 5ms with\nadd one\npause 40ms\ndisconnect\nadd two\nend"
            let result = try Self.run(script, at: path, .full, clients: 2)
            #expect(result.hasConverged && result.total.errors == [:])
            #expect(result.lists.map(\.items) == [4])
        }
    }

    /// A client that reads nothing for a while gets everything afterwards, and nobody waits for it in the meantime.
    @Test(arguments: LoadPlan.Kind.allCases)
    func aStalledClientCatchesUp(kind: LoadPlan.Kind) throws {
        try Self.withServer { path in
            let result = try Self.run(
                """
                role slow 1
                  stall 400ms
                  add last
                role fast rest
                  loop 200
                    add "{client} {iteration}" at random
                  end
                """, at: path, kind, clients: 4)
            #expect(result.hasConverged, "\(result.lists.flatMap(\.differences))")
            #expect(result.total.errors == [:])
            #expect(result.lists.map(\.items) == [601])
            #expect(result.seconds > 0.39)
        }
    }

    /// The latency of edits that were due while the server stood still counts from when they were due (coordinated
    /// omission).
    @Test func waitingForAServerThatStandsStillIsLatency() throws {
        try Self.withServer(stands: 0.6) { path in
            let result = try Self.run(
                "loop\nadd {iteration}\nend", at: path, .light, clients: 1, seconds: 2, rate: 200)
            // Of 400 edits, 120 became due while nobody answered: at least a tenth waited 200 ms or more.
            #expect(result.total.commits > 300)
            #expect(result.total.acknowledged.valueAtPercentile(90) > 200_000_000)
        }
    }

    /// The first connection creates the list, so the third is that of client 2.
    @Test func aClientWithAlteredCommitsIsNamed() throws {
        try Self.withServer(lie: (victim: 2, .item(commit: 30))) { path in
            let result = try Self.run(
                "loop 40\nadd {iteration} at random\nend", at: path, .full, clients: 5)
            #expect(result.total.errors == ["diverged": 1])
            #expect(result.problems.count == 1)
            #expect(result.problems.first?.hasPrefix("client 2 diverged at revision 30 of 'load'") == true)
            // It notices by itself, gets a snapshot, and ends with everybody's list.
            #expect(result.hasConverged)
        }
    }

    /// A light client does not hold the list, but knows the digest of each commit: at the end it must equal the
    /// server's.
    @Test func lightClientsCompareDigests() throws {
        try Self.withServer(lie: (victim: 2, .digests(commit: 30))) { path in
            let result = try Self.run("loop 40\nadd {iteration} at random\nend", at: path, .light, clients: 5)
            #expect(result.lists.map(\.agreed) == [4])
            #expect(
                result.lists.flatMap(\.differences) == ["client 2 has other items than the server at revision 200"])
            #expect(!result.hasConverged && !result.isSound)
        }
    }

    @Test func violatedRulesCountAsRejections() throws {
        try Self.withServer { path in
            let result = try Self.run(
                "rules max-items 5, deck\nloop 10\ndeal\nend", at: path, .full, clients: 4)
            #expect(result.hasConverged)
            #expect(result.lists.map(\.items) == [5])
            // A client that sees a full list does not submit; one that does not see it yet is refused.
            #expect(result.total.commits == 5)
            #expect(Set(result.total.errors.keys).isSubset(of: ["rejected: listFull"]))
        }
    }

    /// With a rate, an edit's latency counts from when it was due.
    @Test func aRateIsKept() throws {
        try Self.withServer { path in
            let result = try Self.run(
                "loop\nadd x\npause 1m\nend", at: path, .full, clients: 5, seconds: 1.5, rate: 200)
            #expect(result.hasConverged)
            // On a busy machine the work may end late. Each client may begin with an edit.
            let (commits, most) = (result.total.commits, 200 * result.seconds + 5)
            #expect(commits >= 200 && Double(commits) <= most, "\(commits) of at most \(most)")
        }
    }

    /// A last second that is not whole is a sample, too, and all samples together are the test.
    @Test func theLastPartOfASecondIsCounted() throws {
        try Self.withServer { path in
            let result = try Self.run("loop\nadd x\npause 1ms\nend", at: path, .light, clients: 2, seconds: 1.5)
            #expect(abs(result.samples.map(\.seconds).reduce(0, +) - result.seconds) < 0.02)
            #expect(result.samples.map(\.figures.commits).reduce(0, +) == result.total.commits)
            // The edits that were under way at the end count for the list, not for the rate.
            let revision = try #require(result.lists.first?.revision)
            #expect((0...2).contains(revision - result.total.commits))
        }
    }

    @Test func processesAreAddedUp() throws {
        try Self.withServer { path in
            let one = try Self.run(Self.work(.full), at: path, .full, clients: 2)
            let two = try Self.run(Self.work(.full), at: path, .full, clients: 3)
            let joined = LoadResult.joined([one, two])
            #expect(joined.clients == 5)
            // The second process may find that an item already has the new text.
            let commits = one.total.commits + two.total.commits
            #expect((90...100).contains(commits) && joined.total.commits == commits)
            #expect(joined.total.acknowledged.totalCount == commits)
            #expect(joined.lists.map(\.agreed) == [5])
            // They ended at different revisions, which is a difference.
            #expect(!joined.hasConverged)
        }
    }

    @Test func anUnreachableServerIsReported() throws {
        #expect(throws: LoadError.self) {
            _ = try Self.run(Self.work(.full), at: "/nowhere/hand.sock", .full, clients: 1)
        }
    }

    @Test(arguments: [
        ("ack.p99<60s", true), ("ack.p50>1us", true), ("seen.max<1us", false), ("commits>0.5", true),
        ("errors<1", true), ("deliveries > 100000000", false),
    ])
    func thresholdsJudgeARealTest(text: String, isMet: Bool) throws {
        try Self.withServer { path in
            let result = try Self.run("items 5\nloop 20\nadd x\nend", at: path, .full, clients: 2)
            #expect(try Threshold(text).isPassed(by: result) == isMet)
        }
    }

    @Test(arguments: ["ack.p99=20ms", "ack.p101<1ms", "akc.p50<1ms", "ack.p50<20", "commits>many"])
    func invalidThresholdsAreRefused(text: String) {
        #expect(throws: Threshold.ParseError.self) { try Threshold(text) }
    }

}
