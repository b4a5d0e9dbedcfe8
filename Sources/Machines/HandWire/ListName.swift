// The standard library's normalization has no public function yet.
@_spi(_Unicode) import Swift

/// The rule for names of lists (`Protocol.md`, “Names of lists”): what people write, on one line, up to 128 bytes.
package enum ListName {
    /// Names with another meaning in addresses.
    private static let reserved = [".", "..", "-"]

    /// Returns why `name` is not a valid name of a list, or nil if it is.
    package static func problem(with name: String) -> String? {
        if name.isEmpty { return "a list's name must not be empty" }
        if name.utf8.count > Limits.nameBytes {
            return "a list's name may have at most \(Limits.nameBytes) bytes, and this one has more"
        }
        if reserved.contains(name) { return "a list's name must not be '.', '..' or '-'" }
        if name.utf8.contains(UInt8(ascii: "/")) { return "a list's name must not contain '/'" }
        let ends = [name.unicodeScalars.first, name.unicodeScalars.last]
        if ends.contains(where: { $0?.properties.isWhitespace == true }) {
            return "a list's name must not begin or end with a space"
        }
        return VisibleText.firstHidden(in: name).map { hidden in
            let code = String(hidden.value, radix: 16, uppercase: true)
            return "a list's name must not contain control characters, marks of writing direction or invisible "
                + "characters, but this one has U+\(String(repeating: "0", count: max(0, 4 - code.count)))\(code)"
        }
    }

    /// Returns the name in Unicode's composed form (NFC). Clients send names in this form, so that servers can compare
    /// bytes.
    package static func composed(_ name: String) -> String {
        if isTriviallyComposed(name) { return name }
        var composed = String.UnicodeScalarView()
        for scalar in name._nfc { composed.append(scalar) }
        return String(composed)
    }

    static func isComposed(_ name: String) -> Bool {
        isTriviallyComposed(name) || name.unicodeScalars.elementsEqual(name._nfc)
    }

    /// Whether the name has no character that composes with another one: the first combining mark is U+0300.
    private static func isTriviallyComposed(_ name: String) -> Bool {
        name.utf8.allSatisfy { $0 < 0xCC }
    }
}

extension WireWriter {
    mutating func listName(_ name: String) { string(ListName.composed(name)) }
}

extension WireReader {
    /// Reads the name of a list, in composed form: otherwise one name would have two forms, and two lists could look
    /// the same. Of a name that is too long for any list, returns as much as no list can have: to compare or to print
    /// a whole frame of combining marks takes minutes.
    mutating func listName(_ field: @autoclosure () -> String = "list name") throws(WireError) -> String {
        let name = try string(field())
        guard name.utf8.count <= Limits.nameBytes else {
            return String(name.unicodeScalars.prefix(Limits.nameBytes + 1))
        }
        guard ListName.isComposed(name) else { throw .notComposed(field: field()) }
        return name
    }
}
