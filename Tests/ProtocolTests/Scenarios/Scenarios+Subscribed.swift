import HandCore
import HandWire

/// The server answers a subscription.
extension Scenarios {
    static let subscribed: [Scenario] = [
        Scenario("subscribed: a snapshot of an empty list") { $0.follow() },
        Scenario("subscribed: resumed, nothing was missed", ["a"]) {
            $0.follow()
            $0.lose()
            $0.connect()
            $0.resume(after: 0)
            $0.insert("mine", at: 0)
        },
        Scenario("subscribed: resumed, nothing is sent before the head is reached", ["a"]) {
            $0.follow()
            $0.lose()
            $0.insert("mine", at: 0)
            for text in ["x", "y"] { $0.others(text, at: 0, isSent: false) }
            $0.connect()
            $0.resume(after: 0)
        },
        Scenario("subscribed: resumed, the digest is another", ["a"]) {
            $0.follow()
            $0.lose()
            $0.insert("mine", at: 1)
            $0.connect()
            $0.answer(.resumed(head: 0, digest: 12))
            $0.snapshot()
        },
        Scenario("subscribed: another number, so what is in flight is sent again", ["a"]) {
            $0.follow()
            $0.insert("mine", at: 1)
            $0.list = 8
            $0.resume(after: 0)
        },
        Scenario("subscribed: a snapshot in between, what is in flight is not sent twice", ["a"]) {
            $0.follow()
            $0.insert("mine", at: 1)
            for text in ["x", "y"] { $0.others(text, at: 0, isSent: false) }
            $0.snapshot()
            $0.accept()
            $0.undo()
        },
        Scenario("subscribed: another list has the name", ["a"]) {
            $0.follow()
            $0.lose()
            $0.insert("mine", at: 1)
            $0.connect()
            ($0.list, $0.logID) = (9, 0x3_0000_0006)
            $0.beginSnapshot()
            $0.hear(.error(code: .noSuchList, request: 3, retryAfter: 0, message: ""))
        },
        Scenario("subscribed: found by its log id, and renamed", ["a"]) {
            $0.follow()
            $0.lose()
            $0.insert("mine", at: 1)
            $0.connect()
            $0.hear(.error(code: .noSuchList, request: 2, retryAfter: 0, message: ""))
            $0.resume(after: 0)
            $0.hear(.renamed(list: 7, name: "new"))
        },
    ]
}
