import HandCore
import HandTestSupport
import HandWire
import Testing

/// A delta has only one form on the wire: other components with the same effect are refused.
@Suite struct NormalFormTests {
    private static let item = Item(id: ItemID(rawValue: 7), content: .note("a"))
    private static let change = Change(text: "a", to: "b")

    /// One component of each kind, and some that cannot occur in a delta.
    private static let components: [Delta.Component] = [
        .keep(0), .keep(1), .edit(change), .delete(1), .pick(1), .insert([], .after), .insert([item], .after),
        .insert([item], .before), .drop(0..<1, .after, nil), .drop(0..<1, .before, change), .drop(1..<2, .after, nil),
        .drop(0..<2, .before, change),
    ]

    /// Returns the components as on the wire, valid or not.
    private func bytes(_ components: [Delta.Component]) -> [UInt8] {
        var writer = WireWriter()
        func head(_ number: Int, _ code: UInt64) { writer.varint(UInt64(number) << 3 | code) }
        writer.varint(components.count)
        for component in components {
            switch component {
            case .keep(let count): head(count, 0)
            case .edit(let change):
                head(Int(change.fields.rawValue), 1)
                writer.fields(of: change)
            case .delete(let count): head(count, 2)
            case .pick(let count): head(count, 3)
            case .insert(let items, let side):
                head(items.count, side == .after ? 4 : 5)
                for item in items { writer.item(item) }
            case .drop(let slots, let side, let change):
                head(slots.count, side == .after ? 6 : 7)
                writer.varint(UInt64(slots.lowerBound) << 1 | (change == nil ? 0 : 1))
                if let change {
                    writer.varint(UInt64(change.fields.rawValue))
                    writer.fields(of: change)
                }
            }
        }
        return writer.bytes
    }

    private func read(_ bytes: [UInt8]) -> Result<Delta, WireError> {
        bytes.withUnsafeBytes { bytes in
            var reader = WireReader(bytes)
            return Result { () throws(WireError) in try reader.delta() }
        }
    }

    /// All sequences of up to four components: normal forms are decoded, all others are refused.
    @Test func onlyNormalFormsAreDecoded() {
        var (read, refused) = (0, 0)
        func check(_ components: [Delta.Component]) {
            let delta = try? Delta(components)
            let isNormal = delta.map { $0.components == components } ?? false
            switch self.read(bytes(components)) {
            case .success(let found):
                read += 1
                #expect(isNormal && found == delta, "\(components)")
            case .failure(let error):
                refused += 1
                let isRightError = delta == nil ? error != .notNormalForm : error == .notNormalForm
                #expect(!isNormal && isRightError, "\(components): \(error)")
            }
            if components.count == 4 { return }
            for next in Self.components { check(components + [next]) }
        }
        check([])
        #expect(read > 300 && refused > 10_000, "\(read) were read, \(refused) refused")
    }

    // MARK: Text changes

    /// Returns the bytes of a delta that edits the text, or the address, of one item.
    private func bytes(_ splices: [(kept: Int, removed: String, inserted: String)], _ field: Change.Fields) -> [UInt8] {
        var writer = WireWriter()
        writer.varint(1)
        writer.varint(UInt64(field.rawValue) << 3 | 1)
        writer.varint(splices.count)
        for splice in splices {
            writer.varint(splice.kept)
            writer.string(splice.removed)
            writer.string(splice.inserted)
        }
        return writer.bytes
    }

