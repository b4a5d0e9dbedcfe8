import HandCore
import HandFormats

// Named questions about lists: edge cases, and deltas that do not fit.

extension Vectors {
    private static func member(_ key: String, _ items: [Item]) -> JSONValue.Member {
        .init(key, JSON.items(items))
    }

    private static func delta(_ components: JSONValue..., name: String = "delta") -> JSONValue.Member {
        .init(name, .array(components))
    }

    /// One item of every kind.
    private static let kinds: [Item] = [
        .card(.faceUp(.queen, .spades)), .note("n"), .task("t", done: true), .link("l", url: "u"), .heading("h"),
        .unknown(Content.Kind(rawValue: 900), [1, 2]),
    ].enumerated().map { Item(id: ItemID(rawValue: UInt64($0 + 1)), content: $1) }

    // MARK: apply

    static var namedApply: [Question] {
        let two = member("list", tasks(2))
        let new = JSON.items([task(101, "x")])
        let second = [task(102, "y")]
        func renewed(_ old: String) -> JSONValue { JSON.splices(TextChange(from: old, to: "new")) }
        func splice(_ at: Int, _ removed: String, _ inserted: String) -> JSONValue {
            ["at": JSONValue(at), "removed": .string(removed), "inserted": .string(inserted)]
        }
        let edits: [JSONValue] = [
            ["edit": ["card": "2♦"]], ["edit": ["text": renewed("n")]],
            ["edit": ["text": renewed("t"), "done": false]],
            ["edit": ["text": renewed("l"), "url": renewed("u")]], ["edit": ["text": renewed("h")]],
            ["edit": ["bytes": "AA=="]],
        ]
        return [
            Question("the identity", two, delta()),
            Question(
                "an insertion into the empty list", member("list", []), delta(["insert": new, "side": "after"])),
            Question("an edit of every kind", member("list", kinds), .init("delta", .array(edits))),
            Question(
                "a form that is not normal",
                two, delta(["keep": 0], ["delete": 1], ["delete": 1], ["insert": [], "side": "after"])),
            Question(
                "another form that is not normal: after stands behind before",
                two, delta(["insert": new, "side": "before"], ["insert": JSON.items(second), "side": "after"])),
            Question("a form that is not normal: keeps more than there is", two, delta(["keep": 3])),
            Question("error: deletes more than there is", two, delta(["delete": 3])),
            Question("error: keeps more than there is", two, delta(["keep": 3], ["insert": new, "side": "after"])),
            Question("error: edits behind the end", two, delta(["keep": 2], ["edit": ["done": true]])),
            Question("error: a URL for a task", two, delta(["edit": ["url": [splice(0, "", "u")]]])),
            Question(
                "error: a moved task gets bytes",
                two, delta(["pick": 1], ["drop": [0, 1], "side": "after", "change": ["bytes": ""]])),
            Question("error: a pick without a drop", two, delta(["pick": 1])),
            Question("error: a drop without a pick", two, delta(["drop": [0, 1], "side": "before"])),
            Question(
                "error: a slot dropped twice",
                two, delta(["pick": 1], ["drop": [0, 1], "side": "after"], ["drop": [0, 1], "side": "after"])),
            Question(
                "error: a change for a block",
                two, delta(["pick": 2], ["drop": [0, 2], "side": "after", "change": ["done": true]])),
            Question(
                "a form that is not normal: splices that touch, and one that changes nothing",
                two, delta(["edit": ["text": [splice(0, "a", "x"), splice(1, "", "y"), splice(1, "", "")]]])),
            Question(
                "error: text: splices that overlap",
                two, delta(["edit": ["text": [splice(0, "ab", "x"), splice(1, "b", "y")]]])),
            Question("error: text: removes other words", two, delta(["edit": ["text": [splice(0, "b", "x")]]])),
            Question("error: text: behind its end", two, delta(["edit": ["text": [splice(2, "", "x")]]])),
            Question(
                "error: text: within a character",
                member("list", [task(1, "é")]), delta(["edit": ["text": [splice(1, "", "x")]]])),
            Question(
                "error: text: removes more than there is", two, delta(["edit": ["text": [splice(0, "abcdef", "")]]])),
            Question(
                "error: text: not in order",
                member("list", [task(1, "abc")]),
                delta(["edit": ["text": [splice(2, "c", "x"), splice(0, "a", "y")]]])),
            Question(
                "error: text: removes the end of a character and what is behind it",
                member("list", [task(1, "é!")]), delta(["edit": ["text": [splice(1, "!", "x")]]])),
            Question(
                "texts of wide characters, changed at their ends",
                member("list", [task(1, "日本é👩‍👩‍👧")]),
                delta(["edit": ["text": [splice(0, "", "→"), splice(6, "é", "e"), splice(26, "", "!")]]])),
            Question(
                "an empty text gets words",
                member("list", [task(1, "")]), delta(["edit": ["text": [splice(0, "", "é")]]])),
            Question(
                "all words of a text go",
                member("list", [task(1, "é b")]), delta(["edit": ["text": [splice(0, "é b", "")]]])),
            Question("error: an empty change", two, delta(["edit": [:]])),
            Question("error: no splices", two, delta(["edit": ["text": []]])),
            Question(
                "error: only a splice that changes nothing", two, delta(["edit": ["text": [splice(0, "a", "a")]]])),
            Question("error: a text that is set", two, delta(["edit": ["text": "b"]])),
            Question(
                "error: a splice without what it inserts",
                two, delta(["edit": ["text": [["at": 0, "removed": "a"]]]])),
            Question(
                "error: a field that no change has", two, delta(["edit": ["text": renewed("a"), "dnoe": true]])),
            Question("error: no sort of component", two, delta(["move": 1])),
            Question("error: a negative count", two, delta(["keep": -1])),
            Question("error: no side", two, delta(["insert": new])),
            Question(
                "error: an unknown kind by name",
                two, delta(["insert": [["id": "0000000000000", "kind": "tsk"]], "side": "after"])),
            Question("error: an id twice in the list", member("list", tasks(1) + tasks(1)), delta()),
        ]
    }

