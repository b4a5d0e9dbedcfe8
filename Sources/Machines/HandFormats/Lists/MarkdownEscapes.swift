import HandWire

/// Characters written as `&#N;`. Lines and blocks with such escapes have a mark. Markdown shows each escape as its
/// character.
enum MarkdownEscapes {
    /// Where a text is written. Characters that would not be shown are escaped everywhere; the place decides which
    /// other characters are escaped, too.
    enum Place {
        /// A text within a line.
        case line
        /// The address of a link. Markdown allows no blanks in an address.
        case address
        /// Lines that keep their meaning in Markdown.
        case block
    }

    static func escaped(_ text: String, in place: Place) -> String {
        var result = String.UnicodeScalarView()
        let scalars = Array(text.unicodeScalars)
        for (index, scalar) in scalars.enumerated() {
            let isAtEnd = index == 0 || index == scalars.count - 1
            let isEscaped =
                switch scalar {
                case _ where place == .block && (scalar == "\n" || scalar == "\t"): false
                case "&" where place == .block: scalars.dropFirst(index + 1).first == "#"
                case " ", "\t": place == .address || place == .line && isAtEnd
                case _ where place != .block && (0x21..<0x7F).contains(scalar.value) && !scalar.isAlphanumeric:
                    isAtEnd || "&<>[]()".unicodeScalars.contains(scalar)
                default: !VisibleText.isHarmless(scalar, after: result.last)
                }
            if isEscaped {
                result.append(contentsOf: "&#\(scalar.value);".unicodeScalars)
            } else {
                result.append(scalar)
            }
        }
        return String(result)
    }

    /// Returns the text without escapes. Anything that is not an escape stays as it is.
    static func text(_ escaped: ArraySlice<UInt8>) -> String {
        var result: [UInt8] = []
        result.reserveCapacity(escaped.count)
        var rest = escaped
        while let byte = rest.first {
            if byte == UInt8(ascii: "&"), let (scalar, length) = reference(rest) {
                result += String(scalar).utf8
                rest = rest.dropFirst(length)
            } else {
                result.append(byte)
                rest = rest.dropFirst()
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Returns the character of a reference such as `&#32;` at the start, and the length of the reference.
    private static func reference(_ bytes: ArraySlice<UInt8>) -> (Unicode.Scalar, Int)? {
        guard bytes.starts(with: "&#".utf8), let end = bytes.prefix(12).firstIndex(of: UInt8(ascii: ";")),
            let value = UInt32(String(decoding: bytes[(bytes.startIndex + 2)..<end], as: UTF8.self)),
            let scalar = Unicode.Scalar(value)
        else { return nil }
        return (scalar, end + 1 - bytes.startIndex)
    }
}

// MARK: - Reading

extension MarkdownReader {
    /// Returns a line without the mark of escapes at its end, and the function that reads the line's texts.
    static func unmarked(_ line: ArraySlice<UInt8>) -> (line: ArraySlice<UInt8>, text: (ArraySlice<UInt8>) -> String) {
        guard line.suffix(escapedMark.utf8.count).elementsEqual(escapedMark.utf8) else { return (line, string) }
        return (line.dropLast(escapedMark.utf8.count).trimmingEnd(), MarkdownEscapes.text)
    }

    static func string(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
}

extension ArraySlice<UInt8> {
    /// Returns the bytes without spaces, tabs and line breaks at the end.
    func trimmingEnd() -> Self {
        self[..<((lastIndex { !$0.isBlank && $0 != 0x0A } ?? startIndex - 1) + 1)]
    }
}
