import HandCore
import HandFormats
import HandTestSupport
import Testing

/// The headers that proxies send for the connections that they forward.
@Suite struct ProxyHeaderTests {
    private static let signature: [UInt8] = [13, 10, 13, 10, 0, 13, 10, 81, 85, 73, 84, 10]

    private static func read(_ text: String) throws -> (header: ProxyHeader, size: Int)? {
        try ProxyHeader.read(Array(text.utf8))
    }

    private static func binary(_ command: UInt8, _ family: UInt8, _ body: [UInt8]) -> [UInt8] {
        signature + [command, family, UInt8(body.count >> 8), UInt8(body.count & 0xFF)] + body
    }

    private static let v4: [UInt8] = [203, 0, 113, 7, 192, 0, 2, 1, 0x12, 0x67, 0x1E, 0x61]
    private static let v6: [UInt8] =
        [0x20, 1, 0x0D, 0xB8] + Array(repeating: 0, count: 11) + [7] + Array(repeating: 9, count: 16)
        + [0x12, 0x67, 0x1E, 0x61]

    private static let good: [(bytes: [UInt8], ip: String?)] = [
        (Array("PROXY TCP4 203.0.113.7 192.0.2.1 4711 7777\r\n".utf8), "203.0.113.7"),
        (Array("PROXY TCP6 2001:db8::7 ::1 4711 7777\r\n".utf8), "2001:db8::7"),
        (Array("PROXY UNKNOWN\r\n".utf8), nil), (Array("PROXY UNKNOWN what ever\r\n".utf8), nil),
        (binary(0x21, 0x11, v4), "203.0.113.7"), (binary(0x21, 0x11, v4 + [4, 0, 1, 0]), "203.0.113.7"),
        (binary(0x21, 0x21, v6), "2001:db8:0:0:0:0:0:7"), (binary(0x20, 0x11, v4), nil), (binary(0x20, 0, []), nil),
        (binary(0x21, 0x31, Array(repeating: 47, count: 216)), nil), (binary(0x21, 0x12, v4), nil),
    ]

    /// In one piece, followed by other bytes, and byte by byte.
    @Test(arguments: good.indices) func whoseConnectionItIs(index: Int) throws {
        let (bytes, ip) = Self.good[index]
        for rest in [[], [1], Array("PROXY ".utf8)] {
            let found = try #require(try ProxyHeader.read(bytes + rest))
            #expect(found.header.source == ip.map { ProxyHeader.Source(ip: $0, port: 4711) })
            #expect(found.size == bytes.count)
        }
        for count in bytes.indices { #expect(try ProxyHeader.read(Array(bytes[..<count])) == nil, "\(count)") }
    }

    private static let bad: [[UInt8]] =
        [
            "GET / HTTP/1.1", "proxy TCP4", "PROXYTCP4", "PROXY \r\n", "PROXY TCP4\r\n",
            "PROXY TCP5 1.1.1.1 1.1.1.1 1 1\r\n",
            "PROXY TCP4 1.1.1.1 1.1.1.1 1\r\n", "PROXY TCP4 1.1.1.1 1.1.1.1 1 1 1\r\n",
            "PROXY TCP4  1.1.1.1 1.1.1.1 1 1\r\n", "PROXY TCP4 1.1.1.1 1.1.1.1 65536 1\r\n",
            "PROXY TCP4 1.1.1.1 1.1.1.1 -1 1\r\n", "PROXY TCP4 1.1.1.1 1.1.1.1 1 +1\r\n",
            "PROXY TCP4 1.1.1.1 1.1.1.1  1\r\n", "PROXY TCP4 ::1 ::1 1 1\r\n", "PROXY TCP6 1.1.1.1 1.1.1.1 1 1\r\n",
            "PROXY TCP6 fe80::1%eth0 ::1 1 1\r\n", "PROXY TCP4 1.1.1.\u{e9} 1.1.1.1 1 1\r\n",
            "PROXY TCP4 1.1.1.1\u{0} 1.1.1.1 1 1\r\n", "PROXY TCP4 " + String(repeating: "1", count: 96),
        ].map { Array($0.utf8) } + [
            [0], [13, 10, 13, 11], binary(0x11, 0x11, v4), binary(0x22, 0x11, v4),
            binary(0x21, 0x11, Array(v4.dropLast())),
            binary(0x21, 0x21, v4), binary(0x21, 0x11, Array(repeating: 0, count: 4_081)),
        ]

    @Test(arguments: bad.indices) func anythingElseIsRefused(index: Int) {
        #expect(throws: ProxyHeader.Malformed()) { try ProxyHeader.read(Self.bad[index]) }
    }

    /// An incomplete header cannot grow without limit.
    @Test func noMoreIsAwaitedThanThereMayBe() throws {
        var random = SplitMix64(seed: testSeed(77))
        for _ in 0..<2_000 {
            var bytes = Self.good[random.next(below: Self.good.count)].bytes
            for _ in 0...random.next(below: 3) {
                bytes[random.next(below: bytes.count)] = UInt8(random.next(below: 256))
            }
            bytes += (0..<ProxyHeader.maxBytes).map { _ in UInt8(random.next(below: 256)) }
            let found = Result { try ProxyHeader.read(bytes) }
            if case .success(nil) = found { Issue.record("\(bytes.prefix(40)) awaits more") }
        }
    }
}
