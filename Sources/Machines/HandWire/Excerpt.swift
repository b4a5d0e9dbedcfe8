import HandCore

/// Some items of a list at a revision: enough to show a page of the list, or to edit the list without loading the other
/// items.
public struct Excerpt: Equatable, Sendable {
    public var logID: UInt64
    public var revision: Int
    /// The number of items in the whole list.
    public var count: Int
    public var rules: Rules
    /// The items in the order of their positions, each once.
    public var entries: [Entry]
    /// Whether there are more requested items behind the last entry.
    public var isCut: Bool

    public struct Entry: Equatable, Sendable {
        /// The position in the list, from 0.
        public var position: Int
        public var item: Item

        public init(position: Int, item: Item) {
            self.position = position
            self.item = item
        }
    }

    /// The requested items.
    public enum Selection: Equatable, Sendable {
        /// The items at these positions; positions beyond the end of the list are ignored.
        case positions(start: Int, count: Int)
        /// The items whose ids are in a closed range.
        case ids(ClosedRange<ItemID>)
    }

    public init(logID: UInt64, revision: Int, count: Int, rules: Rules, entries: [Entry] = [], isCut: Bool = false) {
        self.logID = logID
        self.revision = revision
        self.count = count
        self.rules = rules
        self.entries = entries
        self.isCut = isCut
    }
}

// MARK: - Bytes

extension WireWriter {
    mutating func selections(_ selections: [Excerpt.Selection]) {
        varint(selections.count)
        for selection in selections {
            switch selection {
            case .positions(let start, let count):
                byte(0)
                varint(start)
                varint(count)
            case .ids(let range):
                byte(1)
                word(range.lowerBound.rawValue)
                word(range.upperBound.rawValue)
            }
        }
    }

    package mutating func excerpt(_ excerpt: Excerpt) {
        word(excerpt.logID)
        varint(excerpt.revision)
        varint(excerpt.count)
        rules(excerpt.rules)
        flag(excerpt.isCut)
        varint(excerpt.entries.count)
        for entry in excerpt.entries {
            varint(entry.position)
            item(entry.item)
        }
    }
}

extension WireReader {
    mutating func selections() throws(WireError) -> [Excerpt.Selection] {
        try list("selections", limit: Limits.selections, size: 3) { (reader) throws(WireError) in
            if try reader.flag("kind of selection") {
                let low = ItemID(rawValue: try reader.word("lowest id"))
                let high = ItemID(rawValue: try reader.word("highest id"))
                guard low <= high else { throw .unknownValue(field: "highest id", found: high.rawValue) }
                return .ids(low...high)
            }
            return .positions(start: try reader.count("first position"), count: try reader.count("number of positions"))
        }
    }

    package mutating func excerpt() throws(WireError) -> Excerpt {
        var excerpt = Excerpt(
            logID: try word("log id"), revision: try revision("revision"), count: try count("number of items"),
            rules: try rules(), isCut: try flag("more follow"))
        var next = 0
        excerpt.entries = try list("entries", size: 11) { (reader) throws(WireError) in
            let position = try reader.count("position")
            guard position >= next, position < excerpt.count else {
                throw .unknownValue(field: "position", found: UInt64(position))
            }
            next = position + 1
            return Excerpt.Entry(position: position, item: try reader.item())
        }
        return excerpt
    }
}
