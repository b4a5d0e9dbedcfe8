import HandCore

/// Reads an outline of Org.
///
/// A headline with a keyword for tasks becomes a task, any other headline a heading; list items become tasks and notes,
/// and other text becomes notes. All stand below their headlines. A deadline is put into the text; priorities and tags
/// stay there.
struct OrgReader: ItemReader {
    var lines: Lines
    private(set) var notKept: [String] = []
    private let bullets: ListFormat.Bullets
    /// The keywords of tasks: whether a task with the keyword is done. A file may have more.
    private var keywords = ["TODO": false, "DONE": true]
    /// The level of text below the last headline.
    private var level = 0
    /// The list items that enclose the next line: their levels, and the columns where their texts begin.
    private var enclosing: [(level: Int, column: Int)] = []
    /// The line up to which a word was sought in vain. No line is searched twice.
    private var searched: [String: Int] = [:]

    init(_ lines: Lines, bullets: ListFormat.Bullets) {
        (self.lines, self.bullets) = (lines, bullets)
        // Keywords are for the whole file, wherever they stand.
        var ahead = lines
        while let line = ahead.current.map(MarkdownLine.init) {
            takeKeywords(line)
            if (try? ahead.advance()) == nil { break }
        }
    }

    mutating func items() throws(FormatError) -> [ReadItem] {
        guard let bytes = lines.current else { return [] }
        let line = MarkdownLine(bytes)
        if let stars = Self.stars(line) { return [try headline(line, stars)] }
        if Self.isDrawer(line), try takeLines(through: ":END:") != nil {
            notKept.addIfNew("drawers")
            return []
        }
        if Self.starts(line, "#+BEGIN"), let block = try takeLines(through: "#+END") {
            return [note(line, block)]
        }
        if Self.starts(line, "#+") { return try skip("settings (#+)") }
        if line.text.first == UInt8(ascii: "#"), line.text.dropFirst().first?.isBlank ?? true {
            return try skip("comments")
        }
        if Self.starts(line, "CLOCK:") { return try skip("clocked times") }
        if let marker = line.marker { return [try listItem(line, marker)] }
        return [note(line, try paragraph())]
    }

    private mutating func skip(_ what: String) throws(FormatError) -> [ReadItem] {
        notKept.addIfNew(what)
        try lines.advance()
        return []
    }

    // MARK: Headlines

    /// The number of stars of a headline; nil for any other line.
    static func stars(_ line: MarkdownLine) -> Int? {
        let stars = line.text.prefix { $0 == UInt8(ascii: "*") }
        return line.indent == 0 && !stars.isEmpty && line.dropping(0).dropFirst(stars.count).first == 0x20
            ? stars.count : nil
    }

    private mutating func headline(_ line: MarkdownLine, _ stars: Int) throws(FormatError) -> ReadItem {
        level = stars
        enclosing = []
        var words = line.text.dropFirst(stars).drop(while: \.isBlank)
        let keyword = String(decoding: words.prefix { !$0.isBlank }, as: UTF8.self)
        let isDone = keywords[keyword]
        if isDone != nil { words = words.dropFirst(keyword.utf8.count).drop(while: \.isBlank) }
        try lines.advance()
        var text = Self.withTags(words)
        if let day = try takePlanning() { text = day.added(to: text) }
        return ReadItem(level: stars - 1, content: isDone.map { .task(text, done: $0) } ?? .heading(text))
    }

    /// Returns the text of a headline. Org moves the tags at its end to the right.
    private static func withTags(_ words: ArraySlice<UInt8>) -> String {
        let text = String(decoding: words, as: UTF8.self)
        guard words.last == UInt8(ascii: ":"), let blank = words.lastIndex(where: \.isBlank),
            words[(blank + 1)...].first == UInt8(ascii: ":")
        else { return text }
        let start = words[..<blank].trimmingEnd()
        return String(decoding: start + [0x20] + words[(blank + 1)...], as: UTF8.self)
    }

    /// Takes the line below a headline that says when the task is due, and returns that day.
    private mutating func takePlanning() throws(FormatError) -> Day? {
        guard let bytes = lines.current else { return nil }
        let line = MarkdownLine(bytes)
        let names = ["DEADLINE:", "SCHEDULED:", "CLOSED:"]
        guard names.contains(where: { Self.starts(line, $0) }) else { return nil }
        let text = String(decoding: line.text, as: UTF8.self)
        if text.contains("SCHEDULED:") { notKept.addIfNew("scheduled days") }
        var day: Day?
        if let start = text.firstRange(of: "DEADLINE:")?.upperBound {
            let stamp = text[start...].drop { $0 == " " }
            day = Day(stamp.dropFirst().prefix(10), offset: { _ in 0 })
            if day == nil {
                throw JSONField(.string(String(stamp)), path: "DEADLINE").mismatch("a day such as <2026-12-01>")
            }
        }
        try lines.advance()
        return day
    }

