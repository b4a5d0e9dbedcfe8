import HandCore
import HandTestSupport
import HandWire
import Testing

/// A delta has one form on the wire: components that say the same in another one are refused.
@Suite struct NormalFormTests {
    private static let item = Item(id: ItemID(rawValue: 7), content: .note("a"))
    private static let change = Change(text: "a", to: "b")

    /// One of each sort, and some that are in no delta.
    private static let components: [Delta.Component] = [
        .keep(0), .keep(1), .edit(change), .delete(1), .pick(1), .insert([], .after), .insert([item], .after),
        .insert([item], .before), .drop(0..<1, .after, nil), .drop(0..<1, .before, change), .drop(1..<2, .after, nil),
        .drop(0..<2, .before, change),
    ]

    /// The components as they stand on the wire, whatever they are.
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

    /// All sequences of up to four components: those that are a delta's own are read, all others are refused.
    @Test func everySequence() {
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
}
