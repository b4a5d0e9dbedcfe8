import Foundation
import HandCore
import HandWire

/// A client that only wants to edit its own list. It measures how long each edit takes.
package final class Bystander {
    private let client: RawClient
    private var sequence: SequenceNumber = 0
    private var revision = 0
    private let list: ListNumber
    /// The durations of its edits in seconds.
    package private(set) var times: [Double] = []

    package init(_ range: AttackRange) throws {
        client = try range.client()
        guard
            case .welcome = try client.hello(.random(in: 1_000...UInt64.max), as: "", token: range.tokens["bystander"])
        else { throw RawClient.Silence(description: "the bystander was not admitted") }
        client.say(.subscribe(.init(request: 1, name: AttackRange.quietList, logID: 0, revision: 0)))
        while true {
            guard let message = try client.next() else {
                throw RawClient.Silence(description: "the bystander was disconnected")
            }
            guard case .subscribed(let subscribed) = message else { continue }
            list = subscribed.list
            if case .snapshot(let found, _, _) = subscribed.start { revision = found }
            break
        }
    }

    /// Makes one edit, waits until it is committed, and then pauses: more than a few hundred edits a second are too
    /// many.
    package func edit() throws {
        usleep(5_000)
        sequence = sequence.next
        let item = Item(id: ItemID(rawValue: .random(in: 1...UInt64.max)), content: .note("calm"))
        let operation: Delta = sequence.rawValue % 2 == 1 ? .inserting([item], at: 0, .after) : .deleting(0..<1)
        let start = ContinuousClock.now
        client.say(.submit(Submission(list: list, base: revision, sequence: sequence, delta: operation)))
        while let message = try client.next() {
            if let refusal = message.refusal { throw RawClient.Silence(description: "the bystander got: \(refusal)") }
            guard case .commit(_, let commit) = message else { continue }
            revision = commit.revision
            let elapsed = (ContinuousClock.now - start).components
            return times.append(Double(elapsed.seconds) + Double(elapsed.attoseconds) / 1e18)
        }
        throw RawClient.Silence(description: "the bystander was disconnected")
    }

    /// Returns the time within which that share of the edits was committed.
    package func quantile(_ share: Double) -> Double {
        let sorted = times.sorted()
        return sorted.isEmpty ? 0 : sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]
    }
}
