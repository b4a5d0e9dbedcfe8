import FuzzTargets
import HandCore
import HandSync
import HandWire
import Testing

/// One client of a machine in a small world.
@Suite struct ServiceBoundsTests {
    private final class Visit {
        let world = FuzzWorld(limits: Limits())
        let stream = FuzzStream()
        let connection: Connection

        init() {
            connection = world.machine.accepted(stream, at: world.time)
            say([
                .hello(.init(client: ClientID(high: 0, low: 1), person: "", program: ""))
            ])
            settle()
        }

        /// Sends messages in one piece.
        func say(_ messages: [UpMessage]) {
            messages.flatMap(\.frame).withUnsafeBytes { world.machine.received($0, from: connection, at: world.time) }
        }

        func settle() {
            var goesOn = true
            while goesOn {
                goesOn = world.endTurn() || !world.isIdle
                world.work(on: 0)
                world.answer(0)
            }
        }
    }

    /// An answer to an earlier request came after the error with the reason for the connection's end.
    @Test func nothingFollowsTheClosingError() {
        let visit = Visit()
        let hello = UpMessage.hello(
            .init(client: ClientID(high: 0, low: 1), person: "", program: ""))
        visit.say([.delete(request: 1, name: "none"), hello])
        visit.settle()
        #expect(visit.stream.fault == nil)
    }

    /// Lists that were requested faster than they were sent piled up, although the client read everything that it
    /// received.
    @Test func listsUnderWayAreBounded() throws {
        let visit = Visit()
        visit.say([
            .create(request: 1, name: "a", rules: Rules()),
            .subscribe(.init(request: 2, name: "a", logID: 0, revision: 0)),
        ])
        visit.settle()
        let item = Item(id: ItemID(rawValue: 2), content: .note("n"))
        visit.say([
            .submit(Submission(list: 1, base: 0, sequence: 1, delta: Delta.inserting([item], at: 0, .after)))
        ])
        visit.settle()
        var most = 0
        for turn in 0..<50 where visit.stream.isReading {
            visit.say(
                (0..<1_000).map { .fetch(request: RequestNumber(turn * 1_000 + $0 + 3), name: "a", revision: nil) })
            _ = visit.world.endTurn()
            most = max(most, visit.connection.held.transfers)
        }
        #expect(most > 0 && most <= 64)
        visit.settle()
        #expect(visit.connection.held.transfers == 0 && visit.stream.isReading && visit.stream.fault == nil)
    }
}
