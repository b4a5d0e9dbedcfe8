import HandCore
import HandSync
import HandWire
import Testing

/// A server's connection moves between phases as the table in its source says.
@Suite struct ConnectionPhaseTests {
    /// A connection whose client has said hello.
    private struct Client {
        let world = TestWorld()
        let stream: TestStream

        /// A stream that is still writing cannot take the last bytes yet.
        init(in phase: String) {
            stream = world.connect(1)
            world.settle()
            stream.isWriting = true
            switch phase {
            case "closing": happens("the server ends it")
            case "shutDown":
                happens("the server ends it")
                happens("the last byte is taken")
            case "closed": happens("the client hangs up")
            default: break
            }
        }

        var phase: String {
            switch stream.connection?.phase {
            case .open: "open"
            case .closing: "closing"
            case .shutDown: "shutDown"
            case .closed: "closed"
            case nil: "none"
            }
        }

        func happens(_ event: String) {
            switch event {
            case "the server ends it":
                _ = stream.connection.map { world.machine.close(connection: $0.number, at: world.time) }
                world.turn()
            case "the last byte is taken": stream.drain()
            case "the client hangs up": stream.end()
            case "the deadline passes":
                world.now += Limits().drainDeadline
                world.timeout()
                world.settle()
            default: Issue.record("nothing is known of '\(event)'")
            }
        }
    }

    @Test func phasesFollowTheTable() throws {
        let table = try TransitionTable(of: "Server/Connections/Connection.swift", first: "what happens")
        #expect(table.states == ["open", "closing", "shutDown", "closed"] && table.rows.count == 4)
        for (event, row) in table.rows {
            for (before, after) in row {
                let client = Client(in: before)
                #expect(client.phase == before)
                client.happens(event)
                #expect(client.phase == after, "\(event), in \(before)")
                #expect(client.stream.isShutDown == (client.phase == "shutDown" || before == "shutDown"))
                #expect(client.stream.isClosed == (client.phase == "closed"))
                #expect(client.world.machine.brokenInvariant() == nil)
            }
        }
    }
}
