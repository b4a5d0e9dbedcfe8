import HandCore
import HandFormats

/// Where an import stands: how many items it has added, and the seed of all items' ids. With the same seed an import
/// gives its items the same ids, so a continued import recognizes the items that are already in the list.
struct ImportPlace: CustomStringConvertible {
    var items = 0
    var seed = UInt64.random(in: 0...UInt64.max)

    init() {}

    init?(_ text: String) {
        let parts = text.split(separator: "-")
        guard parts.count == 2, let items = Int(parts[0]), let seed = UInt64(parts[1], radix: 36) else { return nil }
        (self.items, self.seed) = (items, seed)
    }

    var description: String { "\(items)-\(String(seed, radix: 36))" }
}

/// The items of a file, read again and again from its bytes, so that they are never all in memory.
struct ImportSource: Sendable {
    let bytes: [UInt8]
    let format: ListFormat
    let reading: ListFormat.Reading
    let seed: UInt64

    /// Some items in a row, for one edit.
    struct Portion {
        fileprivate(set) var items: [Item] = []
        /// The number of items before the portion.
        fileprivate(set) var start = 0
        /// The line of the file where the first item begins.
        fileprivate(set) var line = 1

        var end: Int { start + items.count }
    }

    /// Reads the items, in portions that are small enough for a message and large enough to be fast.
    struct Portions {
        fileprivate var reader: ListReader
        fileprivate var random: SplitMix64
        /// The item that did not fit into the last portion, and its line.
        private var left: (item: Item, line: Int)?
        private var count = 0

        private static let maxItems = 2_000
        private static let maxBytes = 1 << 20

        fileprivate init(_ reader: ListReader, _ random: SplitMix64) { (self.reader, self.random) = (reader, random) }

        mutating func next() throws(FormatError) -> Portion? {
            var portion = Portion(start: count)
            var bytes = 0
            while let (item, line) = try nextItem() {
                let size = item.content.size + 32
                if !portion.items.isEmpty, portion.items.count == Self.maxItems || bytes + size > Self.maxBytes {
                    left = (item, line)
                    break
                }
                if portion.items.isEmpty { portion.line = line }
                portion.items.append(item)
                bytes += size
            }
            count = portion.end
            return portion.items.isEmpty ? nil : portion
        }

        private mutating func nextItem() throws(FormatError) -> (item: Item, line: Int)? {
            if let left = left.take() { return left }
            return try reader.next(using: &random).map { ($0, reader.line) }
        }
    }

    func portions() throws(FormatError) -> Portions {
        Portions(try ListReader(bytes, in: format, as: reading), SplitMix64(seed: seed))
    }

    /// Checks that all items can be read and may be in the list, and returns their number, and what is in none of them.
    ///
    /// - Throws: an error with the number of the first line that is wrong.
    func check(under rules: Rules) throws -> (count: Int, notKept: [String]) {
        var (count, portions) = (0, try portions())
        while let item = try portions.reader.next(using: &portions.random) {
            if let violation = rules.violation(of: item) {
                throw Failure(
                    .rejected,
                    "line \(portions.reader.line): \(Rejection.violation(violation)) Nothing was imported.")
            }
            if Interruption.signal != nil { throw Interruption.Interrupted() }
            count += 1
        }
        return (count, portions.reader.notKept)
    }
}
