import HandApp
import HandCore
import HandScreens
import HandTestSupport
import Testing

@Suite struct KeyDecoderTests {
    /// Bytes as a terminal sends them, and their keys.
    static let keys: [(String, String)] = [
        ("a", "a"), ("é漢😀", "é 漢 😀"), ("\r", "enter"), ("\t", "tab"), ("\u{1B}[Z", "shift-tab"),
        ("\u{7F}", "backspace"),
        ("\u{8}", "backspace"), ("\u{1A}", "ctrl-z"), ("\u{3}", "ctrl-c"), ("\u{1F}", "ctrl-_"), ("\0", "ctrl-space"),
        ("\u{1B}[A\u{1B}[B\u{1B}[C\u{1B}[D", "up down right left"), ("\u{1B}OA\u{1B}OF", "up end"),
        ("\u{1B}[1;2A", "shift-up"), ("\u{1B}[1;3B", "alt-down"), ("\u{1B}[1;5C", "ctrl-right"), ("\u{1B}[H", "home"),
        ("\u{1B}[1~\u{1B}[4~", "home end"), ("\u{1B}[2~\u{1B}[3~", "ins del"), ("\u{1B}[5~\u{1B}[6~", "pgup pgdn"),
        ("\u{1B}OP\u{1B}[15~\u{1B}[24~", "f1 f5 f12"), ("\u{1B}x", "alt-x"), ("\u{1B}\u{7F}", "alt-backspace"),
        ("\u{1B}", "esc"), ("\u{1B}\u{1B}", "esc esc"), ("\u{1B}[", "alt-["), ("a\u{1B}[99~b", "a b"), (" ", "space"),
        ("\u{1B}[1;-9223372036854775808A", "up"), ("\u{1B}[<0;-9223372036854775808;1Mb", "b"),
        ("\u{1B}[1;99999A", "up"),
    ]

    @Test(arguments: keys)
    func bytesAreKeys(_ bytes: String, _ expected: String) throws {
        #expect(Self.decode([Array(bytes.utf8)]) == expected)
        // However the bytes are cut, the keys are the same.
        #expect(Self.decode(bytes.utf8.map { [$0] }) == expected)
    }

    private static func decode(_ portions: [[UInt8]]) -> String {
        var decoder = KeyDecoder()
        var found: [Input] = []
        for portion in portions {
            decoder.append(portion)
            while let input = decoder.next() { found.append(input) }
        }
        while let input = decoder.next(isOver: true) { found.append(input) }
        return found.map { input in
            if case .key(let key) = input { return key.description }
            return "\(input)"
        }.joined(separator: " ")
    }

    @Test func aPasteIsOneInput() {
        var decoder = KeyDecoder()
        decoder.append(Array("\u{1B}[200~one\r\ntwo\u{1B}[A\u{1B}[20".utf8))
        #expect(decoder.next() == nil)
        #expect(!decoder.isWaiting)
        decoder.append(Array("1~x".utf8))
        #expect(decoder.next() == .paste("one\ntwo\u{1B}[A"))
        #expect(decoder.next() == .key(Key(.character("x"))))
    }

    @Test func theMouseIsRead() {
        var decoder = KeyDecoder()
        decoder.append(Array("\u{1B}[<0;11;3M\u{1B}[<32;11;4M\u{1B}[<0;11;5m\u{1B}[<64;1;1M\u{1B}[<65;300;1M".utf8))
        #expect(decoder.next() == .mouse(Mouse(.press, at: Point(row: 2, column: 10))))
        #expect(decoder.next() == .mouse(Mouse(.drag, at: Point(row: 3, column: 10))))
        #expect(decoder.next() == .mouse(Mouse(.release, at: Point(row: 4, column: 10))))
        #expect(decoder.next() == .mouse(Mouse(.wheelUp, at: Point(row: 0, column: 0))))
        #expect(decoder.next() == .mouse(Mouse(.wheelDown, at: Point(row: 0, column: 299))))
        #expect(decoder.next() == nil)
    }

    @Test func anyBytesAreSurvived() {
        var random = SplitMix64(seed: testSeed(43, "keys"))
        for _ in 0..<2_000 {
            var decoder = KeyDecoder()
            let bytes = (0..<40).map { _ in
                UInt8.random(in: 0...1, using: &random) == 0
                    ? UInt8.random(in: 0...255, using: &random) : Array("\u{1B}[<;~0129M".utf8).randomElement() ?? 0
            }
            decoder.append(bytes)
            while decoder.next() != nil {}
            while decoder.next(isOver: true) != nil {}
            #expect(!decoder.isWaiting, "\(bytes)")
        }
    }

    /// The cursor's position arrives between keys, in pieces, at any speed; a similar sequence in the first row is a
    /// key.
    @Test func cursorReportsAreNotKeys() {
        var decoder = KeyDecoder()
        decoder.append(Array("j\u{1B}[3;5Rk\u{1B}[1;5R\u{1B}[12".utf8))
        #expect(decoder.next() == .key(Key(.character("j"))))
        #expect(decoder.next() == .cursor(Point(row: 2, column: 4)))
        #expect(decoder.next() == .key(Key(.character("k"))))
        #expect(decoder.next() == .key(Key(.function(3), .control)))
        #expect(decoder.next(isOver: true) == nil)
        decoder.append(Array(";3Rx".utf8))
        #expect(decoder.next() == .cursor(Point(row: 11, column: 2)))
        #expect(decoder.next() == .key(Key(.character("x"))))
    }
}
