import HandCore
import HandWire

/// Watches both directions of one connection. A submission is sent on it once, and again only after `stale`, after a
/// `subscribed` of another history, or after the end of its subscription by either side (Protocol.md §5).
struct SubmissionWatch {
    private struct Key: Hashable {
        let list: ListNumber
        let sequence: SequenceNumber
    }

    private var sent: Set<Key> = []
    private var histories: [ListNumber: UInt64] = [:]
    /// The list of each subscription, by request.
    private var subscriptions: [RequestNumber: ListNumber] = [:]
    private var reader = FrameReader(limit: Int(Int32.max))

    /// Whether the client may send this submission now.
    mutating func allows(_ submission: Submission) -> Bool {
        sent.insert(Key(list: submission.list, sequence: submission.sequence)).inserted
    }

    mutating func unsubscribed(from list: ListNumber) { sent = sent.filter { $0.list != list } }

    /// Reads bytes that the client has received. Notes the kinds of answers in `reach`.
    mutating func heard(_ bytes: UnsafeRawBufferPointer, _ reach: inout Reach) {
        for message in reader.messages(in: bytes) {
            reach.note(message)
            heard(message)
        }
    }

    private mutating func heard(_ message: DownMessage) {
        switch message {
        case .stale(let list, let sequence, _):
            sent.remove(Key(list: list, sequence: sequence))
        case .subscribed(let subscribed):
            subscriptions[subscribed.request] = subscribed.list
            if histories.updateValue(subscribed.logID, forKey: subscribed.list) != subscribed.logID {
                unsubscribed(from: subscribed.list)
            }
        case .error(.listDeleted, let request, _, _, _), .error(.notAllowed, let request, _, _, _):
            if let list = subscriptions[request] { unsubscribed(from: list) }
        case .error(.notSubscribed, _, let list, _, _): unsubscribed(from: list)
        default: break
        }
    }
}
