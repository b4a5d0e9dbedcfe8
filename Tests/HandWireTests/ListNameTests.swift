import HandTestSupport
import HandWire
import Testing

/// Names of lists are what people write, and each has one form.
@Suite struct ListNameTests {
    @Test(arguments: [
        "groceries", "Summer trip", "Wocheneinkauf für Oma", "買い物　リスト", "👩‍👩‍👧 & ❤️", "می‌خواهم", "-x", ".hidden", "...",
        "--",
        "50% off?", "a#b", "\"quoted\" 'twice' \\", "$(reboot)", "a:b,c=d", "1️⃣", String(repeating: "é", count: 64),
    ])
    func namesThatPeopleWrite(name: String) { #expect(ListName.problem(with: name) == nil) }

    @Test(arguments: [
        ("", "empty"), (".", "'.'"), ("..", "'..'"), ("-", "'-'"), ("a/b", "'/'"), ("a/\u{301}", "'/'"),
        (" a", "space"), ("a ", "space"), ("a\u{A0}", "space"), ("\u{3000}a", "space"), ("a\n", "space"),
        ("a\nb", "U+000A"), ("a\u{1B}[2J", "U+001B"), ("a\u{7F}", "U+007F"), ("a\u{9B}b", "U+009B"),
        ("a\u{202E}b", "U+202E"), ("a\u{2066}b", "U+2066"), ("a\u{200E}", "U+200E"), ("a\u{200B}b", "U+200B"),
        ("a\u{200D}b", "U+200D"), ("list\u{3164}", "U+3164"), ("a\u{AD}b", "U+00AD"), ("\u{FEFF}a", "U+FEFF"),
        ("a\u{E0041}", "U+E0041"), (String(repeating: "é", count: 65), "at most 128 bytes, and this one has more"),
    ])
    func otherNamesAreRefused(name: String, reason: String) throws {
        let problem = try #require(ListName.problem(with: name))
        #expect(problem.contains(reason), "\(problem)")
    }

    /// What a client sends is composed, and a server refuses every other form of the same name.
    @Test(arguments: [
        ("fu\u{308}r", "für"), ("e\u{301}", "é"), ("\u{212B}", "Å"), ("a\u{323}\u{302}", "ậ"), ("für", "für"),
    ])
    func namesHaveOneForm(typed: String, sent: String) throws {
        #expect(ListName.composed(typed).utf8.elementsEqual(sent.utf8))
        for message in [
            UpMessage.create(request: 1, name: typed, rules: .init()), .delete(request: 1, name: typed),
            .lists(request: 1, after: typed), .history(request: 1, name: typed, from: 1, limit: 1),
            .fetch(request: 1, name: typed, revision: nil), .excerpt(.init(request: 1, name: typed, [])),
            .rename(request: 1, name: "a", newName: typed), .rename(request: 1, name: typed, newName: "a"),
            .undelete(request: 1, name: "a", deletion: nil, newName: typed),
            .undelete(request: 1, name: typed, deletion: nil, newName: "a"),
            .subscribe(.init(request: 1, name: typed, logID: 0, revision: 0)),
        ] {
            let frame = message.frame
            #expect(frame.contains(sent: sent), "\(message)")
            // The frame as a careless client would send it.
            let careless = frame.replacing(string: sent, with: typed)
            if careless == frame { continue }
            #expect(throws: WireError.self, "\(message)") {
                try careless.dropFirst().withUnsafeBytes { try UpMessage($0) }
            }
        }
    }

    /// A name too long for any list is not examined, and only its beginning is kept: to normalize, to compare and to
    /// print a long one takes time. Still no list has it.
    @Test(arguments: [
        (String(repeating: "e\u{301}", count: 50), 150),
        ("a" + String(repeating: "\u{301}\u{323}", count: 100_000), 257),
    ])
    func longNamesAreNotNormalized(long: String, kept: Int) throws {
        var writer = WireWriter()
        writer.byte(8)
        writer.varint(1)
        writer.string(long)
        let message = try writer.bytes.withUnsafeBytes { try UpMessage($0) }
        guard case .delete(_, let name) = message else { throw ExpectationFailed() }
        #expect(name.utf8.elementsEqual(long.utf8.prefix(kept)) && kept > Limits.nameBytes)
    }
}

private struct ExpectationFailed: Error {}

extension [UInt8] {
    private static func string(_ text: String) -> [UInt8] { [UInt8(text.utf8.count)] + Array(text.utf8) }

    fileprivate func contains(sent text: String) -> Bool { firstRange(of: Self.string(text)) != nil }

    fileprivate func replacing(string text: String, with other: String) -> [UInt8] {
        replacing(Self.string(text), with: Self.string(other))
    }
}