    // MARK: compose

    static var namedCompose: [Question] {
        func pair(_ name: String, _ first: Delta, _ second: Delta) -> Question {
            Question(name, on: tasks(3), first, second)
        }
        let x = [task(101, "x"), task(102, "y")]
        return [
            pair("an insertion and its deletion", .inserting(x, at: 1, .after), .deleting(1..<3)),
            pair(
                "an insertion into an insertion", .inserting(x, at: 1, .after),
                .inserting([task(103, "z")], at: 2, .before)),
            pair("a move and the move back", .moving(0..<1, to: 3, .before), .moving(2..<3, to: 0, .after)),
            pair("a move and a deletion of what was moved", .moving(0..<2, to: 3, .before), .deleting(1..<2)),
            pair(
                "an edit and an edit of another field", .editing(at: 0, Change(text: "a", to: "n")),
                .editing(at: 0, Change(done: true))),
            pair(
                "an edit and an edit of the same field", .editing(at: 0, Change(text: "a", to: "n")),
                .editing(at: 0, Change(text: "n", to: "m"))),
            pair(
                "a text, and a word of it", .editing(at: 0, Change(text: "a", to: "a b c")),
                .editing(at: 0, Change(text: "a b c", to: "a B c"))),
            pair(
                "words added, and some of them removed", .editing(at: 0, Change(text: "a", to: "a b c")),
                .editing(at: 0, Change(text: "a b c", to: "a c"))),
            pair("a move and an edit", .moving(0..<1, to: 3, .before), .editing(at: 2, Change(done: true))),
            pair("an insertion and an edit of it", .inserting(x, at: 0, .after), .editing(at: 0, Change(done: true))),
            pair("an insertion and a move of it", .inserting(x, at: 0, .after), .moving(0..<1, to: 5, .before)),
            pair("error: the second does not fit the list in between", .deleting(0..<3), .deleting(0..<1)),
        ]
    }

    // MARK: invert, diff, digest

    static func namedLists(_ law: Law) -> [Question] {
        let reversed = Array(kinds.reversed())
        switch law {
        case .invert:
            return [
                Question("the identity", member("list", kinds), delta()),
                Question("all deleted", member("list", kinds), delta(["delete": 6])),
                Question(
                    "all moved", member("list", kinds), delta(["pick": 6], ["drop": [0, 6], "side": "before"])),
                Question("error: does not fit", member("list", tasks(1)), delta(["delete": 2])),
            ]
        case .diff:
            let others = [Item(id: kinds[0].id, content: .note("another kind"))]
            return [
                Question("from nothing to nothing", member("from", []), member("to", [])),
                Question("from nothing", member("from", []), member("to", kinds)),
                Question("to nothing", member("from", kinds), member("to", [])),
                Question("reversed", member("from", kinds), member("to", reversed)),
                Question("an item of another kind with the same id", member("from", kinds), member("to", others)),
                Question("error: an id twice", member("from", kinds), member("to", kinds + kinds)),
            ]
        default:
            let texts = VectorSource.texts.enumerated().map {
                Item(id: ItemID(rawValue: UInt64.max - UInt64($0)), content: .note($1))
            }
            return [
                Question("the empty list", member("list", [])),
                Question("every kind", member("list", kinds)),
                Question("every kind, reversed", member("list", reversed)),
                Question("texts that are easy to get wrong", member("list", texts)),
                Question("every card", member("list", (0...52).map { cardItem(UInt8($0)) })),
            ]
        }
    }

    private static func cardItem(_ code: UInt8) -> Item {
        Item(id: ItemID(rawValue: UInt64(code)), content: .card(Card(code: code) ?? .faceDown))
    }

    // MARK: map

    static var namedMap: [Question] {
        let new = JSON.items([task(101, "x")])
        let insert = delta(["keep": 1], ["insert": new, "side": "before"])
        let move = delta(["pick": 2], ["keep": 1], ["drop": [0, 2], "side": "after"])
        return [
            Question("a deleted item", delta(["delete": 2]), .init("index", 1)),
            Question("behind a deletion", delta(["delete": 2]), .init("index", 2)),
            Question("a moved item", move, .init("index", 1)),
            Question("an item that others were moved past", move, .init("index", 2)),
            Question("a cursor after, where something is inserted", insert, .init("gap", 1), .init("side", "after")),
            Question(
                "a cursor before, where something is inserted", insert, .init("gap", 1), .init("side", "before")),
            Question("error: a negative index", insert, .init("index", -1)),
            Question("error: a gap without a side", insert, .init("gap", 1)),
        ]
    }
}
