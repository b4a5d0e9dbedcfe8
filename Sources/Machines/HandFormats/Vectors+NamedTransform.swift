import HandCore

// The conflicts that the protocol decides, row by row of the table in `Protocol.md`, “Merging”.

extension Vectors {
    /// Tasks `a`, `b`, `c`… with the ids 1, 2, 3…
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
        insertions + removals + moves + edits + blocks + misfits
    }

    private static func diamond(
        _ name: String, on count: Int = 3, _ first: Operation, _ second: Operation
    ) -> Question {
        diamond(name, on: count, first.delta, second.delta)
    }

    private static func diamond(_ name: String, on count: Int, _ first: Delta, _ second: Delta) -> Question {
        Question(
            name,
            [
                .init("list", JSON.items(tasks(count))), .init("first", JSON.delta(first)),
                .init("second", JSON.delta(second)),
            ])
    }

    private static var insertions: [Question] {
        let sides: [(String, Side)] = [("after", .after), ("before", .before)]
        let inOneGap = sides.flatMap { first in
            sides.map { second in
                diamond(
                    "insert / insert in one gap: \(first.0), \(second.0)", on: 2, .insert(xs, at: 1, first.1),
                    .insert(ys, at: 1, second.1))
            }
        }
        return inOneGap + [
            diamond("append / append", .insert(x, at: 3, .before), .insert(y, at: 3, .before)),
            diamond("append / append on an empty list", on: 0, .insert(x, at: 0, .before), .insert(y, at: 0, .before)),
            diamond("to the top / to the top", .insert(x, at: 0, .after), .insert(y, at: 0, .after)),
            diamond(
                "to the top / append on an empty list", on: 0, .insert(x, at: 0, .after), .insert(y, at: 0, .before)),
            diamond(
                "a deletion merges two gaps: later before, earlier after", on: 2,
                VectorSource.delta([.insert(x, .before), .delete(1), .insert(x1, .after)]),
                VectorSource.delta([.keep(1), .insert(y, .after)])),
            diamond("an edit of nothing / an insertion", on: 2, .identity, Operation.insert(y, at: 1, .after).delta),
        ]
    }

    private static let x1 = [task(103, "x1")]

    private static var removals: [Question] {
        let set = Change(text: "new")
        return [
            diamond("delete / delete", .delete(1..<2), .delete(1..<2)),
            diamond("delete / delete of overlapping runs", on: 4, .delete(0..<3), .delete(1..<4)),
            diamond("delete / move", .delete(1..<2), .move(1..<2, to: 3, .before)),
            diamond("move / delete", .move(1..<2, to: 3, .before), .delete(1..<2)),
            diamond("delete / edit", .delete(1..<2), .edit(at: 1, set)),
            diamond("edit / delete", .edit(at: 1, set), .delete(1..<2)),
            diamond("insert / delete of both neighbours", on: 2, .insert(x, at: 1, .after), .delete(0..<2)),
            diamond("delete of both neighbours / insert", on: 2, .delete(0..<2), .insert(y, at: 1, .before)),
        ]
    }

    private static var moves: [Question] {
        [
            diamond("move / move of one item", .move(1..<2, to: 0, .after), .move(1..<2, to: 3, .before)),
            diamond("move / move of one item to one place", .move(0..<1, to: 2, .after), .move(0..<1, to: 2, .after)),
            diamond(
                "move / move of two items into one gap", .move(0..<1, to: 3, .before), .move(1..<2, to: 3, .before)),
            diamond("move / move that cross", on: 4, .move(0..<1, to: 4, .before), .move(3..<4, to: 0, .after)),
            diamond("insert / move into one gap", .insert(x, at: 2, .after), .move(0..<1, to: 2, .after)),
            diamond("move to its own place / move away", .move(1..<2, to: 1, .after), .move(1..<2, to: 3, .after)),
        ]
    }

    private static var edits: [Question] {
        let moveAndEdit = VectorSource.delta([.pick(1), .keep(2), .drop(0..<1, .before, Change(text: "moved"))])
        return [
            diamond(
                "edit / edit of different fields", .edit(at: 0, Change(text: "new")), .edit(at: 0, Change(done: true))),
            diamond(
                "edit / edit of the same field", .edit(at: 0, Change(text: "one")), .edit(at: 0, Change(text: "two"))),
            diamond(
                "edit / edit of one field in common", .edit(at: 0, Change(text: "one", done: true)),
                .edit(at: 0, Change(text: "two"))),
            diamond("edit / move", .edit(at: 0, Change(text: "new")), .move(0..<1, to: 3, .before)),
            diamond("move / edit", .move(0..<1, to: 3, .before), .edit(at: 0, Change(text: "new"))),
            diamond(
                "edited move / edit of the same field", on: 3, moveAndEdit,
                Operation.edit(at: 0, Change(text: "two")).delta),
            diamond(
                "edit of the same field / edited move", on: 3, Operation.edit(at: 0, Change(text: "two")).delta,
                moveAndEdit),
            diamond(
                "edited move / move of the same item", on: 3, moveAndEdit, Operation.move(0..<1, to: 2, .before).delta),
        ]
    }

    private static var blocks: [Question] {
        [
            diamond(
                "block move / insert inside the block", on: 4, .move(1..<3, to: 0, .after), .insert(y, at: 2, .after)),
            diamond(
                "insert inside the block / block move", on: 4,
                .insert(x, at: 2, .before), .move(1..<3, to: 4, .before)),
            diamond(
                "block move / one of its items moved later", on: 4, .move(0..<3, to: 4, .before),
                .move(1..<2, to: 0, .after)),
            diamond(
                "one item moved / a block with it moved later", on: 4, .move(1..<2, to: 0, .after),
                .move(0..<3, to: 4, .before)),
            diamond("block move / one of its items deleted", on: 4, .move(0..<3, to: 4, .before), .delete(1..<2)),
            diamond(
                "block move / overlapping block move", on: 5,
                .move(0..<3, to: 5, .before), .move(2..<4, to: 0, .after)),
            diamond(
                "block dropped into its own middle / insert there", on: 4, .move(1..<3, to: 2, .after),
                .insert(y, at: 2, .after)),
            diamond(
                "insert into a run / paste into the same run", on: 2, .insert(xs, at: 1, .before),
                .insert(ys, at: 1, .before)),
        ]
    }

    private static var misfits: [Question] {
        [
            diamond("error: the first does not fit", on: 1, .delete(0..<2), .delete(0..<1)),
            diamond(
                "error: the second sets a field that a task does not have", on: 1, .delete(0..<1),
                .edit(at: 0, Change(url: ""))),
        ]
    }
}
