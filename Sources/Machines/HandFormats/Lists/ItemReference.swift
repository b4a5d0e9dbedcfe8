import HandCore
import HandWire

/// An item as a person names it: by its number, counted from 1 as in printed lists, or by a prefix of its id.
///
/// Digits alone are a number; a leading `@` makes them an id, and so does a leading zero, if there are as many as in a
/// printed id.
package enum ItemReference: Equatable, Sendable {
    case index(Int)
    case prefix(String)

    package enum Problem: Error, Equatable, Sendable, CustomStringConvertible {
        case notAReference(String)
        case notARange(String)
        case tooWide(String)
        case outOfRange(Int, count: Int)
        case unknown(String)
        case ambiguous(String, matches: Int)

        package var description: String {
            switch self {
            case .notAReference(let text):
                "'\(text)' is not an item: write its number or the first characters of its id, as 'hand ls' shows them"
            case .notARange(let text): "'\(text)' is not a range: write the lower number first, as in 2-5"
            case .tooWide(let text): "'\(text)' names too many items: a range has at most \(maxRange)"
            case .outOfRange(let index, let count):
                "there is no item \(index); the list has \(count)"
                    + ("\(index)".utf8.count < ShortID.minLength
                        ? "" : ". If it is the start of an id, write @\(index)")
            case .unknown(let prefix): "no item's id starts with '\(prefix)'"
            case .ambiguous(let prefix, let matches):
                "the ids of \(matches) items start with '\(prefix)'; write more characters of it"
            }
        }
    }

    /// The most numbers in a range.
    private static let maxRange = 1_000_000

    package init(_ text: String) throws(Problem) {
        let isID = text.hasPrefix("0") && text.utf8.count >= ShortID.minLength
        if !isID, let index = Int(text), text.utf8.allSatisfy({ $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: "+") }) {
            self = .index(index)
            return
        }
        let prefix = text.hasPrefix("@") ? String(text.dropFirst()) : text
        guard ItemID.range(ofPrefix: prefix) != nil else { throw .notAReference(text) }
        self = .prefix(prefix)
    }

    /// Returns the items that the words name: each word is one item or a range of numbers such as `2-5`.
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

    /// Returns the numbers in a range such as `2-5`, or nil for anything else.
    private static func range(_ word: String) throws(Problem) -> ClosedRange<Int>? {
        let ends = word.split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, word.utf8.allSatisfy({ $0 == UInt8(ascii: "-") || $0.isDigit }),
            let first = Int(ends[0]), let last = Int(ends[1])
        else { return nil }
        guard first <= last else { throw .notARange(word) }
        guard last - first < maxRange else { throw .tooWide(word) }
        return first...last
    }

    /// Returns the position of the item in a list, from 0. O(log n) for an index, O(known items) for an id.
    package func position(in list: PartialList) throws(Problem) -> Int {
        switch self {
        case .index(let index):
            guard index >= 1, index <= list.count else { throw .outOfRange(index, count: list.count) }
            return index - 1
        case .prefix(let prefix):
            guard let ids = ItemID.range(ofPrefix: prefix) else { throw .notAReference(prefix) }
            let matches = list.positions(of: ids)
            guard let first = matches.first else { throw .unknown(prefix) }
            guard matches.count == 1 else { throw .ambiguous(prefix, matches: matches.count) }
            return first
        }
    }

    package func position(in list: Hand) throws(Problem) -> Int { try position(in: PartialList(list)) }
}

extension ItemReference {
    /// Returns the part of a list with these positions, with the items above that determine the levels that are shown,
    /// and so many items below.
    package static func context(of positions: [Int], below: Int) -> [Excerpt.Selection] {
        positions.map { position in
            let start = max(0, position - Int(Item.maxLevel))
            return .positions(start: start, count: min(position - start + 1 + below, Rules.unlimitedCount))
        }
    }

    /// Returns the part of a list that must be fetched to find these items. Consecutive numbers become one selection.
    package static func selections(of items: [ItemReference]) -> [Excerpt.Selection] {
        var selections: [Excerpt.Selection] = []
        for item in items {
            switch item {
            case .index(let index):
                // A number that no list can have is reported later.
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
}

/// A place in a list as a person names it.
package enum Place: Equatable, Sendable {
    case top
    case end
    case before(ItemReference)
    case after(ItemReference)

    /// Returns the gap of this place, the side of the gap to which new content is attached, and the level of new
    /// content, at which no sub-item of another item becomes its own. After an item is after its sub-items.
    ///
    /// - Throws: `PartialList.Unknown` if an item that determines the levels is not known.
    package func spot(in list: PartialList) throws -> (gap: Int, side: Side, level: Int) {
        switch self {
        case .top: return (0, .after, 0)
        case .end: return (list.count, .before, 0)
        case .before(let item):
            let position = try item.position(in: list)
            return (position, .before, try list.shownLevel(at: position))
        case .after(let item):
            let position = try item.position(in: list)
            return (try list.subitems(of: position).upperBound, .after, try list.shownLevel(at: position))
        }
    }

    /// The item that names the place, if one does.
    package var neighbours: [ItemReference] {
        switch self {
        case .top, .end: []
        case .before(let item), .after(let item): [item]
        }
    }
}

/// The number of characters of an id that distinguish the items of a list; at least four.
package enum ShortID {
    fileprivate static let minLength = 4

    /// Returns the length for a list. O(n) for random ids, which is the normal case; otherwise O(n log n).
    package static func length(in list: some Sequence<Item>) -> Int { length(of: list.lazy.map(\.id)) }

    package static func length(of items: some Sequence<ItemID>) -> Int {
        let ids = sorted(items.map(\.rawValue))
        var shared = 0
        for (left, right) in zip(ids, ids.dropFirst()) { shared = max(shared, (left ^ right).leadingZeroBitCount) }
        return min(ItemID.textLength, max(minLength, shared / 5 + 1))
    }

    /// Returns the first characters of an id as a person writes them: digits alone would be a number.
    package static func text(of id: ItemID, length: Int) -> String {
        let text = String(id.description.prefix(length))
        return text.first != "0" && text.utf8.allSatisfy(\.isDigit) ? "@" + text : text
    }

    /// Sorts the ids into buckets by their leading bits, and then each bucket. A bucket is small if ids are random.
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
        // The ends of the buckets have become their starts.
        for (start, end) in zip(ends, ends.dropFirst() + [ids.count]) where end - start > 1 {
            sorted[start..<end].sort()
        }
        return sorted
    }

    /// Returns the length for a list of `count` items that are not all known. The probability that a prefix of that
    /// length also matches a second item is 1 in 65,536.
    package static func length(ofCount count: Int) -> Int {
        let bits = Int.bitWidth - count.leadingZeroBitCount + 16
        return min(ItemID.textLength, max(minLength, (bits + 4) / 5))
    }
}
