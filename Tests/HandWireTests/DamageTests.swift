import HandCore
import HandTestSupport
import HandWire
import Testing

/// Damaged bytes give a typed error, or another message in its only form; never a crash.
@Suite struct DamageTests {
    /// The frame bodies of every message, and how to decode one and encode it again.
    private static func samples(seed: UInt64) -> [(name: String, body: [UInt8], again: ([UInt8]) throws -> [UInt8])] {
        var random = RandomMessages(seed: seed)
        let up = random.up().map { message in
            ("up \(message)", body(of: message.frame), { (bytes: [UInt8]) in body(of: try UpMessage(bytes).frame) })
        }
        let down = random.down().map { message in
            ("down \(message)", body(of: message.frame), { (bytes: [UInt8]) in body(of: try DownMessage(bytes).frame) })
        }
        return up + down
    }

    private static func seeds(_ standard: UInt64, _ count: UInt64, _ name: String = #function) -> Range<UInt64> {
        let first = testSeed(standard, name)
        return first..<first + count
    }

    /// Decodes bytes; encoding the result must give the same bytes. Returns whether they were a message.
    @discardableResult
    private func check(_ bytes: [UInt8], _ name: String, _ again: ([UInt8]) throws -> [UInt8]) -> Bool {
        do {
            let encoded = try again(bytes)
            #expect(encoded == bytes, "\(name)")
            return true
        } catch {
            #expect(error is WireError, "\(name)")
            return false
        }
    }

    @Test func truncatedAtEachByte() {
        for seed in Self.seeds(77, 20) {
            for (name, body, again) in Self.samples(seed: seed) {
                for count in body.indices {
                    #expect(!check(Array(body.prefix(count)), name, again), "\(count) bytes of \(name)")
                }
                #expect(throws: WireError.self) { try again(body + [0]) }
            }
        }
    }

    @Test func eachBitFlipped() {
        let seeds = Self.seeds(78, 8)
        for (name, body, again) in seeds.flatMap(Self.samples) {
            for bit in 0..<body.count * 8 {
                var damaged = body
                damaged[bit / 8] ^= 1 << (bit % 8)
                check(damaged, "bit \(bit) of \(name)", again)
            }
        }
    }

    @Test func damagedBytesAreAMessageOrAnError() {
        var random = SplitMix64(seed: testSeed(79))
        for (name, body, again) in (0..<20).flatMap({ Self.samples(seed: 1_000 + $0) }) {
            for _ in 0..<50 {
                var damaged = body
                for _ in 0...random.next(below: 3) {
                    let index = random.next(below: damaged.count)
                    switch random.next(below: 3) {
                    case 0: damaged[index] = UInt8(truncatingIfNeeded: random.next())
                    case 1: damaged.insert(UInt8(truncatingIfNeeded: random.next()), at: index)
                    default: if damaged.count > 1 { damaged.remove(at: index) }
                    }
                }
                check(damaged, name, again)
            }
        }
    }

    @Test func randomBytesAreAMessageOrAnError() {
        var random = SplitMix64(seed: testSeed(80))
        for number in UInt8(0)...16 {
            for _ in 0..<2_000 {
                let bytes =
                    [number] + (0..<random.next(below: 40)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
                check(bytes, "noise \(bytes)") { body(of: try UpMessage($0).frame) }
                check(bytes, "noise \(bytes)") { body(of: try DownMessage($0).frame) }
            }
        }
    }

    // MARK: Numbers

    @Test(arguments: [
        [0x80, 0x00], [0xFF, 0x00], [0x80, 0x80, 0x00], Array(repeating: 0x80, count: 7) + [0x00],
        Array(repeating: 0x80, count: 7) + [0x10], Array(repeating: 0xFF, count: 7) + [0x8F, 0x00],
        Array(repeating: 0xFF, count: 9) + [0x01],
    ])
    func overlongVarintsAreRefused(bytes: [UInt8]) {
        #expect(throws: WireError.badVarint(field: "nonce")) { try UpMessage([6] + bytes) }
        #expect(throws: WireError.badVarint(field: "nonce")) { try DownMessage([9] + bytes) }
    }

    @Test func theLargestVarintIsRead() throws {
        let bytes = [UInt8](repeating: 0xFF, count: 7) + [0x0F]
        #expect(try UpMessage([6] + bytes) == .ping(1 << 53 - 1))
    }

    /// Counts that exceed what the bytes can contain are refused before any memory is reserved.
    @Test func countsAreNotAllocatedFor() {
        let huge: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF, 0x07]
        let tail = [UInt8](repeating: 0, count: 20)
        let rules: [UInt8] = [1, 1, 2]
        let up: [[UInt8]] = [
            [4, 1, 1, 1, 0] + huge, [4, 1, 1, 1, 0, 1, 0xFC, 0xFF, 0xFF, 0xFF, 0x3F] + tail,
            [2, 1] + huge + tail, [7, 1, 1, 0x61] + rules + huge,
            // Components with counts beyond the memory, in a few bytes: they are only numbers.
            [4, 1, 1, 1, 0, 2, 0xFB, 0xFF, 0xFF, 0xFF, 0x3F, 0xFE, 0xFF, 0xFF, 0xFF, 0x3F, 2],
        ]
        for bytes in up { #expect(throws: WireError.self) { try UpMessage(bytes) } }
        let down: [[UInt8]] = [
            [3, 1] + huge + tail, [8, 1] + huge + tail, [11, 1, 0] + huge + tail, [12, 1] + huge + tail,
            [12, 1, 0] + huge + tail, [14, 1, 1, 1] + huge + tail,
        ]
        for bytes in down { #expect(throws: WireError.self) { try DownMessage(bytes) } }
    }

    @Test func numbersAboveTheirLimits() {
        let tooLarge: [UInt8] = [0x80, 0x80, 0x80, 0x80, 0x08]
        let tooNew: [UInt8] = [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10]
        #expect(throws: WireError.badVarint(field: "revision")) {
            try UpMessage([2, 1, 1, 0x61] + [UInt8](repeating: 0, count: 8) + tooNew)
        }
        #expect(throws: WireError.tooLarge(field: "number of commits", limit: Int(Int32.max), found: 1 << 31)) {
            try UpMessage([10, 1, 1, 0x61, 1] + tooLarge)
        }
    }

    @Test func helloOfAnotherProtocol() {
        #expect(throws: WireError.notHand) { try UpMessage([1] + Array("GET / HTTP/1.1".utf8)) }
        #expect(throws: WireError.notHand) { try UpMessage([1, 0x48, 0x41]) }
    }
}