    /// Notes the keywords of a line such as `#+TODO: TODO WAITING(w) | DONE CANCELLED`. Without a `|`, only the last
    /// one is for what is done.
    private mutating func takeKeywords(_ line: MarkdownLine) {
        guard line.text.first == UInt8(ascii: "#"),
            ["#+TODO:", "#+SEQ_TODO:", "#+TYP_TODO:"].contains(where: { Self.starts(line, $0) })
        else { return }
        let words = line.text.split(whereSeparator: \.isBlank).dropFirst().map {
            String(decoding: $0.prefix { $0 != UInt8(ascii: "(") }, as: UTF8.self)
        }
        let bar = words.firstIndex(of: "|") ?? words.count - 1
        for (index, word) in words.enumerated() where word != "|" { keywords[word] = index >= bar }
    }

    // MARK: Below headlines

    private static func starts(_ line: MarkdownLine, _ word: String) -> Bool {
        let start = line.text.prefix(word.utf8.count)
        return String(decoding: start, as: UTF8.self).uppercased() == word
    }

    /// Whether the line begins a drawer, such as `:PROPERTIES:`.
    private static func isDrawer(_ line: MarkdownLine) -> Bool {
        let name = line.text.dropFirst().dropLast()
        return line.text.first == UInt8(ascii: ":") && line.text.last == UInt8(ascii: ":") && !name.isEmpty
            && name.allSatisfy { $0 != UInt8(ascii: ":") && !$0.isBlank }
    }

    /// Takes the lines up to one that starts with a word. Takes none, and returns nil, if a headline comes first.
    private mutating func takeLines(through word: String) throws(FormatError) -> String? {
        guard lines.number > searched[word] ?? 0 else { return nil }
        var (ahead, taken) = (lines, [UInt8]())
        while let bytes = ahead.current {
            let line = MarkdownLine(bytes)
            if Self.stars(line) != nil { break }
            taken += bytes + [0x0A]
            let isEnd = Self.starts(line, word) && ahead.number > lines.number
            try ahead.advance()
            if isEnd {
                lines = ahead
                return String(decoding: taken.dropLast(), as: UTF8.self)
            }
        }
        searched[word] = ahead.number
        return nil
    }

    /// Returns a note at the level of a line of text.
    private mutating func note(_ line: MarkdownLine, _ text: String) -> ReadItem {
        enclosing.removeAll { line.indent < $0.column }
        return ReadItem(level: innerLevel, content: .note(text))
    }

    /// The level below the enclosing list item, or below the last headline.
    private var innerLevel: Int { enclosing.last.map { $0.level + 1 } ?? level }

    private mutating func paragraph() throws(FormatError) -> String {
        var text: [String] = []
        while let bytes = lines.current, text.isEmpty || isText(MarkdownLine(bytes)) {
            text.append(MarkdownReader.string(MarkdownLine(bytes).text))
            try lines.advance()
        }
        return text.joined(separator: "\n")
    }

    /// Whether a line continues the text above it.
    private func isText(_ line: MarkdownLine) -> Bool {
        !line.isBlank && line.marker == nil && Self.stars(line) == nil && line.text.first != UInt8(ascii: "#")
            && !Self.isDrawer(line) && !Self.starts(line, "CLOCK:")
    }

    private mutating func listItem(
        _ line: MarkdownLine, _ marker: MarkdownLine.Marker
    ) throws(FormatError) -> ReadItem {
        enclosing.removeAll { line.indent < $0.column }
        let level = innerLevel
        enclosing.append((level, marker.offset))
        try lines.advance()
        var words = [UInt8](marker.content)
        while let bytes = lines.current {
            let further = MarkdownLine(bytes)
            guard isText(further), further.indent > line.indent else { break }
            words += [0x0A] + further.text
            try lines.advance()
        }
        // Some of the items below are done.
        if words.starts(with: "[-]".utf8) { words.replaceSubrange(0..<3, with: "[ ]".utf8) }
        let text = words[...].trimmingEnd()
        if let task = MarkdownReader.task(text, MarkdownReader.string) { return ReadItem(level: level, content: task) }
        let numbered = marker.isNumber ? marker.text + [0x20] + text : text
        return ReadItem(
            level: level,
            content: bullets == .tasks
                ? .task(MarkdownReader.string(text), done: false) : .note(MarkdownReader.string(numbered)))
    }
}
