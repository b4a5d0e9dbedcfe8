/// The lines of a text in UTF-8, one after another. Lines end with LF or CR LF. A byte order mark at the start of the
/// text is ignored.
struct Lines {
    private let bytes: [UInt8]
    /// Whether a line that begins with a blank continues the line before it.
    private let isFolded: Bool
    private var next = 0
    /// The number of lines in the file that the current line has.
    private var span = 1
    /// The current line, without its line break; nil at the end.
    private(set) var current: ArraySlice<UInt8>?
    /// The number of the current line, counted from 1.
    private(set) var number = 0

    /// Starts at the first line.
    ///
    /// - Throws: if the first line is not UTF-8.
    init(_ bytes: [UInt8], isFolded: Bool = false) throws(FormatError) {
        (self.bytes, self.isFolded) = (bytes, isFolded)
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { next = 3 }
        try advance()
    }

    /// Goes to the next line.
    ///
    /// - Throws: if that line is not UTF-8.
    mutating func advance() throws(FormatError) {
        number += span
        span = 1
        guard next < bytes.count else {
            current = nil
            return
        }
        var line = take()
        // A fold may be within a character.
        while isFolded, next < bytes.count, bytes[next].isBlank {
            line += take().dropFirst()
            span += 1
        }
        current = line
        let isText = line.allSatisfy { $0 < 0x80 } || String(validating: line, as: UTF8.self) != nil
        if !isText { throw FormatError(line: number, place: "", expected: "text in UTF-8", found: "other bytes") }
    }

    /// Takes the bytes up to the next line break.
    private mutating func take() -> ArraySlice<UInt8> {
        let end = bytes[next...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
        let line = bytes[next..<end]
        next = end + 1
        return line.last == UInt8(ascii: "\r") ? line.dropLast() : line
    }

    /// Goes to the next line that is not blank. Stays at the current line if that is not blank.
    mutating func skipBlanks() throws(FormatError) {
        while let line = current, line.allSatisfy(\.isBlank) { try advance() }
    }
}

extension UInt8 {
    /// Whether the byte is a space or a tab.
    var isBlank: Bool { self == 0x20 || self == 0x09 }
    /// Whether the byte is a digit from 0 to 9.
    package var isDigit: Bool { (0x30...0x39).contains(self) }
}

extension BidirectionalCollection {
    /// Returns the elements without the blank ones at both ends.
    package func trimmed(_ isBlank: (Element) -> Bool) -> SubSequence {
        guard let first = firstIndex(where: { !isBlank($0) }), let last = lastIndex(where: { !isBlank($0) }) else {
            return self[endIndex...]
        }
        return self[first...last]
    }
}
