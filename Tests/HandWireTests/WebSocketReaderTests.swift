import HandCore
import HandTestSupport
import HandWire
import Testing

/// Frames of a client, read whole and byte by byte: the cases of RFC 6455 and of Autobahn's groups 1 to 5 and 7, for a
/// protocol that is binary.
@Suite struct WebSocketReaderTests {
    /// A frame as a client sends it.
    struct Frame {
        var first: UInt8
        var content: [UInt8]
        /// The form of the length: the shortest one, or one of 2 or 8 bytes.
        var lengthBytes: Int?
        var mask: [UInt8]? = [0x37, 0xFA, 0x21, 0x3D]

        var bytes: [UInt8] {
            let masked: UInt8 = mask == nil ? 0 : 0x80
            var bytes = [first]
            switch lengthBytes ?? (content.count < 126 ? 1 : content.count < 65_536 ? 2 : 8) {
            case 1: bytes.append(masked | UInt8(content.count))
            case 2: bytes += [masked | 126, UInt8(content.count >> 8), UInt8(content.count & 0xFF)]
            default:
                bytes.append(masked | 127)
                bytes += (0..<8).reversed().map { UInt8(truncatingIfNeeded: content.count >> ($0 * 8)) }
            }
            guard let mask else { return bytes + content }
            return bytes + mask + content.enumerated().map { $0.element ^ mask[$0.offset % 4] }
        }
    }

    /// What a reader has made of some bytes.
    struct Seen: Equatable {
        var content: [UInt8] = []
        var pings: [[UInt8]] = []
        var closes: [WebSocketEnd?] = []
        var error: WebSocketEnd?
    }

