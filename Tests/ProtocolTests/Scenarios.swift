import HandCore
import HandWire

/// What happens to a client's machine, by handler: at least one scenario for each branch of each.
enum Scenarios {
    static let all = connecting + subscribed + chunk + commit + answers + edits + undoing + telling

    private static func reword(_ index: Int, _ old: String, _ new: String) -> Delta {
        .editing(at: index, Change(text: old, to: new))
    }

    private static let connecting: [Scenario] = [
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
        Scenario("malformed: bytes that nobody understands", ["a"]) {
            $0.follow()
            $0.hear([2, 99, 0])
        },
        Scenario("error message: one that closes, and may be retried", ["a"]) {
            $0.follow()
            $0.hear(.error(code: .shuttingDown, request: 0, retryAfter: 100, message: "stopping"))
        },
    ]

    private static let subscribed: [Scenario] = [
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

    private static let chunk: [Scenario] = [
        Scenario("chunk: one that nobody asked for", ["a"]) {
            $0.follow()
            $0.chunk(Array($0.hand))
        },
        Scenario("chunk: another list, on which nothing can be undone", ["a"]) {
            $0.follow()
            $0.insert("mine", at: 1)
            $0.accept()
            $0.lose()
            ($0.list, $0.logID) = (9, 0x3_0000_0006)
            $0.connect()
            $0.snapshot()
            $0.undo()
        },
        Scenario("chunk: what is exact stays so in the same history", ["a"]) {
            $0.follow()
            $0.edit(.deleting(0..<1), isExact: true)
            $0.lose()
            $0.others("theirs", at: 0, isSent: false)
            $0.connect()
            $0.snapshot()
        },
        Scenario("chunk: another history, what is exact and waits is taken back", ["a", "b"]) {
            $0.follow()
            $0.lose()
            $0.edit(.deleting(0..<1), isExact: true)
            $0.insert("mine", at: 1)
            $0.logID = 0x9_0000_0005
            $0.connect()
            $0.snapshot()
        },
        Scenario("chunk: the same revision with other commits", ["a"]) {
            $0.follow()
            $0.lose()
            $0.edit(.deleting(0..<1), isExact: true)
            $0.hand = Hand([Item(id: ItemID(rawValue: 1), content: .note("other"))])
            $0.connect()
            $0.snapshot()
        },
        Scenario("chunk: an item that was committed is gone already", ["a"]) {
            $0.follow()
            $0.insert("mine", at: 1)
            $0.lose()
            $0.accept(isSent: false)
            $0.commit(.deleting(1..<2), isSent: false)
            $0.connect()
            $0.snapshot(last: 1)
        },
        Scenario("chunk: the words of an item that was committed are others already", ["a"]) {
            $0.follow()
            $0.insert("mine", at: 1)
            $0.lose()
            $0.accept(isSent: false)
            $0.commit(Self.reword(1, "mine", "theirs"), isSent: false)
            $0.connect()
            $0.snapshot(last: 1)
        },
        Scenario("chunk: an item that was deleted is back", ["a"]) {
            $0.follow()
            $0.edit(.deleting(0..<1))
            $0.lose()
            let item = Array($0.hand)
            $0.accept(isSent: false)
            $0.commit(.inserting(item, at: 0, .after), isSent: false)
            $0.connect()
            $0.snapshot(last: 1)
        },
        Scenario("chunk: a move and a field are overridden already") {
            $0.hand = Hand((1...4).map { Item(id: ItemID(rawValue: $0), content: .task("\($0)", done: false)) })
            $0.follow()
            $0.edit(.moving(0..<1, to: 4, .before))
            $0.lose()
            $0.accept(isSent: false)
            $0.commit(.moving(3..<4, to: 0, .after), isSent: false)
            $0.connect()
            $0.snapshot(last: 1)
            $0.edit(.editing(at: 1, Change(done: true)))
            $0.lose()
            $0.accept(isSent: false)
            $0.commit(.editing(at: 1, Change(done: false)), isSent: false)
            $0.connect()
            $0.snapshot(last: 2)
        },
        Scenario("chunk: items arrive in pieces", ["a", "b", "c"]) {
            $0.connect()
            $0.beginSnapshot()
            $0.chunk(Array($0.hand)[..<2])
            $0.chunk(Array($0.hand)[2...])
        },
        Scenario("chunk: the snapshot arrives damaged", ["a", "b"]) {
            $0.connect()
            $0.beginSnapshot()
            $0.chunk(Array($0.hand).reversed())
        },
        Scenario("chunk: what is in flight is in the snapshot", ["a"]) {
            $0.follow()
            $0.insert("mine", at: 1)
            $0.insert("waits", at: 2)
            $0.lose()
            $0.accept(isSent: false)
            $0.others("theirs", at: 0, isSent: false)
            $0.connect()
            $0.snapshot(last: 1)
        },
        Scenario("chunk: what is in flight was refused", ["a"]) {
            $0.follow()
            $0.insert("mine", at: 1)
            $0.lose()
            $0.refuse(.storeFull(limit: 1), isSent: false)
            $0.others("theirs", at: 0, isSent: false)
            $0.connect()
            $0.snapshot(last: 1, isRefused: true)
        },
        Scenario("chunk: what is in flight is not in the snapshot", ["a", "b"]) {
            $0.follow()
            $0.insert("mine", at: 1)
            $0.lose()
            $0.commit(.deleting(0..<1), isSent: false)
            $0.others("theirs", at: 1, isSent: false)
            $0.connect()
            $0.snapshot()
        },
        Scenario("chunk: a later sequence is used, and the item in flight is there", ["a"]) {
            $0.follow()
            $0.insert("mine", at: 1)
            $0.lose()
            $0.accept(isSent: false)
            $0.connect()
            $0.snapshot(last: 4)
            $0.insert("next", at: 0)
        },
        Scenario("chunk: a later sequence is used, and the item in flight is not there", ["a"]) {
            $0.follow()
            $0.insert("mine", at: 1)
            $0.lose()
            $0.others("theirs", at: 0, isSent: false)
            $0.connect()
            $0.snapshot(last: 4)
        },
        Scenario("chunk: another history of the same list", ["a"]) {
            $0.follow()
            $0.others("lost", at: 0)
            $0.insert("mine", at: 2)
            $0.lose()
            $0.logID = 0x9_0000_0005
            $0.commit(.deleting(0..<1), isSent: false)
            $0.connect()
            $0.snapshot(last: 0)
        },
        Scenario("chunk: another history, what is exact is taken back", ["a"]) {
            $0.follow()
            $0.edit(.deleting(0..<1), isExact: true)
            $0.lose()
            $0.logID = 0x9_0000_0005
            $0.connect()
            $0.snapshot()
        },
        Scenario("chunk: what was committed is overridden already", ["a", "b"]) {
            $0.follow()
            $0.edit(.editing(at: 0, Change(text: "a", to: "mine")))
            $0.lose()
            $0.accept(isSent: false)
            $0.commit(Self.reword(0, "mine", "theirs"), isSent: false)
            $0.connect()
            $0.snapshot(last: 1)
        },
    ]

    private static let commit: [Scenario] = [
        Scenario("commit: one's own", ["a"]) {
            $0.follow()
            $0.insert("mine", at: 1)
            $0.accept()
        },
        Scenario("commit: one's own, after somebody else's", ["a", "b"]) {
            $0.follow()
            $0.insert("mine", at: 2)
            $0.others("theirs", at: 0)
            $0.accept()
        },
        Scenario("commit: one's own, and the next goes out", ["a"]) {
            $0.follow()
            $0.insert("mine", at: 1)
            $0.insert("next", at: 1)
            $0.accept()
            $0.accept()
        },
        Scenario("commit: one's own, with the card that was dealt") {
            $0.hand = Hand([], rules: .fiveCards)
            $0.follow()
            $0.edit(.inserting([Item(id: ItemID(rawValue: 50), content: .card(.faceDown))], at: 0, .after))
            $0.commit(
                .inserting([Item(id: ItemID(rawValue: 50), content: .card(.faceUp(.queen, .spades)))], at: 0, .after),
                author: 1, sequence: 1)
        },
        Scenario("commit: one's own, refused", ["a"]) {
            $0.follow()
            $0.insert("mine", at: 1)
            $0.insert("next", at: 0)
            $0.refuse(.storeFull(limit: 1))
        },
        Scenario("commit: somebody else's", ["a", "b"]) {
            $0.follow()
            $0.others("theirs", at: 1)
            $0.commit(.moving(0..<1, to: 3, .before))
        },
        Scenario("commit: somebody else's, refused", ["a"]) {
            $0.follow()
            $0.insert("mine", at: 1)
            $0.commit(.identity, refusal: .storeFull(limit: 1))
            $0.accept()
        },
        Scenario("commit: somebody else's, with edits in flight and waiting", ["a", "b"]) {
            $0.follow()
            $0.insert("mine", at: 1)
            $0.edit(.deleting(2..<3))
            $0.commit(Self.reword(1, "b", "B"))
            $0.others("theirs", at: 1)
            $0.accept()
            $0.accept()
        },
        Scenario("commit: one that is known", ["a"]) {
            $0.follow()
            $0.others("theirs", at: 1)
            $0.hear(.commit(list: 7, $0.commits[0]))
        },
        Scenario("commit: one is missing", ["a"]) {
            $0.follow()
            $0.wrongCommit { $0.revision = 2 }
            $0.snapshot()
        },
        Scenario("commit: the digest is another", ["a"]) {
            $0.follow()
            $0.insert("mine", at: 1)
            $0.wrongCommit { $0.digest = 12 }
            $0.others("theirs", at: 1)
            $0.snapshot()
        },
        Scenario("commit: the count is another", ["a"]) {
            $0.follow()
            $0.wrongCommit { $0.count = 12 }
        },
        Scenario("commit: one that does not fit", ["a"]) {
            $0.follow()
            $0.wrongCommit { $0.delta = .deleting(3..<4) }
        },
        Scenario("commit: while a snapshot arrives", ["a", "b"]) {
            $0.connect()
            $0.beginSnapshot()
            $0.wrongCommit { _ in }
            $0.chunk(Array($0.hand))
        },
        Scenario("commit: another edit under one's own sequence", ["a"]) {
            $0.follow()
            $0.insert("mine", at: 1)
            $0.commit(.deleting(0..<1), author: 1, sequence: 1)
            $0.accept()
        },
        Scenario("commit: another edit under one's own sequence, while catching up", ["a"]) {
            $0.follow()
            $0.insert("mine", at: 1)
            $0.lose()
            $0.commit(.deleting(0..<1), author: 1, sequence: 1, isSent: false)
            $0.others("theirs", at: 0, isSent: false)
            $0.connect()
            $0.resume(after: 0, last: 1)
        },
        Scenario("commit: one of one's own that is not in flight") {
            $0.hand = Hand([Item(id: ItemID(rawValue: 1), content: .task("a", done: false))])
            $0.follow()
            $0.edit(.editing(at: 0, Change(done: true)))
            $0.accept()
            $0.commit(.editing(at: 0, Change(done: false)), author: 1, sequence: 9, base: 0)
        },
        Scenario("commit: another edit under one's own sequence, after a snapshot", ["a"]) {
            $0.follow()
            $0.insert("mine", at: 1)
            $0.lose()
            $0.others("theirs", at: 1, isSent: false)
            $0.connect()
            $0.snapshot()
            $0.commit(
                .inserting([Item(id: ItemID(rawValue: 101), content: .note("mine"))], at: 2, .before), author: 1,
                sequence: 1)
            $0.snapshot(last: 1)
        },
    ]

    private static let answers: [Scenario] = [
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

    private static let edits: [Scenario] = [
        Scenario("edited: without a connection, joined into one submission", ["a"]) {
            $0.insert("early", at: 0)
            $0.insert("later", at: 1)
            $0.follow()
            $0.accept()
        },
        Scenario("edited: on what its author had not seen", ["a"]) {
            $0.follow()
            $0.insert("first", at: 1)
            $0.insert("second", at: 2)
            $0.others("theirs", at: 0)
            $0.accept()
            $0.accept()
        },
        Scenario("edited: exactly, and refused because the list has moved on", ["a"]) {
            $0.follow()
            $0.edit(.deleting(0..<1), isExact: true)
            $0.lose()
            $0.others("theirs", at: 0, isSent: false)
            $0.connect()
            $0.resume(after: 0)
            $0.hear(.rejected(list: 7, sequence: 1, .revisionMoved(now: 1)))
        },
    ]

    private static let undoing: [Scenario] = [
        Scenario("undo: an insertion, and redo", ["a"]) {
            $0.follow()
            $0.insert("mine", at: 1)
            $0.accept()
            $0.others("theirs", at: 0)
            $0.undo()
            $0.accept()
            $0.redo()
            $0.accept()
        },
        Scenario("undo: a deletion brings the same item back", ["a", "b"]) {
            $0.follow()
            $0.edit(.deleting(0..<1))
            $0.accept()
            $0.undo()
            $0.accept()
        },
        Scenario("undo: a deletion that was refused", ["a", "b", "c"]) {
            $0.follow()
            $0.edit(.deleting(0..<1))
            $0.hear(.rejected(list: 7, sequence: 1, .notStored))
            $0.edit(.deleting(1..<2))
            $0.accept()
            $0.undo()
            $0.accept()
            $0.undo()
        },
        Scenario("undo: a deletion that somebody else has undone", ["a", "b"]) {
            let item = $0.hand[0]
            $0.follow()
            $0.edit(.deleting(0..<1))
            $0.accept()
            $0.commit(.inserting([item], at: 1, .after))
            $0.undo()
        },
        Scenario("undo: a move, of an item that is gone", ["a", "b"]) {
            $0.follow()
            $0.edit(.moving(0..<1, to: 2, .before))
            $0.accept()
            $0.commit(.deleting(1..<2))
            $0.undo()
        },
        Scenario("undo: several levels, with others' edits in between, and all redone", ["a b", "c"]) {
            $0.follow()
            $0.edit(Self.reword(0, "a b", "a B"))
            $0.accept()
            $0.others("theirs", at: 0)
            $0.edit(.moving(1..<2, to: 3, .before))
            $0.accept()
            $0.commit(Self.reword(2, "a B", "A B"))
            for _ in 1...2 {
                $0.undo()
                $0.accept()
            }
            for _ in 1...2 {
                $0.redo()
                $0.accept()
            }
        },
        Scenario("undo: words that somebody has put in place of one's own stay", ["milk"]) {
            $0.follow()
            $0.edit(Self.reword(0, "milk", "oat milk, 2 l"))
            $0.accept()
            $0.commit(Self.reword(0, "oat milk, 2 l", "soy milk, 2 l"))
            $0.undo()
        },
        undone("words removed within what somebody has replaced", "a b c", "a c", "X", isLeft: false),
        undone("of a longer text, what nobody has touched", "x", "x a B c D e", "x a b c d e"),
        undone("of a longer text, behind its first word", "x", "x a B c", "x AA B c"),
        undone("of a longer text, before its last word", "x", "x a B c", "x a B cc"),
        undone("of a longer text, somebody writes within", "x", "x a B c", "x a new B c", isLeft: false),
        undone("of a replacement, its middle is others'", "one", "a b c", "a BB c"),
        Scenario("undo: levels below words that stay", ["one"]) {
            $0.follow()
            $0.edit(Self.reword(0, "one", "two"))
            $0.accept()
            $0.edit(Self.reword(0, "two", "three"))
            $0.accept()
            $0.commit(Self.reword(0, "three", "four"))
            $0.undo()
            $0.undo()
        },
        Scenario("undo: a new edit ends what can be redone", ["a"]) {
            $0.follow()
            $0.insert("mine", at: 1)
            $0.accept()
            $0.undo()
            $0.accept()
            $0.insert("other", at: 1)
            $0.redo()
        },
        Scenario("undo: nothing", ["a"]) {
            $0.follow()
            $0.undo()
        },
    ]

    /// An edit of a text is undone and redone, after somebody else has changed the text.
    ///
    /// - Parameter isLeft: whether anything is left of the undo.
    private static func undone(
        _ name: String, _ old: String, _ mine: String, _ theirs: String, isLeft: Bool = true
    ) -> Scenario {
        Scenario("undo: " + name, [old]) {
            $0.follow()
            $0.edit(Self.reword(0, old, mine))
            $0.accept()
            $0.commit(Self.reword(0, mine, theirs))
            $0.undo()
            if isLeft { $0.accept() }
            $0.redo()
        }
    }

    /// Somebody else's commit, made on `base`, after the client's own commit of revision 1.
    private static func told(
        _ name: String, _ content: [Content], _ mine: Delta, _ theirs: Delta, base: Int = 0
    ) -> Scenario {
        Scenario("commit: overriding, " + name) {
            $0.hand = Hand(content.enumerated().map { Item(id: ItemID(rawValue: UInt64($0 + 1)), content: $1) })
            $0.follow()
            $0.edit(mine)
            $0.accept()
            $0.commit(theirs, base: base)
        }
    }

    private static let telling: [Scenario] = [
        Scenario("commit: overriding, words that have moved since", ["milk"]) {
            $0.follow()
            $0.edit(Self.reword(0, "milk", "oat milk"))
            $0.accept()
            $0.edit(Self.reword(0, "oat milk", "oat milk today"))
            $0.accept()
            $0.commit(Self.reword(0, "oat milk today", "the oat milk today"), base: 2)
            $0.commit(Self.reword(0, "the oat milk today", "the soy milk tomorrow"), base: 0)
        },
        told(
            "a field", [.task("a", done: true)], .editing(at: 0, Change(done: false)),
            .editing(at: 0, Change(done: true))),
        told(
            "a field that was seen", [.task("a", done: true)], .editing(at: 0, Change(done: false)),
            .editing(at: 0, Change(done: true)), base: 1),
        told("words", [.note("milk")], reword(0, "milk", "oat milk"), reword(0, "oat milk", "soy milk")),
        told(
            "other words", [.note("milk, 1 l")], reword(0, "milk, 1 l", "milk, 2 l"),
            reword(0, "milk, 2 l", "soy milk, 2 l")),
        told(
            "words that were removed", [.note("fresh milk")], reword(0, "fresh milk", "milk"),
            reword(0, "milk", "fresh milk")),
        told(
            "an item, by deleting it", [.task("a", done: false)], .editing(at: 0, Change(done: true)), .deleting(0..<1)),
        told(
            "a move", [.note("a"), .note("b"), .note("c")], .moving(0..<1, to: 3, .before),
            .moving(2..<3, to: 0, .after)),
        Scenario("commit: overriding, a pending edit of an item that is deleted", ["a", "b"]) {
            $0.follow()
            $0.edit(Self.reword(0, "a", "mine"))
            $0.commit(.deleting(0..<1))
            $0.accept()
        },
    ]
}
