import HandCore
import HandWire

/// An item as a person names it: by its index, counted from 1 as lists are printed, or by a prefix of its id.
///
/// Digits alone are an index; `@` in front says that an id is meant.
package enum ItemReference: Equatable, Sendable {
    case index(Int)
    case prefix(String)

    package enum Problem: Error, Equatable, Sendable, CustomStringConvertible {
        case notAReference(String)
        case notARange(String)
        case outOfRange(Int, count: Int)
        case unknown(String)
        case ambiguous(String, matches: Int)

        package var description: String {
            switch self {
            case .notAReference(let text):
                "'\(text)' names no item: write its number or the first characters of its id, as 'hand ls' shows them"
            case .notARange(let text): "'\(text)' is no range: write the lower number first, as in 2-5"
            case .outOfRange(let index, let count): "there is no item \(index); the list has \(count)"
            case .unknown(let prefix): "no item's id starts with '\(prefix)'"
            case .ambiguous(let prefix, let matches):
                "the ids of \(matches) items start with '\(prefix)'; write more characters of it"
            }
        }
    }

    package init(_ text: String) throws(Problem) {
        if let index = Int(text), text.utf8.allSatisfy({ $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: "+") }) {
            self = .index(index)
            return
        }
        let prefix = text.hasPrefix("@") ? String(text.dropFirst()) : text
        guard ItemID.range(ofPrefix: prefix) != nil else { throw .notAReference(text) }
        self = .prefix(prefix)
    }

    /// The items that words name: each one item, or a range of numbers such as `2-5`.
    package static func all(_ words: [String]) throws(Problem) -> [ItemReference] {
        var all: [ItemReference] = []
        for word in words {
            if let range = try range(word) {
                all += range.map { .index($0) }
            } else {
                all.append(try ItemReference(word))
            }
        }
        return all
    }

    /// The numbers that a range such as `2-5` names; nil for anything else.
    private static func range(_ word: String) throws(Problem) -> ClosedRange<Int>? {
        let ends = word.split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2,
            word.utf8.allSatisfy({ $0 == UInt8(ascii: "-") || UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }),
            let first = Int(ends[0]), let last = Int(ends[1])
        else { return nil }
        guard first <= last, last <= Rules.unlimitedCount else { throw .notARange(word) }
        return first...last
    }

    /// The position of the item in a list, from 0. O(log n) for an index, O(n) for an id.
    package func position(in list: Hand) throws(Problem) -> Int {
        switch self {
        case .index(let index):
            guard index >= 1, index <= list.count else { throw .outOfRange(index, count: list.count) }
            return index - 1
        case .prefix(let prefix):
            guard let range = ItemID.range(ofPrefix: prefix) else { throw .notAReference(prefix) }
            var matches: [Int] = []
            list.forEachPosition(of: [range]) { position in
                matches.append(position)
                return true
            }
            guard let first = matches.first else { throw .unknown(prefix) }
            guard matches.count == 1 else { throw .ambiguous(prefix, matches: matches.count) }
            return first
        }
    }
}

extension ItemReference {
    /// What must be known of a list to find the items, and what they say: numbers in a row are asked for together.
    package static func selections(of items: [ItemReference]) -> [Excerpt.Selection] {
        var selections: [Excerpt.Selection] = []
        for item in items {
            switch item {
            case .index(let index):
                // What no list can have is found to be missing later.
                guard (1...Int(Int32.max)).contains(index) else { continue }
                if case .positions(let start, let count)? = selections.last, start + count == index - 1 {
                    selections[selections.count - 1] = .positions(start: start, count: count + 1)
                } else {
                    selections.append(.positions(start: index - 1, count: 1))
                }
            case .prefix(let prefix):
                if let range = ItemID.range(ofPrefix: prefix) { selections.append(.ids(range)) }
            }
        }
        return selections
    }

    /// The same item by its index, in the list of which the excerpt was asked for with this reference's selection.
    package func resolved(in excerpt: Excerpt) throws(Problem) -> ItemReference {
        guard case .prefix(let prefix) = self else { return self }
        guard let range = ItemID.range(ofPrefix: prefix) else { throw .notAReference(prefix) }
        let matches = excerpt.entries.filter { range.contains($0.item.id) }
        guard let first = matches.first else { throw .unknown(prefix) }
        guard matches.count == 1 else { throw .ambiguous(prefix, matches: matches.count) }
        return .index(first.position + 1)
    }
}

/// A place in a list as a person names it.
package enum Place: Equatable, Sendable {
    case top
    case end
    case before(ItemReference)
    case after(ItemReference)

    /// The gap and the side of it to which content at that place holds on.
    package func gap(in list: Hand) throws(ItemReference.Problem) -> (gap: Int, side: Side) {
        switch self {
        case .top: (0, .after)
        case .end: (list.count, .before)
        case .before(let item): (try item.position(in: list), .before)
        case .after(let item): (try item.position(in: list) + 1, .after)
        }
    }

    /// The item that the place is beside.
    package var neighbour: ItemReference? {
        switch self {
        case .top, .end: nil
        case .before(let item), .after(let item): item
        }
    }

    /// The same place by an index, as with items.
    package func resolved(in excerpt: Excerpt) throws(ItemReference.Problem) -> Place {
        switch self {
        case .top, .end: self
        case .before(let item): .before(try item.resolved(in: excerpt))
        case .after(let item): .after(try item.resolved(in: excerpt))
        }
    }
}

/// How many characters of their ids tell the items of a list apart, at least four.
package enum ShortID {
    /// O(n) where ids are random, as they are meant to be; else O(n log n).
    package static func length(in list: some Sequence<Item>) -> Int { length(of: list.lazy.map(\.id)) }

    /// The same of their ids.
    package static func length(of items: some Sequence<ItemID>) -> Int {
        let ids = sorted(items.map(\.rawValue))
        var shared = 0
        for (left, right) in zip(ids, ids.dropFirst()) { shared = max(shared, (left ^ right).leadingZeroBitCount) }
        return min(ItemID.textLength, max(4, shared / 5 + 1))
    }

    /// Numbers in order: each goes where its leading bits say, to few others.
    private static func sorted(_ ids: [UInt64]) -> [UInt64] {
        let shift = UInt64((ids.count | 1).leadingZeroBitCount)
        var ends = [Int](repeating: 0, count: 1 << (64 - shift))
        for id in ids { ends[Int(id >> shift)] += 1 }
        var end = 0
        for index in ends.indices {
            end += ends[index]
            ends[index] = end
        }
        var sorted = [UInt64](repeating: 0, count: ids.count)
        for id in ids {
            ends[Int(id >> shift)] -= 1
            sorted[ends[Int(id >> shift)]] = id
        }
        // What were ends are starts now.
        for (start, end) in zip(ends, ends.dropFirst() + [ids.count]) where end - start > 1 {
            sorted[start..<end].sort()
        }
        return sorted
    }

    /// So many that one of them is hardly ever that of another item as well, in a list of `count` of which not all are known:
    /// once in 65,536.
    package static func length(ofCount count: Int) -> Int {
        let bits = Int.bitWidth - count.leadingZeroBitCount + 16
        return min(ItemID.textLength, max(4, (bits + 4) / 5))
    }
}
