import HandCore
import HandSimulation
import HandTestSupport
import HandWire
import Testing

@Suite struct PackedItemTests {
    @Test func whatIsPackedIsTheSameItem() {
        var chaos = Chaos(seed: testSeed(811))
        for item in chaos.items(3_000) + Self.edges {
            let packed = PackedItem(item)
            #expect(packed.item == item)
            #expect(packed == PackedItem(item))
            var (plain, kept) = (WireWriter(), WireWriter())
            plain.item(item)
            kept.item(packed)
            #expect(plain.bytes == kept.bytes)
        }
    }

    /// For any bytes, both ways of reading an item consume the same bytes or throw the same error.
    @Test func bothWaysOfReadingAgree() {
        var chaos = Chaos(seed: testSeed(812))
        var refused = 0
        for round in 0..<20_000 {
            var writer = WireWriter()
            writer.item(chaos.item())
            var bytes = writer.bytes
            if round % 4 > 0 {
                bytes[8 + chaos.random.next(below: bytes.count - 8)] ^= UInt8(1 << chaos.random.next(below: 8))
            }
            if round % 4 > 2 { bytes.removeLast(chaos.random.next(below: bytes.count)) }
            let (plain, packed) = bytes.withUnsafeBytes { Self.readBoth($0) }
            #expect(plain == packed)
            if plain.item == nil { refused += 1 }
        }
        #expect(refused > 1_000, "damage is found")
    }

    /// A content that no reader accepts, created directly, is kept as it is.
    @Test func bytesThatAreNoneOfTheirKindStayBytes() {
        let kinds: [(Content.Kind, [UInt8])] = [
            (.card, []), (.card, [200]), (.task, []), (.link, []), (.link, [9, 65]),
        ]
        for (kind, bytes) in kinds {
            let item = Item(id: ItemID(rawValue: 1), content: .unknown(kind, bytes))
            #expect(PackedItem(item).item == item)
        }
    }

    private static let edges: [Item] = [0, 1, 14, 15, 16, 126, 127, 128, 16_383, 16_384].flatMap { size in
        let text = String(repeating: "ä", count: size)
        return [
            Item(id: ItemID(rawValue: .max), content: .note(text)),
            Item(id: ItemID(rawValue: 0), content: .task(text, done: true)),
            Item(id: ItemID(rawValue: 1), content: .link(text, url: text)),
            Item(id: ItemID(rawValue: 2), content: .unknown(Content.Kind(rawValue: .max), Array(text.utf8))),
        ]
    }

    private struct Reading: Equatable {
        var item: Item?
        var error: WireError?
        var position = 0
    }

    private static func readBoth(_ bytes: UnsafeRawBufferPointer) -> (Reading, Reading) {
        var (plain, packed) = (Reading(), Reading())
        var reader = WireReader(bytes)
        do throws(WireError) { plain.item = try reader.item() } catch { plain.error = error }
        if plain.error == nil { plain.position = reader.position }
        reader = WireReader(bytes)
        do throws(WireError) { packed.item = try reader.packedItem().item } catch { packed.error = error }
        if packed.error == nil { packed.position = reader.position }
        return (plain, packed)
    }
}
