import HandCore

/// Returns tasks with the ids `first`, `first + 1`, …
package func tasks(_ count: Int, first: UInt64 = 1) -> [Item] {
    (0..<UInt64(count)).map { Item(id: ItemID(rawValue: first + $0), content: .task("t\(first + $0)", done: false)) }
}

extension Change {
    /// Changes the first letter of any of `tasks`, so that two such changes overlap.
    package init(letter: String, done: Bool? = nil) {
        self.init(text: TextChange(replacing: "t", at: 0, with: letter), done: done)
    }
}

extension EditableList {
    /// Returns the edit that gives the item at an index another text.
    package func rewording(_ index: Int, _ text: String) -> Delta {
        .editing(at: index, self[index].content.rewording(text))
    }
}

/// Returns every delta on a list of `count` tasks that inserts at most one item: each item stays, is edited, deleted or
/// moved, in all places and on both sides.
///
/// - Parameter limit: the maximum number of changes in one delta (insertion, edits, deletions and moves count one
///   each).
package func everyDelta(on count: Int, inserting new: Item, edit: Change, limit: Int = .max) -> [Delta] {
    var result: [Delta] = []
    var fates = [Int](repeating: 0, count: count)
    repeat {
        let picks = fates.filter { $0 == 3 }.count
        for inserts in 0...1 where fates.filter({ $0 != 0 }).count + inserts <= limit {
            everyPlacement(of: picks + inserts, gaps: count + 1) { places in
                result.append(delta(fates, places, picks: picks, new, edit))
            }
        }
    } while advance(&fates)
    return result
}

private func advance(_ digits: inout [Int]) -> Bool {
    for index in digits.indices {
        digits[index] += 1
        if digits[index] < 4 { return true }
        digits[index] = 0
    }
    return false
}

/// Enumerates all ways to put `things` labelled things into the gaps, with two sides each, in all orders.
private func everyPlacement(of things: Int, gaps: Int, _ body: ([[Int]]) -> Void) {
    func place(_ thing: Int, _ bins: [[Int]]) {
        if thing == things { return body(bins) }
        for bin in bins.indices {
            for position in 0...bins[bin].count {
                var next = bins
                next[bin].insert(thing, at: position)
                place(thing + 1, next)
            }
        }
    }
    place(0, Array(repeating: [], count: gaps * 2))
}

private func delta(_ fates: [Int], _ places: [[Int]], picks: Int, _ new: Item, _ edit: Change) -> Delta {
    var components: [Delta.Component] = []
    for gap in 0...fates.count {
        for side in Side.allCases {
            for thing in places[gap * 2 + Int(side.rawValue)] {
                components.append(thing < picks ? .drop(thing..<thing + 1, side, nil) : .insert([new], side))
            }
        }
        guard gap < fates.count else { break }
        switch fates[gap] {
        case 0: components.append(.keep(1))
        case 1: components.append(.edit(edit))
        case 2: components.append(.delete(1))
        default: components.append(.pick(1))
        }
    }
    do { return try Delta(components) } catch { preconditionFailure("\(components): \(error)") }
}
