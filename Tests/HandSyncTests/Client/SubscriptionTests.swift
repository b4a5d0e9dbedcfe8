import Foundation
import HandCore
import HandSync
import HandTestSupport
import HandWire
import Testing

/// A subscription moves between phases as the table in its source says.
@Suite struct SubscriptionTests {
    /// A client that follows a list with one item, of which three commits are known; an edit is in flight.
    private struct Client {
        private var client = DrivenClient()
        private let opened: ListState?
        private let hand = Hand([Item(id: ItemID(rawValue: 1), content: .note("n"))])

        init(in phase: String) throws {
            var replica = Replica(confirmed: hand, revision: 3, logID: 5, sequence: 0)
            replica.author = 1
            let item = Item(id: ItemID(rawValue: 2), content: .note("mine"))
            try replica.edit(Delta.inserting([item], at: 0, .after))
            _ = replica.takeSubmission(list: 7)
            client.perform { $0.open("list", from: replica) }
            opened = client.machine.subscriptions["list"]?.state
            client.perform { $0.start() }
            client.perform { $0.connected(now: 0) }
            if phase == "idle" { return }
            client.welcome()
            switch phase {
            case "receiving": enter(.snapshot(revision: 4, count: 1, digest: hand.digest))
            case "catchingUp": enter(.resumed(at: 4))
            case "live", "asked": enter(.resumed(at: 3))
            default: break
            }
            // Messages for an earlier answer still count.
            if phase == "asked" {
                client.hear(.error(code: .notSubscribed, request: 0, list: 7, retryAfter: 0, message: ""))
            }
        }

        /// The state that the list's followers know, and the one that it has.
        var states: (known: ListState?, actual: ListState?) {
            var known = opened
            for case .list(_, .changed(let state, _)) in client.effects { known = state }
            return (known, client.machine.subscriptions["list"]?.state)
        }

        var phase: String {
            switch client.machine.subscriptions["list"]?.phase {
            case .idle: "idle"
            case .asked: "asked"
            case .receiving: "receiving"
            case .catchingUp: "catchingUp"
            case .live: "live"
            case nil: "not followed"
            }
        }

        /// The last request for the list.
        private var request: RequestNumber {
            for case .subscribe(let asked) in client.said.reversed() { return asked.request }
            return 0
        }

        private mutating func enter(_ start: DownMessage.Subscribed.Start) { client.enter(request, list: 7, start) }

        private func commit(digest: UInt64?) -> DownMessage {
            let delta = hand.rewording(0, "theirs")
            let after = (try? hand.applying(delta)) ?? hand
            return .commit(
                list: 7,
                Commit(
                    revision: 4, author: 2, sequence: 1, base: 3, time: 0, count: 1, digest: digest ?? after.digest,
                    delta: delta))
        }

        mutating func happens(_ event: String) {
            switch event {
            case "the server says welcome": client.welcome()
            case "the connection is lost": client.perform { $0.disconnected(reason: "test", now: 0) }
            case "resumed, nothing was missed": enter(.resumed(head: 3, digest: hand.digest))
            case "resumed, something is missed": enter(.resumed(head: 9, digest: 1))
            case "resumed, other commits": enter(.resumed(head: 3, digest: 1))
            case "a snapshot begins": enter(.snapshot(revision: 4, count: 2, digest: 0))
            case "the snapshot's last items": client.hear(.chunk(request: request, items: hand))
            case "the last commit missed": client.hear(commit(digest: nil))
            case "a commit that does not fit": client.hear(commit(digest: 0))
            case "stale": client.hear(.stale(list: 7, sequence: 1, head: 9))
            case "taken, nobody knows when": client.hear(.acknowledged(list: 7, sequence: 1, revision: 0))
            case "not subscribed":
                client.hear(.error(code: .notSubscribed, request: 0, list: 7, retryAfter: 0, message: ""))
            default: Issue.record("nothing is known of '\(event)'")
            }
        }
    }

    @Test func phasesFollowTheTable() throws {
        let table = try TransitionTable(of: "Client/Subscription.swift", first: "what happens")
        #expect(table.states == ["idle", "asked", "receiving", "catchingUp", "live"])
        #expect(table.rows.count == 12)
        for (event, row) in table.rows {
            for (before, after) in row {
                var client = try Client(in: before)
                #expect(client.phase == before)
                client.happens(event)
                #expect(client.phase == after, "\(event), in \(before)")
                let states = client.states
                #expect(states.known == states.actual, "\(event), in \(before): the followers know the state")
            }
        }
    }
}
