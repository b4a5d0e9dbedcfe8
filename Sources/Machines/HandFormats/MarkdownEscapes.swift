/// Texts within a line of Markdown, with the escapes of CommonMark: `\` before punctuation, `&#N;` for any character,
/// `<br>` for a line break.
enum MarkdownEscapes {
    /// Which spaces are written as `&#32;`.
    enum Spaces {
        /// Only those at the start and the end, which would be lost.
        case atEnds
        /// All, as in a URL.
        case everywhere
    }

    /// Escapes a text.
    ///
    /// - Parameter punctuation: characters that get a `\` in addition to those that always need one.
    static func escaped(_ text: String, _ punctuation: String = "", spaces: Spaces = .atEnds) -> String {
        var result = String.UnicodeScalarView()
        let scalars = Array(text.unicodeScalars)
        for (index, scalar) in scalars.enumerated() {
            let next = index + 1 < scalars.count ? scalars[index + 1] : nil
            let isAtEnd = index == 0 || next == nil
            switch scalar {
            case "\n" where spaces == .atEnds: result.append(contentsOf: "<br>".unicodeScalars)
            case _ where isLost(scalar, after: result.last, isSpaceLost: isAtEnd || spaces == .everywhere):
                result.append(contentsOf: "&#\(scalar.value);".unicodeScalars)
            case _ where isSyntax(scalar, next) || punctuation.unicodeScalars.contains(scalar):
                result.append("\\")
                result.append(scalar)
            default: result.append(scalar)
            }
        }
        return String(result)
    }

    /// Whether the character cannot be written in a line as it is, or would not be shown.
    private static func isLost(_ scalar: Unicode.Scalar, after previous: Unicode.Scalar?, isSpaceLost: Bool) -> Bool {
        switch scalar {
        case " ", "\t": isSpaceLost
        default: !Printable.isHarmless(scalar, after: previous)
        }
    }

    /// Whether the character would start an escape that `text` understands, or a comment.
    private static func isSyntax(_ scalar: Unicode.Scalar, _ next: Unicode.Scalar?) -> Bool {
        switch scalar {
        case "\\": true
        case "<": next == "b" || next == "!"
        case "&": next == "#"
        default: false
        }
    }

    /// Returns the text without escapes. Anything that is not an escape stays as it is.
    static func text(_ escaped: ArraySlice<UInt8>) -> String {
        var result: [UInt8] = []
        result.reserveCapacity(escaped.count)
        var rest = escaped
        while let byte = rest.first {
            if byte == UInt8(ascii: "\\"), let next = rest.dropFirst().first, isPunctuation(next) {
                result.append(next)
                rest = rest.dropFirst(2)
            } else if byte == UInt8(ascii: "<"), let tag = lineBreaks.first(where: { rest.starts(with: $0) }) {
                result.append(UInt8(ascii: "\n"))
                rest = rest.dropFirst(tag.count)
            } else if byte == UInt8(ascii: "&"), let (scalar, length) = reference(rest) {
                result += String(scalar).utf8
                rest = rest.dropFirst(length)
            } else {
                result.append(byte)
                rest = rest.dropFirst()
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static let lineBreaks = ["<br>", "<br/>", "<br />"].map { Array($0.utf8) }

    private static func isPunctuation(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte < 0x7F && !(Hex.digit(byte) != nil || Unicode.Scalar(byte).properties.isAlphabetic)
    }

    /// Returns the character of a reference such as `&#32;` or `&#x20;` at the start, and the length of the reference.
    private static func reference(_ bytes: ArraySlice<UInt8>) -> (Unicode.Scalar, Int)? {
        guard bytes.starts(with: "&#".utf8), let end = bytes.prefix(12).firstIndex(of: UInt8(ascii: ";")) else {
            return nil
        }
        var digits = bytes[(bytes.startIndex + 2)..<end]
        let isHexadecimal = digits.first == UInt8(ascii: "x") || digits.first == UInt8(ascii: "X")
        if isHexadecimal { digits = digits.dropFirst() }
        guard digits.allSatisfy({ Hex.digit($0) != nil }),
            let value = UInt32(String(decoding: digits, as: UTF8.self), radix: isHexadecimal ? 16 : 10),
            let scalar = Unicode.Scalar(value)
        else { return nil }
        return (scalar, end + 1 - bytes.startIndex)
    }
}
