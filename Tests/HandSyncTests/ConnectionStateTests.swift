import HandSync
import HandTestSupport
import HandWire
import Testing

/// The connection moves between states as the table in its source says.
@Suite struct ConnectionStateTests {
    /// A client whose id another program uses: it may ask for another one at any time.
    private struct Client {
        private var client = DrivenClient()

        init(in state: String) {
            client.connect()
            // Only the fourth connection within a minute that replaces this one means another program.
            for _ in 0...ClientMachine.mostReplacements {
                client.hear(.error(code: .replaced, request: 0, retryAfter: 0, message: ""))
                happens("start")
                happens("connected")
                happens("welcome")
            }
            if state == "ready" { return }
            switch state {
            case "changingID": happens("id shared")
            case "stopped": happens("stop")
            case "heldUp": happens("not kept")
            default: happens("lost")
            }
            if state == "connecting" || state == "greeting" { happens("start") }
            if state == "greeting" { happens("connected") }
        }

        var state: String {
            switch client.machine.state {
            case .stopped: "stopped"
            case .heldUp: "heldUp"
            case .changingID: "changingID"
            case .waiting: "waiting"
            case .connecting: "connecting"
            case .greeting: "greeting"
            case .ready: "ready"
            }
        }

        mutating func happens(_ event: String) {
            switch event {
            case "start": client.perform { $0.start() }
            case "stop": client.perform { $0.stop(reason: "test") }
            case "connected": client.perform { $0.connected(now: 0) }
            case "welcome": client.welcome()
            case "lost": client.perform { $0.disconnected(reason: "test", now: 0) }
            case "unanswered": client.perform { $0.unanswered(now: 0) }
            case "silence":
                // The client has another id by then.
                if state != "changingID" { client.perform { $0.took(ClientID(high: 0, low: 2), now: 0) } }
                client.perform { $0.timer(now: 50_000) }
            case "not kept": client.perform { $0.kept(0, problem: "the disk is full", now: 0) }
            case "kept": client.perform { $0.kept(0, now: 0) }
            case "id shared": client.perform { $0.timer(now: 0) }
            case "new id": client.perform { $0.took(ClientID(high: 0, low: 2), now: 0) }
            default: Issue.record("nothing is known of '\(event)'")
            }
        }
    }

    @Test func statesFollowTheTable() throws {
        let table = try TransitionTable(of: "Client/ClientMachine.swift", first: "event")
        #expect(
            table.states == ["stopped", "heldUp", "changingID", "waiting", "connecting", "greeting", "ready"])
        #expect(table.rows.count == 11)
        for (event, row) in table.rows {
            for (before, after) in row {
                var client = Client(in: before)
                #expect(client.state == before)
                client.happens(event)
                #expect(client.state == after, "\(event), in \(before)")
            }
        }
    }
}