    /// All sequences of up to three splices: those that are in order, not adjacent and not empty are decoded.
    @Test(arguments: [Change.Fields.text, .url]) func everySequenceOfSplices(field: Change.Fields) throws {
        let texts = ["", "a", "é"]
        let all = [0, 1].flatMap { kept in
            texts.flatMap { removed in texts.map { (kept: kept, removed: removed, inserted: $0) } }
        }
        var (read, refused) = (0, 0)
        func check(_ splices: [(kept: Int, removed: String, inserted: String)]) {
            let isNormal =
                !splices.isEmpty && splices.allSatisfy { $0.removed != $0.inserted }
                && splices.dropFirst().allSatisfy { $0.kept > 0 }
            switch self.read(bytes(splices, field)) {
            case .success(let delta):
                read += 1
                var end = 0
                let expected = splices.map { splice in
                    defer { end += splice.kept + splice.removed.utf8.count }
                    return Splice(at: end + splice.kept, removed: splice.removed, inserted: splice.inserted)
                }
                guard case .edit(let change) = delta.components.first else { preconditionFailure("\(delta)") }
                #expect(isNormal && (field == .text ? change.text : change.url).splices == expected, "\(splices)")
            case .failure(let error):
                refused += 1
                #expect(!isNormal && error == .notNormalForm, "\(splices): \(error)")
            }
            if splices.count == 3 { return }
            for next in all { check(splices + [next]) }
        }
        check([])
        #expect(read > 400 && refused > 5_000, "\(read) were read, \(refused) refused")
    }

    /// An invalid text change gives a specific error, and reserves no memory for missing bytes.
    @Test func splicesThatAreNone() {
        let most = Int(Int32.max)
        let samples: [([UInt8], WireError)] = [
            ([], .truncated(field: "splices of a changed text")),
            (
                [0xFF, 0xFF, 0xFF, 0xFF, 0x07, 0, 0, 1, 0x61],
                .tooLarge(field: "splices of a changed text", limit: 3, found: UInt64(most))
            ),
            ([2, 0, 0, 1, 0x61], .tooLarge(field: "splices of a changed text", limit: 1, found: 2)),
            (
                [1, 0x80, 0x80, 0x80, 0x80, 0x08, 0, 1, 0x61],
                .tooLarge(field: "bytes kept of a changed text", limit: most, found: 1 << 31)
            ),
            ([1, 0x80, 0x00, 0, 1, 0x61], .badVarint(field: "bytes kept of a changed text")),
            ([1, 0, 9, 0x61], .truncated(field: "removed from a changed text")),
            ([1, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0x07, 0x61], .truncated(field: "removed from a changed text")),
            ([1, 0, 0, 2, 0x61], .truncated(field: "inserted in a changed text")),
            ([1, 0, 1, 0x80, 0], .invalidUTF8(field: "removed from a changed text")),
            ([1, 0, 0, 1, 0xC3], .invalidUTF8(field: "inserted in a changed text")),
        ]
        for (bytes, error) in samples {
            guard case .failure(let found) = read([1, 9] + bytes) else {
                Issue.record("\(bytes) was read")
                continue
            }
            #expect(found == error, "\(bytes)")
        }
    }

    /// The position of a splice is within the limit of counts, regardless of how many splices precede it.
    @Test func splicesFarBehindTheEnd() throws {
        let most = Int(Int32.max)
        let delta = try read(bytes([(most - 1, "", "a"), (1, "a", "b")], .text)).get()
        guard case .edit(let change) = delta.components.first else { preconditionFailure("\(delta)") }
        #expect(change.text.splices.map(\.at) == [most - 1, most])
        #expect(throws: TextChangeError.self) { try change.text.applied(to: "short") }
        for behind in [[(most, "", "a"), (1, "", "b")], [(most, "a", "b"), (1, "", "c")]] {
            guard case .failure(let error) = read(bytes(behind, .text)) else {
                Issue.record("\(behind) was read")
                continue
            }
            #expect(error == .tooLarge(field: "bytes kept of a changed text", limit: 0, found: 1))
        }
    }

    /// The capacity for items grows in large steps. If it grew with each insertion, a long message would take
    /// quadratic time.
    @Test func manyInsertionsAreNotCopiedEachTime() {
        var builder = DeltaBuilder()
        var capacities: Set<Int> = []
        for number in 1...UInt64(10_000) {
            builder.insert(1, .after) { PackedItem(Item(id: ItemID(rawValue: number), content: .note(""))) }
            builder.keep(1)
            capacities.insert(builder.items.capacity)
        }
        #expect(builder.items.count == 10_000 && capacities.count < 40, "\(capacities.count) sizes")
    }
}
