import HandCore
import HandWire

/// The server answers a submission, or says something about the list.
extension Scenarios {
    static let answers: [Scenario] = [
        Scenario("rejected: what is in flight is undone", ["a"]) {
            $0.follow()
            $0.insert("mine", at: 1)
            $0.edit(Self.reword(0, "a", "A"))
            $0.hear(.rejected(list: 7, sequence: 1, .notStored))
            $0.accept()
        },
        Scenario("rejected: a sequence that is not in flight", ["a"]) {
            $0.follow()
            $0.insert("mine", at: 1)
            $0.hear(.rejected(list: 7, sequence: 9, .notStored))
            $0.accept()
        },
        Scenario("stale: sent again once it has caught up", ["a"]) {
            $0.follow()
            $0.insert("mine", at: 1)
            for text in ["x", "y"] { $0.others(text, at: 0, isSent: false) }
            $0.hear(.stale(list: 7, sequence: 1, head: 2))
            for commit in $0.commits { $0.hear(.commit(list: 7, commit)) }
            $0.accept()
        },
        Scenario("stale: a sequence that is not in flight", ["a"]) {
            $0.follow()
            $0.insert("mine", at: 1)
            $0.hear(.stale(list: 7, sequence: 9, head: 1))
            $0.others("theirs", at: 0)
            $0.accept()
        },
        Scenario("stale: the commits are here already", ["a"]) {
            $0.follow()
            $0.insert("mine", at: 1)
            $0.others("theirs", at: 0)
            $0.hear(.stale(list: 7, sequence: 1, head: 1))
            $0.accept()
        },
        Scenario("stale: the base was the newest revision", ["a"]) {
            $0.follow()
            $0.insert("mine", at: 1)
            $0.hear(.stale(list: 7, sequence: 1, head: 0))
        },
        Scenario("acknowledged: its commit is still to come", ["a"]) {
            $0.follow()
            $0.insert("mine", at: 1)
            $0.hear(.acknowledged(list: 7, sequence: 1, revision: 1))
            $0.accept()
        },
        Scenario("acknowledged: a commit that is here and was not one's own", ["a"]) {
            $0.follow()
            $0.insert("mine", at: 1)
            $0.others("theirs", at: 0)
            $0.hear(.acknowledged(list: 7, sequence: 1, revision: 1))
            $0.accept()
        },
        Scenario("acknowledged: while a snapshot is awaited because the list has diverged", ["a"]) {
            $0.follow()
            $0.insert("mine", at: 1)
            $0.others("theirs", at: 0)
            $0.wrongCommit { $0.digest = 12 }
            $0.hear(.acknowledged(list: 7, sequence: 1, revision: 1))
            $0.snapshot(last: 1)
        },
        Scenario("acknowledged: too long ago", ["a"]) {
            $0.follow()
            $0.insert("mine", at: 1)
            $0.hear(.acknowledged(list: 7, sequence: 1, revision: 0))
            $0.resume(after: 0, last: 4)
        },
        Scenario("acknowledged: a sequence that is not in flight", ["a"]) {
            $0.follow()
            $0.insert("mine", at: 1)
            $0.hear(.acknowledged(list: 7, sequence: 9, revision: 0))
            $0.accept()
        },
        Scenario("error message: not subscribed, so it subscribes and sends again", ["a"]) {
            $0.follow()
            $0.insert("mine", at: 1)
            $0.hear(.error(code: .notSubscribed, request: 7, retryAfter: 0, message: ""))
            $0.resume(after: 0)
        },
        Scenario("error message: not subscribed, to another list", ["a"]) {
            $0.follow()
            $0.hear(.error(code: .notSubscribed, request: 8, retryAfter: 0, message: ""))
        },
        Scenario("error message: the answer to something else", ["a"]) {
            $0.follow()
            $0.hear(.error(code: .noSuchList, request: 99, retryAfter: 0, message: ""))
            $0.others("theirs", at: 0)
        },
        Scenario("error message: there is no such list") {
            $0.connect()
            $0.hear(.error(code: .noSuchList, request: 1, retryAfter: 0, message: ""))
        },
        Scenario("error message: the list was deleted", ["a"]) {
            $0.follow()
            $0.hear(.error(code: .listDeleted, request: 1, retryAfter: 0, message: ""))
        },
        Scenario("renamed: another list", ["a"]) {
            $0.follow()
            $0.hear(.renamed(list: 8, name: "new"))
        },
        Scenario("renamed: while a subscription is asked for by its name", ["a"]) {
            $0.follow()
            $0.wrongCommit { $0.digest = 12 }
            $0.hear(.renamed(list: 7, name: "new"))
            $0.snapshot()
        },
        Scenario("renamed: found by its log id, under the same name", ["a"]) {
            $0.follow()
            $0.lose()
            $0.insert("mine", at: 1)
            $0.connect()
            $0.hear(.error(code: .noSuchList, request: 2, retryAfter: 0, message: ""))
            $0.resume(after: 0)
            $0.hear(.renamed(list: 7, name: "list"))
        },
        Scenario("renamed: a list that is followed", ["a"]) {
            $0.follow()
            $0.hear(.renamed(list: 7, name: "new"))
            $0.lose()
            $0.connect()
        },
    ]
}
