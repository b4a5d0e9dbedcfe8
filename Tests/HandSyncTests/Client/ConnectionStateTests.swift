import HandSync
import HandTestSupport
import HandWire
import Testing

/// The connection moves between states as the table in its source says.
@Suite struct ConnectionStateTests {
    /// The server owes an answer while it is connected to, to a ping, a request and an edit, each time anew.
    @Test func theClientKnowsWhenAnAnswerIsOwed() {
        var client = DrivenClient()
        #expect(!client.machine.awaitsAnswer)
        for _ in 1...2 {
            client.perform { $0.start() }
            #expect(client.machine.awaitsAnswer)
            client.perform { $0.connected(now: 0) }
            #expect(client.machine.awaitsAnswer)
            client.welcome()
            // Without a list, nothing is sent until the first ping is due.
            #expect(!client.machine.awaitsAnswer)
            let due = client.machine.deadline ?? 0
            client.perform { $0.timer(now: due) }
            #expect(client.machine.awaitsAnswer)
            client.hear(.pong(0))
            #expect(!client.machine.awaitsAnswer)
            let request = client.perform { $0.ask { .lists(request: $0, after: "") } } ?? 0
            #expect(client.machine.awaitsAnswer)
            client.hear(.pong(0))
            #expect(client.machine.awaitsAnswer)
            client.hear(.lists(request: request, [], hasMore: false))
            #expect(!client.machine.awaitsAnswer)
            client.perform { $0.disconnected(reason: "test", now: 0) }
            #expect(!client.machine.awaitsAnswer)
        }
    }

    /// The user's name and roles are those of the newest connection.
    @Test func theClientKnowsItsGrants() {
        var client = DrivenClient()
        let granted = DownMessage.Granted(person: "ada", everywhere: .read, lists: [.init(name: "a", role: .write)])
        #expect(granted.role(on: "a") == .write && granted.role(on: "b") == .read)
        client.connect()
        #expect(client.machine.granted == nil)
        client.hear(.granted(granted))
        #expect(client.machine.granted == granted)
        client.perform { $0.disconnected(reason: "test", now: 0) }
        #expect(client.machine.granted == granted)
        client.connect()
        #expect(client.machine.granted == nil)
    }

    /// A client whose id another program uses: it may ask for another one at any time.
    private struct Client {
        private var client = DrivenClient()

        init(in state: String) {
            client.connect()
            // Only the fourth connection within a minute that replaces this one means another program.
            for _ in 0...ClientMachine.maxReplacements {
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
