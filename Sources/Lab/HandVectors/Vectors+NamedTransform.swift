import HandCore
import HandFormats

// Conflicts, in the order of the table in `Protocol.md`, “Merging”.

extension Vectors {
    /// Returns tasks `a`, `b`, `c`… with the ids 1, 2, 3…
    static func tasks(_ count: Int) -> [Item] {
        (0..<count).map { task(UInt64($0 + 1), String(UnicodeScalar(UInt8(ascii: "a") + UInt8($0)))) }
    }

    static func task(_ id: UInt64, _ text: String) -> Item {
        Item(id: ItemID(rawValue: id), content: .task(text, done: false))
    }

    private static let x = [task(101, "x")]
    private static let y = [task(102, "y")]
    private static let xs = [task(101, "x1"), task(103, "x2")]
    private static let ys = [task(102, "y1"), task(104, "y2")]

    static var namedTransform: [Question] {
        insertions + removals + moves + edits + texts + blocks + misfits
    }

    private static func diamond(_ name: String, on count: Int = 3, _ first: Delta, _ second: Delta) -> Question {
        Question(name, on: tasks(count), first, second)
    }

    private static var insertions: [Question] {
        let sides: [(String, Side)] = [("after", .after), ("before", .before)]
        let inOneGap = sides.flatMap { first in
            sides.map { second in
                diamond(
                    "insert / insert in one gap: \(first.0), \(second.0)", on: 2, .inserting(xs, at: 1, first.1),
                    .inserting(ys, at: 1, second.1))
            }
        }
        return inOneGap + [
            diamond("append / append", .inserting(x, at: 3, .before), .inserting(y, at: 3, .before)),
            diamond(
                "append / append on an empty list", on: 0, .inserting(x, at: 0, .before), .inserting(y, at: 0, .before)),
            diamond("to the top / to the top", .inserting(x, at: 0, .after), .inserting(y, at: 0, .after)),
            diamond(
                "to the top / append on an empty list", on: 0, .inserting(x, at: 0, .after),
                .inserting(y, at: 0, .before)),
            diamond(
                "a deletion merges two gaps: later before, earlier after", on: 2,
                VectorSource.certain { try Delta([.insert(x, .before), .delete(1), .insert(x1, .after)]) },
                VectorSource.certain { try Delta([.keep(1), .insert(y, .after)]) }),
            diamond("an edit of nothing / an insertion", on: 2, .identity, Delta.inserting(y, at: 1, .after)),
        ]
    }

    private static let x1 = [task(103, "x1")]

    private static var removals: [Question] {
        let set = Change(text: "b", to: "new")
        return [
            diamond("delete / delete", .deleting(1..<2), .deleting(1..<2)),
            diamond("delete / delete of overlapping runs", on: 4, .deleting(0..<3), .deleting(1..<4)),
            diamond("delete / move", .deleting(1..<2), .moving(1..<2, to: 3, .before)),
            diamond("move / delete", .moving(1..<2, to: 3, .before), .deleting(1..<2)),
            diamond("delete / edit", .deleting(1..<2), .editing(at: 1, set)),
            diamond("edit / delete", .editing(at: 1, set), .deleting(1..<2)),
            diamond("insert / delete of both neighbours", on: 2, .inserting(x, at: 1, .after), .deleting(0..<2)),
            diamond("delete of both neighbours / insert", on: 2, .deleting(0..<2), .inserting(y, at: 1, .before)),
        ]
    }

    private static var moves: [Question] {
        [
            diamond("move / move of one item", .moving(1..<2, to: 0, .after), .moving(1..<2, to: 3, .before)),
            diamond(
                "move / move of one item to one place", .moving(0..<1, to: 2, .after), .moving(0..<1, to: 2, .after)),
            diamond(
                "move / move of two items into one gap", .moving(0..<1, to: 3, .before), .moving(1..<2, to: 3, .before)),
            diamond("move / move that cross", on: 4, .moving(0..<1, to: 4, .before), .moving(3..<4, to: 0, .after)),
            diamond("insert / move into one gap", .inserting(x, at: 2, .after), .moving(0..<1, to: 2, .after)),
            diamond("move to its own place / move away", .moving(1..<2, to: 1, .after), .moving(1..<2, to: 3, .after)),
        ]
    }

