import HandCore
import HandWire

/// A JSON value that keeps the order of an object's fields and the exact value of integers.
///
/// `line` always writes the same value as the same bytes.
package enum JSONValue: Sendable {
    case null
    case bool(Bool)
    /// A number written without a fraction or an exponent.
    case integer(Int128)
    /// Any other number; finite.
    case double(Double)
    case string(String)
    case array([JSONValue])
    /// The fields in their order. No two have the same key.
    case object([Member])

    package struct Member: Sendable {
        package var key: String
        package var value: JSONValue

        package init(_ key: String, _ value: JSONValue) {
            self.key = key
            self.value = value
        }
    }

    package init(_ number: some BinaryInteger & Sendable) { self = .integer(Int128(number)) }

    /// The value of the field with that key; nil if this is not an object or has no such field. O(fields).
    package subscript(key: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.key == key }?.value
    }
}

extension JSONValue: Equatable {
    /// Whether both values are written as the same bytes. The order of fields and the code points of texts matter.
    package static func == (left: JSONValue, right: JSONValue) -> Bool { left.bytes == right.bytes }
}

// MARK: - Literals

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    package init(stringLiteral value: String) { self = .string(value) }
    package init(integerLiteral value: Int) { self = .integer(Int128(value)) }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }

    /// Creates an object with the fields in the order in which they are written.
    package init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(elements.map(Member.init))
    }
}

// MARK: - Values with one obvious form

package protocol JSONConvertible {
    var json: JSONValue { get }
}

extension JSONValue: JSONConvertible {
    package var json: JSONValue { self }

    /// Creates an object with the fields that have a value, in the order in which they are written.
    package init(fields: KeyValuePairs<String, (any JSONConvertible)?>) { self = .object(.init(fields)) }

    package init(orNull value: (some JSONConvertible)?) { self = value?.json ?? .null }
}

extension [JSONValue.Member] {
    /// Creates the fields that have a value, in the order in which they are written.
    package init(_ fields: KeyValuePairs<String, (any JSONConvertible)?>) {
        self = fields.compactMap { key, value in value.map { Element(key, $0.json) } }
    }
}

extension String: JSONConvertible {
    package var json: JSONValue { .string(self) }
}

extension Bool: JSONConvertible {
    package var json: JSONValue { .bool(self) }
}

extension Int: JSONConvertible {
    package var json: JSONValue { JSONValue(self) }
}

extension UInt64: JSONConvertible {
    package var json: JSONValue { JSONValue(self) }
}

extension JSONConvertible where Self: TypedNumber {
    package var json: JSONValue { JSONValue(rawValue) }
}

extension AuthorID: JSONConvertible {}
extension SequenceNumber: JSONConvertible {}
extension ListNumber: JSONConvertible {}

extension Array: JSONConvertible where Element: JSONConvertible {
    package var json: JSONValue { .array(map(\.json)) }
}

// MARK: - Writing

extension JSONValue {
    /// The value on one line, without spaces and without a line break at the end.
    ///
    /// Only `"`, `\`, and the control characters U+0000–U+001F and U+007F–U+009F are escaped (the latter because
    /// terminals interpret these characters). All other characters, including `/` and U+2028, are written as they are.
    package var line: String { String(decoding: bytes, as: UTF8.self) }

    /// `line` in UTF-8.
    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        write(to: &bytes)
        return bytes
    }

    private func write(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes += "null".utf8
        case .bool(let value): bytes += (value ? "true" : "false").utf8
        case .integer(let value): bytes += value.description.utf8
        case .double(let value): bytes += value.description.utf8
        case .string(let value): Self.write(value, to: &bytes)
        case .array(let elements):
            bytes.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                element.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                Self.write(member.key, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                member.value.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    private static func write(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        if text.utf8.allSatisfy(isPlain) { bytes += text.utf8 } else { writeEscaped(text, to: &bytes) }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Whether a byte certainly needs no escape; 0xC2 starts U+0080–U+00BF.
    private static func isPlain(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\") && byte != 0x7F && byte != 0xC2
    }

    private static func writeEscaped(_ text: String, to bytes: inout [UInt8]) {
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": bytes += #"\""#.utf8
            case "\\": bytes += #"\\"#.utf8
            case "\n": bytes += #"\n"#.utf8
            case "\r": bytes += #"\r"#.utf8
            case "\t": bytes += #"\t"#.utf8
            case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}":
                bytes += #"\u00"#.utf8
                bytes += Hex.text([UInt8(scalar.value)]).utf8
            default: bytes += String(scalar).utf8
            }
        }
    }
}
