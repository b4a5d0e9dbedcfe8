import HandCore
import HandWire

/// Somebody overrides what the client has committed.
extension Scenarios {
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

    static let telling: [Scenario] = [
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