    private static var edits: [Question] {
        let moveAndEdit = VectorSource.certain {
            try Delta([.pick(1), .keep(2), .drop(0..<1, .before, Change(text: "a", to: "moved"))])
        }
        return [
            diamond(
                "edit / edit of different fields", .editing(at: 0, Change(text: "a", to: "new")),
                .editing(at: 0, Change(done: true))),
            diamond(
                "edit / edit of the same field", .editing(at: 0, Change(text: "a", to: "one")),
                .editing(at: 0, Change(text: "a", to: "two"))),
            diamond(
                "edit / edit of one field in common", .editing(at: 0, Change(text: "a", to: "one", done: true)),
                .editing(at: 0, Change(text: "a", to: "two"))),
            diamond("edit / move", .editing(at: 0, Change(text: "a", to: "new")), .moving(0..<1, to: 3, .before)),
            diamond("move / edit", .moving(0..<1, to: 3, .before), .editing(at: 0, Change(text: "a", to: "new"))),
            diamond(
                "edited move / edit of the same field", on: 3, moveAndEdit,
                Delta.editing(at: 0, Change(text: "a", to: "two"))),
            diamond(
                "edit of the same field / edited move", on: 3, Delta.editing(at: 0, Change(text: "a", to: "two")),
                moveAndEdit),
            diamond(
                "edited move / move of the same item", on: 3, moveAndEdit, Delta.moving(0..<1, to: 2, .before)),
        ]
    }

    /// Returns a question in which two people change one text.
    private static func rewording(_ name: String, _ text: String, _ first: String, _ second: String) -> Question {
        rewording(name, text, TextChange(from: text, to: first), TextChange(from: text, to: second))
    }

    private static func rewording(_ name: String, _ text: String, _ first: TextChange, _ second: TextChange) -> Question
    {
        changing("texts: \(name)", text, first, second)
    }

    private static func changing(_ name: String, _ text: String, _ first: TextChange, _ second: TextChange) -> Question
    {
        Question(
            name, on: [Item(id: ItemID(rawValue: 1), content: .note(text))], .editing(at: 0, Change(text: first)),
            .editing(at: 0, Change(text: second)))
    }

