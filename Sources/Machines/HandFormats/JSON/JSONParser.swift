/// Parses exactly one JSON value as defined by RFC 8259.
///
/// Foundation's parser loses the order of fields and may turn large integers into floating point, so it cannot be used
/// here. This parser rejects duplicate fields, unpaired surrogates, invalid UTF-8 and more than `depth` levels.
struct JSONParser {
    /// The most levels of nesting: more than any form of this protocol needs, but too few to exhaust a thread's stack.
    private static let depth = 64

    /// Up to this number of fields, a linear search for duplicates is faster than a set.
    private static let few = 16

    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    mutating func document() throws(FormatError) -> JSONValue {
        let value = try value(depth: Self.depth)
        skipSpace()
        if position < bytes.count { throw unexpected("the end") }
        return value
    }

    private mutating func value(depth: Int) throws(FormatError) -> JSONValue {
        skipSpace()
        switch peek {
        case UInt8(ascii: "{"): return .object(try members(depth: depth - 1))
        case UInt8(ascii: "["): return .array(try elements(depth: depth - 1))
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case UInt8(ascii: "-"), .some(UInt8(ascii: "0")...UInt8(ascii: "9")): return try number()
        default: throw unexpected("a JSON value")
        }
    }

    // MARK: Collections

    private mutating func elements(depth: Int) throws(FormatError) -> [JSONValue] {
        guard depth > 0 else { throw unexpected("at most \(Self.depth) levels") }
        position += 1
        var elements: [JSONValue] = []
        skipSpace()
        if take("]") { return elements }
        while true {
            elements.append(try value(depth: depth))
            skipSpace()
            if take("]") { return elements }
            guard take(",") else { throw unexpected("',' or ']'") }
        }
    }

    private mutating func members(depth: Int) throws(FormatError) -> [JSONValue.Member] {
        guard depth > 0 else { throw unexpected("at most \(Self.depth) levels") }
        position += 1
        var members: [JSONValue.Member] = []
        var keys: Set<String> = []
        skipSpace()
        if take("}") { return members }
        while true {
            skipSpace()
            guard peek == UInt8(ascii: "\"") else { throw unexpected("the name of a field in quotes") }
            let start = position
            let key = try string()
            if members.count == Self.few { keys = Set(members.map(\.key)) }
            let isNew = members.count < Self.few ? !members.contains { $0.key == key } : keys.insert(key).inserted
            guard isNew else {
                throw FormatError(
                    place: "byte \(start + 1)", expected: "each field once",
                    found: "\(JSONValue.string(key).line) again")
            }
            skipSpace()
            guard take(":") else { throw unexpected("':'") }
            members.append(JSONValue.Member(key, try value(depth: depth)))
            skipSpace()
            if take("}") { return members }
            guard take(",") else { throw unexpected("',' or '}'") }
        }
    }

    // MARK: Words and numbers

    private mutating func word(_ word: StaticString, _ value: JSONValue) throws(FormatError) -> JSONValue {
        let end = position + word.utf8CodeUnitCount
        guard end <= bytes.count, bytes[position..<end].elementsEqual(word.description.utf8) else {
            throw unexpected("a JSON value")
        }
        position = end
        return value
    }

    private mutating func number() throws(FormatError) -> JSONValue {
        let start = position
        _ = take("-")
        if !take("0") { try digits() }
        var isInteger = true
        if take(".") {
            isInteger = false
            try digits()
        }
        if take("e") || take("E") {
            isInteger = false
            _ = take("+") || take("-")
            try digits()
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if isInteger, let integer = Int128(text) { return .integer(integer) }
        if let double = Double(text), double.isFinite { return .double(double) }
        throw FormatError(place: "byte \(start + 1)", expected: "a number of up to 1.8e308", found: "a larger one")
    }

    private mutating func digits() throws(FormatError) {
        let start = position
        while peek?.isDigit == true { position += 1 }
        if position == start { throw unexpected("a digit") }
    }

    // MARK: Strings

    private mutating func string() throws(FormatError) -> String {
        let start = position
        position += 1
        var text = plain()
        while let byte = peek {
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                guard let string = String(validating: text, as: UTF8.self) else {
                    throw FormatError(place: "byte \(start + 1)", expected: "text in UTF-8", found: "other bytes")
                }
                return string
            case UInt8(ascii: "\\"):
                text += String(try escape()).utf8
                text += plain()
            default: throw unexpected("an escaped control character")
            }
        }
        throw unexpected("'\"'")
    }

    /// Consumes the bytes up to the next quote, backslash or control character.
    private mutating func plain() -> ArraySlice<UInt8> {
        let rest = bytes[position...].prefix { $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
        position = rest.endIndex
        return rest
    }

    private mutating func escape() throws(FormatError) -> Unicode.Scalar {
        position += 1
        let scalar: Unicode.Scalar
        switch peek.map(Unicode.Scalar.init) {
        case let letter? where letter == "\"" || letter == "\\" || letter == "/": scalar = letter
        case "n": scalar = "\n"
        case "r": scalar = "\r"
        case "t": scalar = "\t"
        case "b": scalar = "\u{8}"
        case "f": scalar = "\u{C}"
        case "u": return try escapedScalar()
        case nil: throw unexpected("an escape")
        default: throw unexpected("one of \" \\ / b f n r t u")
        }
        position += 1
        return scalar
    }

    /// Parses `uXXXX`, or two such escapes that form a surrogate pair.
    private mutating func escapedScalar() throws(FormatError) -> Unicode.Scalar {
        let start = position - 1
        let first = try hexDigits()
        if let scalar = Unicode.Scalar(first) { return scalar }
        if (0xD800..<0xDC00).contains(first), take("\\"), peek == UInt8(ascii: "u") {
            let second = try hexDigits()
            if (0xDC00..<0xE000).contains(second) {
                let joined = 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00)
                if let scalar = Unicode.Scalar(joined) { return scalar }
            }
        }
        throw FormatError(place: "byte \(start + 1)", expected: "a pair of surrogates", found: "one alone")
    }

    private mutating func hexDigits() throws(FormatError) -> UInt32 {
        position += 1
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = peek.flatMap(Hex.digit(_:)) else { throw unexpected("four hexadecimal digits") }
            value = value << 4 | UInt32(digit)
            position += 1
        }
        return value
    }

    // MARK: Bytes

    private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard let peek, UInt32(peek) == character.value else { return false }
        position += 1
        return true
    }

    private mutating func skipSpace() {
        while let peek, peek == 0x20 || peek == 0x0A || peek == 0x0D || peek == 0x09 { position += 1 }
    }

    private func unexpected(_ expected: String) -> FormatError {
        let found = peek.map { $0 > 0x20 && $0 < 0x7F ? "'\(Unicode.Scalar($0))'" : "byte 0x" + Hex.text([$0]) }
        return FormatError(place: "byte \(position + 1)", expected: expected, found: found ?? "the end")
    }
}

extension JSONValue {
    /// Parses a value in UTF-8; whitespace around it is ignored.
    ///
    /// - Throws: `FormatError` with the place `byte N` if the bytes are not one JSON value.
    package static func parse(_ bytes: some Sequence<UInt8>) throws(FormatError) -> JSONValue {
        var parser = JSONParser(Array(bytes))
        return try parser.document()
    }

    package static func parse(_ text: String) throws(FormatError) -> JSONValue {
        try parse(text.utf8)
    }
}
