import HandFormats
import Testing

@Suite struct JSONValueTests {
    @Test(arguments: [
        "null", "true", "false", "0", "-1", "18446744073709551615", "-9223372036854775808",
        "170141183460469231731687303715884105727", "1.5", "-0.25", "[]", "{}", "[1,[2,[]],{}]",
        #"{"b":1,"a":[null],"":{}}"#, #""é 👩‍👩‍👧 e\#u{301} / \#u{2028}""#, #""\"\\\n\r\t\u0000\u001f\u007f\u0085""#,
    ])
    func aLineIsReadBackAsItself(line: String) throws {
        #expect(Array(try JSONValue.parse(line).line.utf8) == Array(line.utf8))
    }

    @Test(arguments: [
        (" \r\n\t[ 1 , 2 ] ", "[1,2]"), (#"{ "a" : 1 }"#, #"{"a":1}"#),
        (#""\/\b\f\u00e9\ud83c\udca1""#, "\"/\\u0008\\u000cé🂡\""),
        ("-0", "0"), ("1e2", "100.0"), ("1E-2", "0.01"), ("1700000000000000000000000000000000000000", "1.7e+39"),
    ])
    func otherSpellingsHaveOneForm(text: String, line: String) throws {
        #expect(try JSONValue.parse(text).line == line)
    }

    @Test(arguments: [
        ("", "byte 1: expected a JSON value, found the end"),
        ("[1 2]", "byte 4: expected ',' or ']', found '2'"),
        ("[1,]", "byte 4: expected a JSON value, found ']'"),
        ("{\"a\"}", "byte 5: expected ':', found '}'"),
        ("{a:1}", "byte 2: expected the name of a field in quotes, found 'a'"),
        ("{\"a\":1,\"a\":2}", "byte 8: expected each field once, found \"a\" again"),
        ("1 1", "byte 3: expected the end, found '1'"),
        ("01", "byte 2: expected the end, found '1'"),
        ("1.", "byte 3: expected a digit, found the end"),
        ("+1", "byte 1: expected a JSON value, found '+'"),
        ("1e999", "byte 1: expected a number of up to 1.8e308, found a larger one"),
        ("nul", "byte 1: expected a JSON value, found 'n'"),
        ("\"a", "byte 3: expected '\"', found the end"),
        ("\"\n\"", "byte 2: expected an escaped control character, found byte 0x0a"),
        (#""\x""#, "byte 3: expected one of \" \\ / b f n r t u, found 'x'"),
        (#""\u12g4""#, "byte 6: expected four hexadecimal digits, found 'g'"),
        (#""\ud83c""#, "byte 2: expected a pair of surrogates, found one alone"),
        (#""\udca1\ud83c""#, "byte 2: expected a pair of surrogates, found one alone"),
        (#""\ud83c\u0041""#, "byte 2: expected a pair of surrogates, found one alone"),
    ])
    func errorsSayWhere(text: String, message: String) {
        #expect(throws: FormatError.self) { try JSONValue.parse(text) }
        do { _ = try JSONValue.parse(text) } catch { #expect(error.description == message) }
    }

    @Test func notUTF8IsAnError() {
        let error = #expect(throws: FormatError.self) { try JSONValue.parse([0x22, 0xFF, 0x22]) }
        #expect(error?.description == "byte 1: expected text in UTF-8, found other bytes")
    }

    @Test func depthIsBounded() throws {
        let deep = { (levels: Int) in String(repeating: "[", count: levels) + String(repeating: "]", count: levels) }
        _ = try JSONValue.parse(deep(63))
        #expect(throws: FormatError.self) { try JSONValue.parse(deep(100_000)) }
        #expect(throws: FormatError.self) { try JSONValue.parse(String(repeating: "{\"a\":", count: 100_000)) }
    }

    @Test func fieldsOfLargeObjectsAreUniqueToo() throws {
        let fields = (0..<40).map { "\"\($0)\":\($0)" }
        for count in 1...40 {
            let open = "{" + fields[..<count].joined(separator: ",")
            #expect(try JSONValue.parse(open + "}")["\(count - 1)"] == JSONValue(count - 1))
            for double in fields[..<count] {
                #expect(throws: FormatError.self) { try JSONValue.parse(open + "," + double + "}") }
            }
        }
    }

    @Test func equalityIsByBytes() throws {
        #expect(try JSONValue.parse("\"\u{E9}\"") != JSONValue.parse("\"e\u{301}\""))
        #expect(try JSONValue.parse("{\"a\":1,\"b\":2}") != JSONValue.parse("{\"b\":2,\"a\":1}"))
        #expect(try JSONValue.parse("[ 1 ]") == [1])
    }
}
