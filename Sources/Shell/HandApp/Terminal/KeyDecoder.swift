import HandScreens

/// Decodes the bytes that a terminal sends into keys: UTF-8, and the escape sequences of xterm and compatible terminals
/// (“XTerm Control Sequences”, Moy and others). All terminals in use today send a dialect of these sequences.
package struct KeyDecoder {
    private var bytes: [UInt8] = []
    private var position = 0
    /// The text of a paste whose end has not arrived.
    private var pasted: [UInt8]?

    /// The most bytes of pasted text; the rest is dropped.
    private static let maxPasted = 4 << 20
    private static let pasteEnd = Array("\u{1B}[201~".utf8)
    private static let escape: UInt8 = 0x1B

    package init() {}

    package mutating func append(_ new: some Sequence<UInt8>) {
        if position > 0 {
            bytes.removeFirst(position)
            position = 0
        }
        bytes += new
    }

    /// Whether the input ends with the beginning of a sequence that is a key by itself if nothing follows.
    package var isWaiting: Bool { position < bytes.count && pasted == nil && !isInSequence }

    /// Whether parameters of a sequence have arrived. Nobody types parameters that fast, so the end of the sequence
    /// follows, however slow the line is.
    private var isInSequence: Bool {
        bytes.count > position + 2 && bytes[position...].starts(with: [Self.escape, UInt8(ascii: "[")])
    }

    /// Returns the next input, or nil if none is complete.
    ///
    /// - Parameter isOver: whether nothing followed for a while, so that an incomplete sequence is taken as it is.
    package mutating func next(isOver: Bool = false) -> Input? {
        while position < bytes.count {
            if pasted != nil { return takePaste() }
            let start = position
            switch read(isOver: isOver) {
            case .input(let input): return input
            case .nothing: continue
            case .unfinished:
                position = start
                return nil
            }
        }
        return nil
    }

    private enum Reading {
        case input(Input)
        case nothing
        case unfinished

        static func key(_ code: Key.Code, _ modifiers: Key.Modifiers = []) -> Reading {
            .input(.key(Key(code, modifiers)))
        }
    }

    private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func read(isOver: Bool) -> Reading {
        let byte = bytes[position]
        position += 1
        guard byte == Self.escape else { return character(byte, isOver: isOver) }
        guard let second = current else { return isOver ? .key(.escape) : .unfinished }
        switch second {
        case UInt8(ascii: "["):
            position += 1
            return sequence(isOver: isOver)
        case UInt8(ascii: "O"):
            position += 1
            guard let third = current else {
                return isOver ? .key(.character("O"), .alt) : .unfinished
            }
            position += 1
            return Self.letters[third].map { .key($0) } ?? .nothing
        case Self.escape: return .key(.escape)
        default:
            position += 1
            return withAlt(character(second, isOver: isOver))
        }
    }

    private func withAlt(_ reading: Reading) -> Reading {
        guard case .input(.key(let key)) = reading else { return reading }
        return .key(key.code, key.modifiers.union(.alt))
    }

    // MARK: Characters

    private mutating func character(_ byte: UInt8, isOver: Bool) -> Reading {
        switch byte {
        case 0x0D, 0x0A: return .key(.enter)
        case 0x09: return .key(.tab)
        case 0x7F, 0x08: return .key(.backspace)
        case 0x00: return .key(.character(" "), .control)
        case 0x01...0x1A: return .key(.character(Character(Unicode.Scalar(byte + 0x60))), .control)
        case 0x1C...0x1F: return .key(.character(Character(Unicode.Scalar(byte + 0x40))), .control)
        case 0x20...0x7E: return .key(.character(Character(Unicode.Scalar(byte))))
        default: return multibyte(byte, isOver: isOver)
        }
    }

    private mutating func multibyte(_ first: UInt8, isOver: Bool) -> Reading {
        let length =
            switch first {
            case 0xC2...0xDF: 2
            case 0xE0...0xEF: 3
            case 0xF0...0xF4: 4
            default: 0
            }
        guard length > 0 else { return .nothing }
        let end = position + length - 1
        guard end <= bytes.count else { return isOver ? skipRest() : .unfinished }
        guard let text = String(validating: bytes[(position - 1)..<end], as: UTF8.self), let character = text.first
        else {
            return .nothing
        }
        position = end
        return .key(.character(character))
    }

    private mutating func skipRest() -> Reading {
        position = bytes.count
        return .nothing
    }

    // MARK: Sequences

    private static let letters: [UInt8: Key.Code] = [
        UInt8(ascii: "A"): .up, UInt8(ascii: "B"): .down, UInt8(ascii: "C"): .right, UInt8(ascii: "D"): .left,
        UInt8(ascii: "H"): .home, UInt8(ascii: "F"): .end, UInt8(ascii: "P"): .function(1),
        UInt8(ascii: "Q"): .function(2), UInt8(ascii: "R"): .function(3), UInt8(ascii: "S"): .function(4),
        UInt8(ascii: "M"): .enter,
    ]

    private static let numbers: [Int: Key.Code] = [
        1: .home, 2: .insert, 3: .delete, 4: .end, 5: .pageUp, 6: .pageDown, 7: .home, 8: .end, 11: .function(1),
        12: .function(2), 13: .function(3), 14: .function(4), 15: .function(5), 17: .function(6), 18: .function(7),
        19: .function(8), 20: .function(9), 21: .function(10), 23: .function(11), 24: .function(12),
    ]

    /// Reads the rest of a sequence after `ESC [`: parameters, then a letter or `~`.
    private mutating func sequence(isOver: Bool) -> Reading {
        let start = position
        while let byte = current, (0x20...0x3F).contains(byte) { position += 1 }
        guard let final = current else {
            // Only Esc and a bracket have arrived: that is Alt and a bracket.
            guard isOver, position == start else { return .unfinished }
            return .key(.character("["), .alt)
        }
        let parameters = String(decoding: bytes[start..<position], as: UTF8.self)
        position += 1
        if parameters.hasPrefix("<") { return mouse(parameters.dropFirst(), isRelease: final == UInt8(ascii: "m")) }
        let fields = parameters.split(separator: ";", omittingEmptySubsequences: false).map { Self.number($0) ?? 0 }
        let modifiers = Key.Modifiers(rawValue: UInt8(max(0, (fields.count > 1 ? fields[1] : 1) - 1) & 7))
        switch final {
        case UInt8(ascii: "~"):
            if fields.first == 200 {
                pasted = []
                return .nothing
            }
            return Self.numbers[fields.first ?? 0].map { .key($0, modifiers) } ?? .nothing
        case UInt8(ascii: "Z"): return .key(.tab, .shift)
        case UInt8(ascii: "I") where parameters.isEmpty: return .input(.focus(true))
        case UInt8(ascii: "O") where parameters.isEmpty: return .input(.focus(false))
        case UInt8(ascii: "R") where fields.count == 2 && fields[0] > 1:
            return .input(.cursor(Point(row: fields[0] - 1, column: max(0, fields[1] - 1))))
        default: return Self.letters[final].map { .key($0, modifiers) } ?? .nothing
        }
    }

    /// Parameters are digits; no terminal has so many columns that more than 16 bits are needed.
    private static func number(_ text: Substring) -> Int? { UInt16(text).map(Int.init) }

    /// Decodes `button;column;row`, counted from 1. While the mouse moves, 32 is added to the button; the wheel is 64
    /// and 65.
    private func mouse(_ parameters: Substring, isRelease: Bool) -> Reading {
        let fields = parameters.split(separator: ";").compactMap(Self.number)
        guard fields.count == 3 else { return .nothing }
        let point = Point(row: max(0, fields[2] - 1), column: max(0, fields[1] - 1))
        let act: Mouse.Act
        switch fields[0] & ~28 {
        case 0: act = isRelease ? .release : .press
        case 32: act = .drag
        case 64: act = .wheelUp
        case 65: act = .wheelDown
        default: return .nothing
        }
        return .input(.mouse(Mouse(act, at: point)))
    }

    // MARK: Paste

    /// Takes pasted text up to its end mark, of which only a part may have arrived.
    private mutating func takePaste() -> Input? {
        while position < bytes.count {
            let rest = bytes[position...]
            if rest.starts(with: Self.pasteEnd) {
                position += Self.pasteEnd.count
                let text = String(decoding: pasted.take() ?? [], as: UTF8.self)
                return .paste(text.replacing("\r\n", with: "\n").replacing("\r", with: "\n"))
            }
            if rest.count < Self.pasteEnd.count, Self.pasteEnd.starts(with: rest) { return nil }
            if (pasted?.count ?? 0) < Self.maxPasted { pasted?.append(bytes[position]) }
            position += 1
        }
        return nil
    }
}