    private static var texts: [Question] {
        func splices(_ splices: Splice...) -> TextChange {
            VectorSource.certain { try TextChange(splices) }
        }
        let link = Item(id: ItemID(rawValue: 1), content: .link("docs", url: "https://example.org/a"))
        let (both, address) = (link.content.rewording("the docs"), link.content.rewording(url: "https://example.org/b"))
        return [
            rewording("different words", "milk and butter", "oat milk and butter", "milk and salted butter"),
            rewording("one word, two ways", "12 eggs", "13 eggs", "22 eggs"),
            rewording("one word, the same way", "12 eggs", "13 eggs", "13 eggs"),
            rewording("two add at one place", "cheese", "cheese [one]", "cheese [two]"),
            rewording("removed / a word within replaced", "a b c d", "a d", "a B c d"),
            rewording("a word within replaced / removed", "a b c d", "a B c d", "a d"),
            rewording("replaced / an insertion at its start", "milk", "cheese", "oat milk"),
            rewording(
                "replaced / an insertion at its start, as it is sent", "milk",
                splices(Splice(at: 0, removed: "milk", inserted: "cheese")),
                splices(Splice(at: 0, removed: "", inserted: "oat "))),
            rewording(
                "replaced / an insertion within", "milk", splices(Splice(at: 0, removed: "milk", inserted: "cheese")),
                splices(Splice(at: 2, removed: "", inserted: "xx"))),
            rewording(
                "a chain of overlaps", "a b c d e",
                splices(
                    Splice(at: 0, removed: "a b", inserted: "1"), Splice(at: 4, removed: "c d", inserted: "2")),
                splices(Splice(at: 2, removed: "b c", inserted: "3"), Splice(at: 8, removed: "e", inserted: "4"))),
            rewording("ideographs are words", "買牛奶和雞蛋", "買豆奶和雞蛋", "買牛奶和鴨蛋"),
            rewording("behind characters of several bytes", "é 👩‍👩‍👧 milk", "é 👩‍👩‍👧 oat milk", "e 👩‍👩‍👧 milk"),
            rewording("all removed / a word added", "milk", "", "milk 2 l"),
            rewording("an empty text gets words twice", "", "milk", "bread"),
            rewording("all removed, both", "milk", "", ""),
            rewording(
                "replaced / an insertion at its end", "milk",
                splices(Splice(at: 0, removed: "milk", inserted: "cheese")),
                splices(Splice(at: 4, removed: "", inserted: " 2 l"))),
            rewording(
                "replaced parts that touch", "abcd", splices(Splice(at: 0, removed: "ab", inserted: "x")),
                splices(Splice(at: 2, removed: "cd", inserted: "y"))),
            rewording(
                "replaced / insertions at its start, within it and at its end", "abcd",
                splices(Splice(at: 1, removed: "bc", inserted: "X")),
                splices(
                    Splice(at: 1, removed: "", inserted: "1"), Splice(at: 2, removed: "", inserted: "2"),
                    Splice(at: 3, removed: "", inserted: "3"))),
            rewording(
                "insertions within one that is removed / removed", "abcd",
                splices(Splice(at: 1, removed: "", inserted: "1"), Splice(at: 3, removed: "", inserted: "3")),
                splices(Splice(at: 0, removed: "abcd", inserted: ""))),
            rewording(
                "wide characters overlap", "日本é🂡!",
                splices(Splice(at: 3, removed: "本é", inserted: "x"), Splice(at: 12, removed: "!", inserted: "")),
                splices(Splice(at: 0, removed: "日", inserted: ""), Splice(at: 6, removed: "é🂡", inserted: "日本"))),
            rewording(
                "one character of several code points, changed within", "e\u{301}",
                splices(Splice(at: 1, removed: "\u{301}", inserted: "\u{300}")),
                splices(Splice(at: 0, removed: "", inserted: "a"))),
            Question(
                "texts: a text and an address", on: [link], .editing(at: 0, both), .editing(at: 0, address)),
        ]
    }

    private static var blocks: [Question] {
        [
            diamond(
                "block move / insert inside the block", on: 4, .moving(1..<3, to: 0, .after),
                .inserting(y, at: 2, .after)),
            diamond(
                "insert inside the block / block move", on: 4,
                .inserting(x, at: 2, .before), .moving(1..<3, to: 4, .before)),
            diamond(
                "block move / one of its items moved later", on: 4, .moving(0..<3, to: 4, .before),
                .moving(1..<2, to: 0, .after)),
            diamond(
                "one item moved / a block with it moved later", on: 4, .moving(1..<2, to: 0, .after),
                .moving(0..<3, to: 4, .before)),
            diamond("block move / one of its items deleted", on: 4, .moving(0..<3, to: 4, .before), .deleting(1..<2)),
            diamond(
                "block move / overlapping block move", on: 5,
                .moving(0..<3, to: 5, .before), .moving(2..<4, to: 0, .after)),
            diamond(
                "block dropped into its own middle / insert there", on: 4, .moving(1..<3, to: 2, .after),
                .inserting(y, at: 2, .after)),
            diamond(
                "insert into a run / paste into the same run", on: 2, .inserting(xs, at: 1, .before),
                .inserting(ys, at: 1, .before)),
        ]
    }

    private static var misfits: [Question] {
        [
            diamond("error: the first does not fit", on: 1, .deleting(0..<2), .deleting(0..<1)),
            diamond(
                "error: the second sets a field that a task does not have", on: 1, .deleting(0..<1),
                .editing(at: 0, Change(url: TextChange(from: "", to: "u")))),
            changing(
                "error: texts: the second removes words that are not there", "milk", TextChange(),
                TextChange(from: "cheese", to: "bread")),
        ]
    }
}
