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
            var plain = WireWriter()
            var kept = WireWriter()
            plain.item(item)
            kept.item(packed)
            #expect(plain.bytes == kept.bytes)
        }
    }

    /// Whatever the bytes, an item is read as a plain reader of `Protocol.md` reads it, or refused where that refuses
    /// it.
    @Test func itemsAreReadAsAPlainReaderReadsThem() {
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
            let (found, position) = bytes.withUnsafeBytes { bytes in
                var reader = WireReader(bytes)
                return (try? reader.item(), reader.position)
            }
            let plain = PlainItem(bytes)
            #expect(found == plain?.item)
            if let plain { #expect(position == plain.size) } else { refused += 1 }
        }
        #expect(refused > 1_000, "damage is found")
    }

    /// What limits count is found without making the content.
    @Test func kindAndSizeAreThoseOfTheContent() {
        var chaos = Chaos(seed: testSeed(813))
        for item in chaos.items(3_000) + Self.edges {
            let packed = PackedItem(item)
            #expect(packed.kind == item.content.kind)
            #expect(packed.size == item.content.size)
            #expect(packed.level == item.level)
        }
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
}

/// An item, read step by step from an array.
private struct PlainItem {
    let item: Item
    let size: Int

    init?(_ bytes: [UInt8]) {
        var rest = bytes[...]
        func varint(upTo limit: UInt64 = UInt64(Int32.max)) -> Int? {
            var (value, shift): (UInt64, UInt64) = (0, 0)
            while let byte = rest.popFirst() {
                // No item of this test has a number of more than 35 bits, and the last byte of several is never zero.
                if shift > 28 || byte == 0 && shift > 0 { return nil }
                value |= UInt64(byte & 0x7F) << shift
                if byte < 0x80 { return value <= limit ? Int(value) : nil }
                shift += 7
            }
            return nil
        }
        guard bytes.count >= 8 else { return nil }
        let id = (0..<8).reduce(UInt64(0)) { $0 | UInt64(rest.removeFirst()) << (8 * $1) }
        guard let head = varint(upTo: 16 << 31 - 1), head >= 16, let length = varint(), length <= rest.count else {
            return nil
        }
        let (kind, level) = (head / 16, UInt8(head % 16))
        size = rest.startIndex + length
        rest = rest.prefix(length)
        func text() -> String? { String(validating: rest, as: UTF8.self) }
        let content: Content?
        switch kind {
        case 1: content = rest.count == 1 ? Card(code: rest.first!).map(Content.card) : nil
        case 2: content = text().map(Content.note)
        case 3:
            let flag = rest.popFirst()
            content = flag.map { $0 <= 1 } == true ? text().map { .task($0, done: flag == 1) } : nil
        case 4:
            guard let count = varint(), count <= rest.count else { return nil }
            guard let words = String(validating: rest.prefix(count), as: UTF8.self) else { return nil }
            rest.removeFirst(count)
            content = text().map { .link(words, url: $0) }
        case 5: content = text().map(Content.heading)
        default: content = .unknown(Content.Kind(rawValue: UInt32(kind)), Array(rest))
        }
        guard let content else { return nil }
        item = Item(id: ItemID(rawValue: id), level: level, content: content)
    }
}
