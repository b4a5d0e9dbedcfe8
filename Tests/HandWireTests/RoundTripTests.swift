import HandCore
import HandSimulation
import HandTestSupport
import HandWire
import Testing

/// Encoding and decoding again gives the value; a value has only one form.
@Suite struct RoundTripTests {
    @Test func everyMessageFromTheClient() throws {
        var random = RandomMessages(seed: testSeed(71))
        for _ in 0..<500 {
            for message in random.up() {
                let again = try UpMessage(body(of: message.frame))
                #expect(again == message)
                #expect(again.frame == message.frame)
            }
        }
    }

    @Test func everyMessageFromTheServer() throws {
        var random = RandomMessages(seed: testSeed(72))
        for _ in 0..<500 {
            for message in random.down() {
                let again = try DownMessage(body(of: message.frame))
                #expect(again == message)
                #expect(again.frame == message.frame)
            }
        }
    }

    /// Every focus is decoded; invalid codes are refused.
    @Test func placesOfPeople() throws {
        let id: [UInt8] = [5] + [UInt8](repeating: 0, count: 7)
        let (on, editing) = (Focus(ItemID(rawValue: 5)), Focus(ItemID(rawValue: 5), isEditing: true))
        for (code, focus) in [nil, on, editing, .away].enumerated() {
            let bytes = [UInt8(code)] + (focus?.item == nil ? [] : id)
            #expect(try UpMessage([5, 1] + bytes) == .presence(list: 1, focus))
            let entry: [UInt8] = [7, UInt8(code) + 1, 1, 0x71] + (focus?.item == nil ? [] : id)
            let here = DownMessage.Presence(author: 7, place: .here(person: "q", focus))
            #expect(try DownMessage([8, 1, 1] + entry) == .presence(list: 1, [here]))
        }
        for place in 4...UInt8.max {
            let error = WireError.unknownValue(field: "presence", found: UInt64(place))
            #expect(throws: error) { try UpMessage([5, 1, place] + id) }
            if place > 4 { #expect(throws: error) { try DownMessage([8, 1, 1, 7, place, 1, 0x71] + id) } }
        }
    }

    @Test func varintsTakeAsManyBytesAsTheyMust() throws {
        for shift in UInt64(0)..<53 {
            for value in [UInt64(1) << shift, UInt64(1) << shift &- 1, UInt64(1) << shift | 1] {
                var writer = WireWriter()
                writer.varint(value)
                #expect(writer.bytes.count == value.varintSize)
                let again = try writer.bytes.withUnsafeBytes { all in
                    var reader = WireReader(all)
                    return try reader.varint("number")
                }
                #expect(again == value)
            }
        }
    }

    @Test func aFrameHasThePredictedSize() {
        for count in [1, 127, 128, 16_383, 16_384, 2_097_151, 2_097_152] {
            #expect(Frame.around(Array(repeating: 0, count: count)).count == Frame.size(ofBody: count))
        }
    }

    /// The hash that `HandCore` stores is that of the bytes that the codec writes.
    @Test func theHashOfAnItemIsThatOfItsBytes() {
        var chaos = Chaos(seed: testSeed(73))
        var items = chaos.items(2_000)
        for size in [0, 1, 126, 127, 128, 129, 16_383, 16_384] {
            let text = String(repeating: "x", count: size)
            items.append(Item(id: ItemID(rawValue: .max), content: .note(text)))
            items.append(Item(id: ItemID(rawValue: 0), content: .task(text, done: true)))
            items.append(Item(id: ItemID(rawValue: 1), content: .link(text, url: text)))
            items.append(
                Item(id: ItemID(rawValue: 2), content: .unknown(Content.Kind(rawValue: 1 << 20), Array(text.utf8))))
        }
        for item in items {
            var writer = WireWriter()
            writer.item(item)
            #expect(item.hash == Self.hash(of: writer.bytes), "\(item)")
            #expect(writer.bytes.count >= 10, "what readers reserve for")
        }
    }

    /// `Protocol.md`, “Digest”.
    private static func hash(of bytes: [UInt8]) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        hash = (hash ^ hash >> 33) &* 0xFF51_AFD7_ED55_8CCD
        hash = (hash ^ hash >> 33) &* 0xC4CE_B9FE_1A85_EC53
        return (hash ^ hash >> 33) % ((1 << 61) - 1)
    }
}
