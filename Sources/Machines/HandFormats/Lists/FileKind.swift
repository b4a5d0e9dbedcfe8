/// What a file is, as far as its contents show.
package struct FileKind: Equatable, Sendable {
    /// What the file is, as a noun: `a PDF document`.
    package let name: String
    /// The format that reads such a file; nil if none does.
    package let format: ListFormat?
    /// How to get a file that can be read.
    package let advice: String?
    /// Whether the file has bytes that texts in UTF-8 do not have, so that no format can mean it.
    package private(set) var isBinary = false

    private init(_ name: String, _ format: ListFormat? = nil, _ advice: String? = nil) {
        (self.name, self.format, self.advice) = (name, format, advice)
    }

    /// Recognizes a file that is not in that format; nil is for a format that is not known yet.
    ///
    /// - Returns: nil if the file may be in that format, or is of no kind that is known here.
    package init?(of bytes: [UInt8], otherThan format: ListFormat?) {
        guard let kind = Self.binary(bytes) ?? Self.text(bytes, format), format == nil || kind.format != format else {
            return nil
        }
        self = kind
        isBinary = bytes.prefix(512).contains { $0 < 0x20 && !(0x09...0x0D).contains($0) || $0 >= 0xFE }
        // A task may begin like anything. Only our own export has such tags: an export that looks like what no format
        // reads has one in its first line.
        let tagged = kind.format == nil ? bytes.prefix { $0 != 0x0A } : bytes[...]
        if format == .todotxt, !isBinary, TodoLines.hasTags(tagged) { return nil }
    }

    /// Whether a line may make a file with it look like another format than todo.txt. O(1), except for the first line.
    static func mayLookLikeOne(_ line: String, isFirst: Bool) -> Bool {
        line.utf8.first.map { "*#-[{<".utf8.contains($0) } ?? false
            || isFirst && FileKind(of: Array(line.utf8), otherThan: .todotxt) != nil
    }

    // MARK: Files with a signature

    private static let asText = "Save it as text in UTF-8."
    private static let asCSV = "Save the table as CSV."

    private static func binary(_ bytes: [UInt8]) -> FileKind? {
        let start = bytes.prefix(512)
        func starts(_ text: String, at place: Int = 0) -> Bool {
            start.dropFirst(place).starts(with: text.unicodeScalars.lazy.map { UInt8(truncatingIfNeeded: $0.value) })
        }
        switch () {
        case _ where starts("PK\u{3}\u{4}") || starts("PK\u{5}\u{6}"): return archive(bytes)
        case _ where starts("SQLite format 3\0"): return FileKind("an SQLite database")
        case _ where starts("%PDF-"): return FileKind("a PDF document")
        case _ where starts("{\\rtf"): return FileKind("a document in RTF", nil, asText)
        case _ where starts("\u{D0}\u{CF}\u{11}\u{E0}\u{A1}\u{B1}\u{1A}\u{E1}"):
            return FileKind("a document of an old office program", nil, "Save a table as CSV, or a text in UTF-8.")
        case _
        where starts("\u{1F}\u{8B}") || starts("BZh") && starts("1AY&SY", at: 4) || starts("\u{FD}7zXZ\0")
            || starts("(\u{B5}/\u{FD}") || starts("7z\u{BC}\u{AF}") || starts("Rar!\u{1A}"):
            return FileKind("a compressed file", nil, "Unpack it first.")
        case _ where starts("ustar", at: 257): return FileKind("a tar archive", nil, "Unpack it first.")
        case _
        where starts("\u{89}PNG") || starts("\u{FF}\u{D8}\u{FF}") || starts("GIF87a") || starts("GIF89a")
            || starts("RIFF") && starts("WEBP", at: 8):
            return FileKind("an image")
        case _ where starts("\u{7F}ELF") || starts("MZ\u{90}\0"): return FileKind("a program")
        case _ where starts("bplist00"): return FileKind("a property list")
        case _ where starts("\u{FF}\u{FE}") || starts("\u{FE}\u{FF}") || isWide(start):
            return FileKind("text in UTF-16", nil, asText)
        default: return nil
        }
    }

    /// Whether every second byte is 0, as for Latin letters in UTF-16.
    private static func isWide(_ bytes: ArraySlice<UInt8>) -> Bool {
        let pairs = stride(from: 0, to: bytes.count - 1, by: 2)
        let latin = pairs.count { (bytes[$0] == 0) != (bytes[$0 + 1] == 0) }
        return latin > 1 && latin * 4 > bytes.count / 2 * 3
    }

    /// Office programs and readers of books keep their documents in archives. Their first part or their end, where all
    /// parts are named, says which.
    private static func archive(_ bytes: [UInt8]) -> FileKind {
        let parts = [bytes.prefix(1 << 10), bytes.suffix(1 << 16)]
        let documents: [(mark: String, name: String, advice: String?)] = [
            ("xl/workbook", "an Excel workbook", asCSV), ("opendocument.spreadsheet", "an OpenDocument table", asCSV),
            ("word/document", "a Word document", asText), ("opendocument.text", "an OpenDocument text", asText),
            ("ppt/presentation", "a presentation", asText), ("application/epub", "an e-book", nil),
        ]
        for (mark, name, advice) in documents
        where parts.contains(where: { $0.firstRange(of: Array(mark.utf8)) != nil }) {
            return FileKind(name, nil, advice)
        }
        return FileKind("a zip archive", nil, "Unpack it first.")
    }

    // MARK: Text files

    private static func text(_ bytes: [UInt8], _ format: ListFormat?) -> FileKind? {
        let start = bytes.prefix(1 << 16).dropFirst(bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0)
        let lines = start.split { $0 == 0x0A || $0 == 0x0D }.lazy.map(MarkdownLine.init).filter { !$0.isBlank }
        guard let first = lines.first else { return nil }
        let word = String(decoding: first.text.prefix(16), as: UTF8.self).lowercased()
        switch () {
        case _ where word.hasPrefix("<!doctype html") || word.hasPrefix("<html"):
            return FileKind("an HTML page", nil, "Copy its text into a file.")
        case _ where word.hasPrefix("<?xml"): return FileKind("an XML file")
        case _ where word.hasPrefix("begin:vcalendar"): return FileKind("a calendar in iCalendar", .icalendar)
        case _ where word.hasPrefix("begin:vcard"): return FileKind("a contact in vCard")
        case _ where word.hasPrefix("[description:\""):
            return FileKind("a data file of Taskwarrior", nil, "Export the tasks: task export > tasks.json")
        case _ where word.hasPrefix("{") || word.hasPrefix("["):
            return json(start, first, format)
        case _ where CSV.isHeader(first.text): return FileKind("a table in CSV", .csv)
        case _ where isOrg(lines): return FileKind("an Org file", .org)
        case _ where format != .org && isBox(first.text): return FileKind("a checklist in Markdown", .markdown)
        default: return nil
        }
    }

    private static func json(_ start: ArraySlice<UInt8>, _ first: MarkdownLine, _ format: ListFormat?) -> FileKind? {
        let next = start.lazy.filter { !$0.isBlank && $0 != 0x0A && $0 != 0x0D }.prefix(2).last
        let isList = first.text.first == UInt8(ascii: "[")
        // An export without tasks is "[]".
        guard
            next == UInt8(ascii: "\"") || isList && next == UInt8(ascii: "{")
                || format == .taskwarrior && next != UInt8(ascii: "]")
        else { return nil }
        func has(_ name: String) -> Bool { start.firstRange(of: Array("\"\(name)\"".utf8)) != nil }
        // A line has a whole object, which may have only a text.
        let isLine = first.text.last == UInt8(ascii: "}")
        let isItem = has("kind") || format == nil && isLine && (has("text") || has("card"))
        if !isList, isItem { return FileKind("a list in JSON Lines", .jsonl) }
        if has("description"), has("status") || has("uuid") {
            return FileKind("an export of Taskwarrior", .taskwarrior)
        }
        let isPlausible = format == .jsonl || format == .taskwarrior && has("description")
        return isPlausible ? nil : FileKind("a JSON file")
    }

    /// Whether more lines are Org's settings, headlines with keywords and inner headlines than headings of Markdown.
    private static func isOrg(_ lines: some Sequence<MarkdownLine>) -> Bool {
        var (org, markdown) = (0, 0)
        for line in lines {
            if line.heading != nil { markdown += 1 }
            if line.text.starts(with: "#+".utf8), line.text.contains(UInt8(ascii: ":")) { org += 1 }
            guard let stars = OrgReader.stars(line) else { continue }
            let words = line.text.dropFirst(stars).drop(while: \.isBlank)
            if stars > 1 || words.starts(with: "TODO ".utf8) || words.starts(with: "DONE ".utf8) { org += 1 }
        }
        return org > markdown
    }

    private static func isBox(_ text: ArraySlice<UInt8>) -> Bool {
        ["- [ ] ", "- [x] ", "* [ ] ", "* [x] "].contains { text.starts(with: $0.utf8) }
    }
}
