/// Writes values into settings files.
enum TOMLText {
    /// The text in quotes, on one line: nothing in the text can end the value or begin another value.
    static func quoted(_ text: String) -> String {
        let parts = text.unicodeScalars.map { scalar in
            switch scalar {
            case "\"", "\\": "\\\(scalar)"
            case _ where scalar.properties.generalCategory == .control || scalar.properties.isBidiControl:
                "\\u" + Array(repeating: "0", count: max(0, 4 - hex(scalar).count)) + hex(scalar)
            default: "\(scalar)"
            }
        }
        return "\"" + parts.joined() + "\""
    }

    static func list(_ texts: [String]) -> String { "[" + texts.map(quoted).joined(separator: ", ") + "]" }

    private static func hex(_ scalar: Unicode.Scalar) -> String { String(scalar.value, radix: 16) }
}