    private static func read(
        _ pieces: [[UInt8]], room size: Int = 64, of sender: WebSocketReader.Sender = .client
    ) -> Seen {
        var (reader, seen) = (WebSocketReader(of: sender), Seen())
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 8)
        defer { room.deallocate() }
        for piece in pieces {
            piece.withUnsafeBytes { bytes in
                var rest = bytes
                do throws(WebSocketEnd) {
                    while let event = try reader.read(&rest, into: room) {
                        switch event {
                        case .content(let count): seen.content += room[..<count]
                        case .ping(let content): seen.pings.append(content)
                        case .close(let end): seen.closes.append(end)
                        }
                    }
                } catch { seen.error = error }
            }
            if seen.error != nil { break }
        }
        return seen
    }

    /// Reads bytes at once, byte by byte, and with little room; all must be the same.
    private static func read(_ bytes: [UInt8], of sender: WebSocketReader.Sender = .client) -> Seen {
        let whole = read([bytes], room: 1 << 17, of: sender)
        #expect(read(bytes.map { [$0] }, of: sender) == whole)
        #expect(read([bytes], room: 3, of: sender) == whole)
        return whole
    }

    private static func binary(_ content: [UInt8], isFinal: Bool = true) -> Frame {
        Frame(first: isFinal ? 0x82 : 0x02, content: content)
    }

    private static func more(_ content: [UInt8], isFinal: Bool = true) -> Frame {
        Frame(first: isFinal ? 0x80 : 0x00, content: content)
    }

    private static func ping(_ content: [UInt8] = []) -> Frame { Frame(first: 0x89, content: content) }
    private static func close(_ content: [UInt8] = []) -> Frame { Frame(first: 0x88, content: content) }

    private static func seen(_ frames: Frame...) -> Seen { read(frames.flatMap(\.bytes)) }

    @Test(arguments: [0, 1, 7, 8, 9, 125, 126, 127, 128, 65_535, 65_536, 70_001])
    func messagesOfAnySizeAreRead(_ count: Int) {
        let content = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7) }
        #expect(Self.seen(Self.binary(content)) == Seen(content: content))
        var unmasked = Self.binary(content)
        unmasked.mask = [0, 0, 0, 0]
        #expect(Self.seen(unmasked, Self.binary([1, 2])) == Seen(content: content + [1, 2]))
    }

    @Test func whereMessagesEndMeansNothing() {
        #expect(Self.seen(Self.binary([1]), Self.binary([2, 3]), Self.binary([])) == Seen(content: [1, 2, 3]))
        let seen = Self.seen(
            Self.binary([1], isFinal: false), Self.ping([9]), Self.more([2], isFinal: false), Self.more([]),
            Self.binary([3]))
        #expect(seen == Seen(content: [1, 2, 3], pings: [[9]]))
    }

    @Test func pingsAreReportedAndPongsAreNot() {
        let long = [UInt8](repeating: 5, count: 125)
        #expect(Self.seen(Self.ping(), Self.ping([1]), Self.ping(long)) == Seen(pings: [[], [1], long]))
        #expect(Self.seen(Frame(first: 0x8A, content: [1]), Self.binary([2])) == Seen(content: [2]))
    }

    /// The frames, the code with which the connection ends, and words of the reason.
    static let broken: [(frames: [Frame], code: UInt16, words: String)] = {
        var unmasked = binary([1])
        unmasked.mask = nil
        var long = binary([1, 2])
        long.lengthBytes = 2
        var longer = binary([UInt8](repeating: 0, count: 200))
        longer.lengthBytes = 8
        var table: [(frames: [Frame], code: UInt16, words: String)] = [
            ([unmasked], 1002, "not masked"), ([long], 1002, "more bytes than it needs"),
            ([longer], 1002, "more bytes than it needs"), ([Frame(first: 0x81, content: [0x61])], 1003, "binary"),
            ([Frame(first: 0x01, content: [])], 1003, "binary"),
            ([Frame(first: 0x09, content: [])], 1002, "fragmented"),
            ([Frame(first: 0x08, content: [])], 1002, "fragmented"),
            ([Frame(first: 0x0A, content: [])], 1002, "fragmented"),
            ([more([1])], 1002, "without a message"), ([binary([1]), more([2])], 1002, "without a message"),
            ([binary([1], isFinal: false), binary([2])], 1002, "before the last one ended"),
            ([binary([1], isFinal: false), more([2]), more([3])], 1002, "without a message"),
            ([Frame(first: 0x89, content: [UInt8](repeating: 0, count: 126))], 1002, "over 125"),
            ([close([3])], 1002, "half a code"), ([close([0x03, 0xE8, 0xCE])], 1007, "UTF-8"),
            (Array(repeating: binary([]), count: 65), 1008, "empty"),
            ([binary([], isFinal: false)] + Array(repeating: more([], isFinal: false), count: 64), 1008, "empty"),
        ]
        for bits in [UInt8(0x10), 0x20, 0x40, 0x70] {
            table.append(([Frame(first: 0x82 | bits, content: [])], 1002, "reserved"))
            table.append(([Frame(first: 0x89 | bits, content: [])], 1002, "reserved"))
        }
        for opcode in [UInt8(3), 4, 5, 6, 7, 11, 12, 13, 14, 15] {
            table.append(([Frame(first: 0x80 | opcode, content: [])], 1002, "the opcode \(opcode)"))
        }
        for code in [0, 1, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535] {
            table.append(([close([UInt8(code >> 8), UInt8(code & 0xFF)])], 1002, "the code \(code)"))
        }
        return table
    }()

    @Test(arguments: broken.indices)
    func brokenFramesEndTheConnection(_ row: Int) {
        let (frames, code, words) = Self.broken[row]
        let seen = Self.read(frames.flatMap(\.bytes))
        #expect(seen.error?.code == code && seen.error?.reason.contains(words) == true, "\(seen)")
        #expect(seen.closes.isEmpty)
        #expect((seen.error?.bytes.count ?? 200) <= WebSocketFrame.maxControlBytes)
    }

    @Test func aLengthHas63Bits() {
        let bytes: [UInt8] = [0x82, 0xFF, 0x80, 0, 0, 0, 0, 0, 0, 0]
        #expect(Self.read(bytes).error?.code == 1002)
        // A length that is only large is no error, and needs no memory.
        #expect(
            Self.read([0x82, 0xFF, 0x7F] + Array(repeating: 0xFF, count: 7) + [0, 0, 0, 0, 1, 2]).content == [1, 2])
    }

    @Test(arguments: [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999, 4000, 4999])
    func endsAreRead(_ code: Int) {
        let end = [UInt8(code >> 8), UInt8(code & 0xFF)]
        let frames = [Self.close(), Self.close(end), Self.close(end + Array("Grüße".utf8))]
        for (frame, expected) in zip(frames, [nil, "", "Grüße"] as [String?]) {
            let seen = Self.seen(Self.binary([1]), frame)
            #expect(seen == Seen(content: [1], closes: [expected.map { WebSocketEnd(code: UInt16(code), $0) }]))
        }
    }

    @Test func contentEndsARunOfEmptyFrames() {
        let empty = Array(repeating: Self.binary([]), count: 64)
        let frames = empty + [Self.binary([1])] + empty
        #expect(Self.read(frames.flatMap(\.bytes)) == Seen(content: [1]))
    }

    /// What a server writes in front of its bytes, read by the rules of RFC 6455.
    @Test(
        arguments: [
            (0, [0x82, 0]), (125, [0x82, 125]), (126, [0x82, 126, 0, 126]), (65_535, [0x82, 126, 0xFF, 0xFF]),
            (65_536, [0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0]),
        ] as [(Int, [UInt8])])
    func headersAreWritten(_ count: Int, _ expected: [UInt8]) {
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: WebSocketFrame.maxHeaderBytes, alignment: 8)
        defer { room.deallocate() }
        let size = WebSocketFrame.writeHeader(.binary, count: count, into: room)
        #expect(Array(room[..<size]) == expected)
    }

    /// A server's frames have no mask, and are read by the same rules.
    @Test(arguments: [0, 1, 125, 126, 65_535, 65_536])
    func framesOfAServerAreRead(_ count: Int) {
        let content = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7) }
        let frames = [
            Frame(first: 0x82, content: content, mask: nil), Frame(first: 0x89, content: [9], mask: nil),
            Frame(first: 0x82, content: [1], mask: nil), Frame(first: 0x88, content: [0x03, 0xE8], mask: nil),
        ]
        let seen = Self.read(frames.flatMap(\.bytes), of: .server)
        #expect(seen == Seen(content: content + [1], pings: [[9]], closes: [WebSocketEnd(code: 1000, "")]))
        let error = Self.read(Self.binary(content).bytes, of: .server).error
        #expect(error?.code == 1002 && error?.reason == "a frame of a server is masked")
    }

    /// What a client writes is what a server reads.
    @Test(arguments: [0, 1, 3, 4, 7, 125, 126, 65_535, 65_536])
    func maskedFramesAreRead(_ count: Int) {
        let content = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7) }
        for (mask, first) in [(0x1234_5678, 0x78), (0, 0), (UInt32.max, 0xFF)] as [(UInt32, UInt8)] {
            let frame = WebSocketFrame.masked(.binary, content, by: mask)
            #expect(Self.read(frame) == Seen(content: content))
            #expect(count == 0 || frame[frame.count - count] == content[0] ^ first)
        }
        #expect(Self.read(WebSocketFrame.masked(.ping, [1, 2], by: 7)) == Seen(pings: [[1, 2]]))
    }

    /// Random bytes end in an error or not, but never in a trap, and the pieces do not matter.
    @Test func randomBytes() {
        var random = SplitMix64(seed: testSeed(91))
        for _ in 0..<2_000 {
            var bytes = (0..<random.next(below: 60)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            if random.next(below: 2) == 0 {
                bytes = Self.binary(bytes).bytes + bytes
                if !bytes.isEmpty { bytes[random.next(below: min(bytes.count, 12))] ^= 1 << random.next(below: 8) }
            }
            _ = Self.read(bytes)
        }
    }

    @Test func anIdleReaderTakesLittleMemory() {
        #expect(MemoryLayout<WebSocketReader>.size <= 32)
    }
}
