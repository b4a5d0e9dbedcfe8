import HandCore

/// A place in a JSON value, possibly empty, with its path for error messages. All forms are read through this type.
package struct JSONField: Sendable {
    package let value: JSONValue?
    /// For example `delta[2].insert[0].kind`; empty for the whole value.
    package let path: String

    package init(_ value: JSONValue?, path: String = "") {
        self.value = value
        self.path = path
    }

    package var isPresent: Bool { value != nil }

    package subscript(key: String) -> JSONField {
        JSONField(value?[key], path: path.isEmpty ? key : "\(path).\(key)")
    }

    /// Returns an error that says what was expected here, and what was found.
    package func mismatch(_ expected: String) -> FormatError {
        FormatError(place: path, expected: expected, found: found)
    }

    /// The value here, shortened to fit a line.
    private var found: String {
        guard let value else { return "nothing" }
        let line = value.line
        let limit = 60
        return line.unicodeScalars.count <= limit ? line : String(line.unicodeScalars.prefix(limit)) + "…"
    }
}

// MARK: - Reading

extension JSONField {
    /// Reads what a text stands for.
    func text<Value>(_ expected: String, _ read: (String) -> Value?) throws(FormatError) -> Value {
        guard case .string(let text) = value, let value = read(text) else { throw mismatch(expected) }
        return value
    }

    package func string(_ expected: String = "a text") throws(FormatError) -> String { try text(expected) { $0 } }

    package func bool() throws(FormatError) -> Bool {
        guard case .bool(let bool) = value else { throw mismatch("true or false") }
        return bool
    }

    package func integer<Number: FixedWidthInteger>(_ range: ClosedRange<Number>) throws(FormatError) -> Number {
        guard case .integer(let integer) = value, let number = Number(exactly: integer), range.contains(number) else {
            throw mismatch("a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// Reads a number of items: up to 2³¹ − 1, the length of the longest list.
    package func count() throws(FormatError) -> Int {
        try integer(0...Rules.unlimitedCount)
    }

    func number<Number: TypedNumber>() throws(FormatError) -> Number {
        Number(rawValue: try integer(0...UInt64.max))
    }

    /// Reads a revision: up to 2⁵³ − 1, so that every language can represent it exactly.
    func revision() throws(FormatError) -> Int {
        try integer(0...(1 << 53) - 1)
    }

    /// Reads sixteen hexadecimal digits.
    package func word() throws(FormatError) -> UInt64 {
        try text("16 hexadecimal digits as a text", Hex.word)
    }

    package func hexBytes() throws(FormatError) -> [UInt8] {
        try text("an even number of hexadecimal digits as a text", Hex.bytes)
    }

    func base64() throws(FormatError) -> [UInt8] { try text("bytes in base 64 as a text", Base64.bytes) }

    package func id() throws(FormatError) -> ItemID {
        guard case .string(let text) = value else { throw mismatch("an id of \(ItemID.textLength) characters") }
        if let id = ItemID(text) { return id }
        let isNearly = text.utf8.count == ItemID.textLength && ItemID.range(ofPrefix: String(text.dropLast())) != nil
        throw mismatch(
            isNearly
                ? "an id, whose last character is one of 02468acegjmprtwy" : "an id of \(ItemID.textLength) characters")
    }

    /// Returns the meaning of the word at this place, which must be one of `words`.
    package func choice<Meaning>(_ words: KeyValuePairs<String, Meaning>) throws(FormatError) -> Meaning {
        if case .string(let text) = value, let chosen = words.first(where: { $0.key == text }) { return chosen.value }
        throw mismatch(words.map { "\"\($0.key)\"" }.joined(separator: " or "))
    }

    package func elements(_ expected: String = "an array") throws(FormatError) -> [JSONField] {
        guard case .array(let elements) = value else { throw mismatch(expected) }
        return elements.enumerated().map { JSONField($1, path: "\(path)[\($0)]") }
    }

    package func list<Element>(_ read: (JSONField) throws(FormatError) -> Element) throws(FormatError) -> [Element] {
        try elements().map(read)
    }

    /// Returns the result of `read`, or nil if this place is empty.
    package func ifPresent<Element>(_ read: (JSONField) throws(FormatError) -> Element) throws(FormatError) -> Element?
    {
        isPresent ? try read(self) : nil
    }

    /// Checks that this is an object, and that it has no fields other than `keys`. Where all fields are optional, a
    /// misspelled field would otherwise be overlooked.
    package func expectObject(_ expected: String = "an object", only keys: [String]? = nil) throws(FormatError) {
        guard case .object(let members) = value else { throw mismatch(expected) }
        guard let keys, let unknown = members.first(where: { !keys.contains($0.key) }) else { return }
        throw FormatError(
            place: path, expected: keys.isEmpty ? "no field" : "only the fields " + keys.joined(separator: ", "),
            found: JSONValue.string(unknown.key).line)
    }
}
