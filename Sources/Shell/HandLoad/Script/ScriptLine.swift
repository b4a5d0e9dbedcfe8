/// The words of one line, with their columns.
struct ScriptLine {
    struct Word: Equatable {
        enum Form: Equatable { case word, quoted, comma }
        let text: String
        let form: Form
        let column: Int
    }

    let number: Int
    private let words: [Word]
    private var next = 0
    /// The column where a missing word would be.
    private let endColumn: Int

    /// - Throws: `ScriptError` if a quotation is not closed.
    init(_ text: some StringProtocol, number: Int) throws(ScriptError) {
        self.number = number
        var words: [Word] = []
        let characters = Array(text)
        var position = 0
        while position < characters.count, characters[position] != "#" {
            let start = position
            switch characters[position] {
            case " ", "\t", "\r": position += 1
            case ",":
                position += 1
                words.append(Word(text: ",", form: .comma, column: start + 1))
            case "\"":
                guard let quoted = Self.quoted(characters, &position) else {
                    throw ScriptError(line: number, column: start + 1, message: "the quotation does not end")
                }
                words.append(Word(text: quoted, form: .quoted, column: start + 1))
            default:
                while position < characters.count, !" \t\r,\"".contains(characters[position]) { position += 1 }
                words.append(Word(text: String(characters[start..<position]), form: .word, column: start + 1))
            }
        }
        self.words = words
        endColumn = (words.last.map { $0.column + $0.text.count + ($0.form == .quoted ? 2 : 0) } ?? 1)
    }

    /// Returns the text between quotation marks; a backslash escapes the next character. Nil if there is no closing
    /// mark.
    private static func quoted(_ characters: [Character], _ position: inout Int) -> String? {
        var text = ""
        position += 1
        while position < characters.count {
            defer { position += 1 }
            switch characters[position] {
            case "\"": return text
            case "\\" where position + 1 < characters.count:
                position += 1
                text.append(characters[position])
            case let other: text.append(other)
            }
        }
        return nil
    }

    var isEmpty: Bool { words.isEmpty }
    var isAtEnd: Bool { next == words.count }
    var column: Int { isAtEnd ? endColumn : words[next].column }
    var peeked: Word? { isAtEnd ? nil : words[next] }

    func error(_ message: String, column: Int? = nil) -> ScriptError {
        ScriptError(line: number, column: column ?? self.column, message: message)
    }

    func expected(_ what: String) -> ScriptError {
        error("expected \(what), found \(peeked.map { "'\($0.text)'" } ?? "the end of the line")")
    }

    mutating func take() -> Word? {
        guard let word = peeked else { return nil }
        next += 1
        return word
    }

    /// Consumes the next word if it is this keyword.
    mutating func take(_ keyword: String) -> Bool {
        guard let word = peeked, word.form != .quoted, word.text == keyword else { return false }
        next += 1
        return true
    }

    mutating func expect(_ keyword: String) throws(ScriptError) {
        guard take(keyword) else { throw expected("'\(keyword)'") }
    }

    mutating func end() throws(ScriptError) {
        guard isAtEnd else { throw expected("the end of the line") }
    }

    // MARK: Values

    /// Parses a whole number within a range, with a suffix such as `%`.
    mutating func number(_ what: String, in range: ClosedRange<Int>, suffix: String = "") throws(ScriptError) -> Int {
        guard let word = peeked, word.form == .word, word.text.hasSuffix(suffix),
            let value = Int(word.text.dropLast(suffix.count)), range.contains(value)
        else { throw expected("\(what) from \(range.lowerBound)\(suffix) to \(range.upperBound)\(suffix)") }
        next += 1
        return value
    }

    /// Parses a time such as `50ms`, `5s` or `2m`, and returns it in milliseconds.
    mutating func duration() throws(ScriptError) -> Int {
        guard let word = peeked, word.form == .word, let seconds = Script.seconds(word.text) else {
            throw expected("a time such as 50ms, 5s or 2m")
        }
        next += 1
        return Int((seconds * 1_000).rounded())
    }

    /// Parses a time or a range of times: `5s`, `1s to 5s`.
    mutating func durations() throws(ScriptError) -> ClosedRange<Int> {
        let first = try duration()
        let column = column
        guard take("to") else { return first...first }
        let last = try duration()
        guard first <= last else { throw error("expected a time that is not shorter than the first", column: column) }
        return first...last
    }

    /// Parses a text in quotation marks, or one word.
    mutating func text(_ what: String) throws(ScriptError) -> ScriptText {
        guard let word = peeked, word.form != .comma else { throw expected(what) }
        do {
            let text = try ScriptText(word.text)
            next += 1
            return text
        } catch {
            throw self.error(error.message, column: word.column + error.offset + (word.form == .quoted ? 1 : 0))
        }
    }
}

extension Script {
    /// Returns the seconds of a text such as `500ms`, `30s`, `5m`, `12h` or `7d`, or nil for any other.
    package static func seconds(_ text: String) -> Double? {
        for (unit, factor) in [("ms", 0.001), ("s", 1), ("m", 60), ("h", 3_600), ("d", 86_400)]
        where text.hasSuffix(unit) {
            guard let value = Double(text.dropLast(unit.count)), value >= 0, value < 1e6 else { return nil }
            return value * factor
        }
        return nil
    }
}
