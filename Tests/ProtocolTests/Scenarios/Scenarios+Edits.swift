import HandCore
import HandWire

/// The person edits, undoes and redoes.
extension Scenarios {
    static let edits: [Scenario] = [
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

    static let undoing: [Scenario] = [
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
        Scenario("undo: a level below a deletion that somebody else has undone elsewhere", ["a", "b"]) {
            let item = $0.hand[0]
            $0.follow()
            $0.edit(.moving(1..<2, to: 0, .after))
            $0.accept()
            $0.edit(.deleting(1..<2))
            $0.accept()
            $0.commit(.inserting([item], at: 0, .after))
            $0.undo()
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
        Scenario("undo: not what has overridden somebody", ["milk", "b"]) {
            $0.follow()
            $0.insert("mine", at: 2)
            $0.accept()
            $0.edit(.deleting(0..<1))
            $0.commit(Self.reword(0, "milk", "oat milk"))
            $0.accept()
            $0.undo()
        },
        Scenario("undo: what has overridden somebody, as long as something is pending", ["milk", "b"]) {
            $0.follow()
            $0.edit(.deleting(0..<1))
            $0.insert("mine", at: 1)
            $0.commit(Self.reword(0, "milk", "oat milk"))
            $0.accept()
            $0.undo()
            $0.accept()
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
}
