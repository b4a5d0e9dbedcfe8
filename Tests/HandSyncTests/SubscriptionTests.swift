import Foundation
import HandCore
import HandSync
import HandWire
import Testing

/// What leads a list's subscription from one phase to another is what its source says in a table.
@Suite struct SubscriptionTests {
    private static let phases = ["idle", "asked", "receiving", "catchingUp", "live"]

    /// The table of `Phase`: where each event leads from each phase.
    private static func table() throws -> [String: [String: String]] {
        let tree = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let file = tree.appendingPathComponent("../Sources/Machines/HandSync/Client/Subscription.swift")
        let source = try String(contentsOf: file, encoding: .utf8)
        let rows = source.split(separator: "\n").filter { $0.contains("///     |") }.map { line in
            line.split(separator: "|").dropFirst().map { $0.trimmingCharacters(in: .whitespaces) }
        }
        #expect(rows.first == ["what happens"] + phases)
        return Dictionary(
            uniqueKeysWithValues: rows.dropFirst().map { row in
                (row[0], Dictionary(uniqueKeysWithValues: zip(phases, row.dropFirst())))
            })
    }

    /// A client that follows a list with one item, of which three commits are known; an edit is in flight.
    private struct Client {
        var machine = ClientMachine(client: ClientID(high: 0, low: 1), person: "", program: "", seed: 1)
        /// The number of the request that asked last for the list.
        var request: UInt64 = 0
        private let hand = Hand([Item(id: ItemID(rawValue: 1), content: .note("n"))])

        init(in phase: String) throws {
            var replica = Replica(confirmed: hand, revision: 3, logID: 5, sequence: 0)
            replica.author = 1
            let item = Item(id: ItemID(rawValue: 2), content: .note("mine"))
            try replica.edit(Delta.inserting([item], at: 0, .after))
            _ = replica.takeSubmission(list: 7)
            machine.open("list", from: replica)
            machine.start()
            machine.connected(now: 0)
            if phase == "idle" { return }
            welcome()
            switch phase {
            case "receiving": enter(.snapshot(revision: 4, count: 1, digest: hand.digest))
            case "catchingUp": enter(.resumed(head: 4))
            case "live", "asked": enter(.resumed(head: 3))
            default: break
            }
            // What comes under an earlier answer still counts.
            if phase == "asked" { say(.error(code: .notSubscribed, request: 7, retryAfter: 0, message: "")) }
        }

        var phase: String {
            switch machine.subscriptions["list"]?.phase {
            case .idle: "idle"
            case .asked: "asked"
            case .receiving: "receiving"
            case .catchingUp: "catchingUp"
            case .live: "live"
            case nil: "not followed"
            }
        }

        mutating func welcome() {
            say(
                .welcome(
                    .init(
                        version: 2, capabilities: [], author: 1, idleDeadline: 45_000, frameBytes: 1 << 20, program: "")
                ))
        }

        mutating func say(_ message: DownMessage) {
            message.frame.withUnsafeBytes { machine.received($0, now: 0) }
            while let effect = machine.nextEffect() {
                guard case .send(let frame) = effect else { continue }
                let body = frame.dropFirst(UInt64(frame.count).varintSize)
                if case .subscribe(let asked)? = body.withUnsafeBytes({ try? UpMessage($0) }) {
                    request = asked.request
                }
            }
        }

        mutating func enter(_ start: DownMessage.Subscribed.Start) {
            say(
                .subscribed(
                    .init(request: request, list: 7, logID: 5, rules: Rules(), lastSequence: 0, start: start)))
        }

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
            case "the server says welcome": welcome()
            case "the connection is lost": machine.disconnected(reason: "test", now: 0)
            case "resumed, nothing was missed": enter(.resumed(head: 3))
            case "resumed, something is missed": enter(.resumed(head: 9))
            case "a snapshot begins": enter(.snapshot(revision: 4, count: 2, digest: 0))
            case "the snapshot's last items": say(.chunk(request: request, items: hand))
            case "the last commit missed": say(commit(digest: nil))
            case "a commit that does not fit": say(commit(digest: 0))
            case "stale": say(.stale(list: 7, sequence: 1, head: 9))
            case "taken, nobody knows when": say(.acknowledged(list: 7, sequence: 1, revision: 0))
            case "not subscribed": say(.error(code: .notSubscribed, request: 7, retryAfter: 0, message: ""))
            default: Issue.record("nothing is known of '\(event)'")
            }
        }
    }

    @Test func theTableIsWhatHappens() throws {
        let table = try Self.table()
        #expect(table.count == 11)
        for (event, row) in table {
            for (before, after) in row {
                var client = try Client(in: before)
                #expect(client.phase == before)
                client.happens(event)
                #expect(client.phase == after, "\(event), in \(before)")
            }
        }
    }
}
