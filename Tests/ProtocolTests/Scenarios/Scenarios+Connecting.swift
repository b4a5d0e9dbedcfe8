import HandCore
import HandWire

/// A connection begins, is lost, or ends.
extension Scenarios {
    static let connecting: [Scenario] = [
        Scenario("connected: a list of which it has nothing") { $0.connect() },
        Scenario("connected: an answer to another request") {
            $0.connect()
            $0.answer(.resumed(head: 0, digest: 0), request: 77)
            $0.insert("mine", at: 0)
            $0.snapshot()
        },
        Scenario("lost: what is in flight is sent again under its sequence", ["a"]) {
            $0.follow()
            $0.insert("mine", at: 1)
            $0.insert("waits", at: 0)
            $0.lose()
            $0.connect()
            $0.resume(after: 0)
            $0.accept()
        },
        Scenario("lost: what is in flight was committed meanwhile", ["a"]) {
            $0.follow()
            $0.insert("mine", at: 1)
            $0.lose()
            $0.accept(isSent: false)
            $0.others("theirs", at: 0, isSent: false)
            $0.connect()
            $0.resume(after: 0, last: 1)
        },
        Scenario("lost: under another name, what is in flight was committed under the former one", ["a"]) {
            $0.follow()
            $0.insert("mine", at: 1)
            $0.insert("waits", at: 0)
            $0.lose()
            $0.accept(isSent: false)
            $0.connect(as: 3)
            $0.resume(after: 0, last: 1)
            $0.commit($0.carriedSubmission ?? .identity, author: 3, sequence: 2)
        },
        Scenario("lost: under another name, what is in flight is sent again", ["a"]) {
            $0.follow()
            $0.insert("mine", at: 1)
            $0.lose()
            $0.connect(as: 3)
            $0.resume(after: 0)
            $0.commit($0.carriedSubmission ?? .identity, author: 3, sequence: 1)
        },
        Scenario("malformed: bytes that nobody understands", ["a"]) {
            $0.follow()
            $0.hear([2, 99, 0])
        },
        Scenario("error message: one that closes, and may be retried", ["a"]) {
            $0.follow()
            $0.hear(.error(code: .shuttingDown, request: 0, retryAfter: 100, message: "stopping"))
        },
    ]
}
