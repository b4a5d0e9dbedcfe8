import HandCore

/// Reads what `task export` writes: tasks as JSON objects, in one array or each on its own, with any line breaks.
///
/// A task becomes a task; the day that it is due is put into its text, and its annotations become notes below it.
struct TaskwarriorReader: ItemReader {
    var lines: Lines
    private(set) var notKept: [String] = []
    private let offset: @Sendable (Int) -> Int
    /// How many bytes of the current line are read.
    private var column = 0
    /// Whether the array of all tasks has begun and not ended.
    private var isInArray = false

    /// Fields that are kept in another form, and those that only Taskwarrior needs.
    private static let expected: Set<String> = [
        "description", "status", "due", "annotations", "id", "uuid", "urgency", "entry", "modified", "end", "mask",
        "imask", "parent", "rtype", "template", "last",
    ]

    init(_ lines: Lines, offset: @escaping @Sendable (Int) -> Int) { (self.lines, self.offset) = (lines, offset) }

    mutating func items() throws(FormatError) -> [ReadItem] {
        guard let rest = lines.current?.dropFirst(column),
            let start = rest.firstIndex(where: { !$0.isBlank && $0 != 0x2C })
        else {
            try nextLine()
            return []
        }
        column = start - (lines.current?.startIndex ?? 0)
        switch rest[start] {
        case UInt8(ascii: "["), UInt8(ascii: "]"):
            isInArray = rest[start] == UInt8(ascii: "[")
            column += 1
            return []
        case UInt8(ascii: "{"):
            var parser = JSONParser(try object())
            return try task(JSONField(try parser.document()))
        default:
            throw JSONField(.string(String(decoding: rest[start...].prefix(80), as: UTF8.self))).mismatch(
                "a task in braces")
        }
    }

    private mutating func nextLine() throws(FormatError) {
        try lines.advance()
        try lines.skipBlanks()
        column = 0
        if isInArray, lines.current == nil {
            throw FormatError(place: "", expected: "']' after the last task", found: "the end of the file")
        }
    }

    /// Takes the bytes of the object that starts here, which may have several lines.
    private mutating func object() throws(FormatError) -> [UInt8] {
        var (object, depth, isInString, isEscaped) = ([UInt8](), 0, false, false)
        while let line = lines.current {
            for index in (line.startIndex + column)..<line.endIndex {
                let byte = line[index]
                object.append(byte)
                if isInString {
                    if byte == UInt8(ascii: "\""), !isEscaped { isInString = false }
                    isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
                } else if byte == UInt8(ascii: "\"") {
                    isInString = true
                } else if byte == UInt8(ascii: "{") {
                    depth += 1
                } else if byte == UInt8(ascii: "}") {
                    depth -= 1
                    if depth == 0 {
                        column = index + 1 - line.startIndex
                        return object
                    }
                }
            }
            object.append(0x0A)
            try lines.advance()
            column = 0
        }
        // The parser says what is missing.
        return object
    }

    private mutating func task(_ field: JSONField) throws(FormatError) -> [ReadItem] {
        guard case .object(let members) = field.value else { return [] }
        let status = try field["status"].ifPresent { (status) throws(FormatError) in try status.string() }
        let text = try field["description"].string()
        switch status {
        case "deleted": return leaveOut("deleted tasks")
        // Taskwarrior makes the tasks that it stands for, which are in the file, too.
        case "recurring": return leaveOut("templates of recurring tasks")
        default: break
        }
        for member in members where !Self.expected.contains(member.key) { notKept.addIfNew(member.key) }
        var day: Day?
        if field["due"].isPresent {
            day = Day(try field["due"].string(), offset: offset)
            if day == nil { throw field["due"].mismatch("a time such as \"20261201T090000Z\"") }
        }
        let notes = try field["annotations"].ifPresent { (notes) throws(FormatError) in
            try notes.list { (note) throws(FormatError) in
                ReadItem(level: 1, content: .note(try note["description"].string()))
            }
        }
        return [ReadItem(content: .task(day?.added(to: text) ?? text, done: status == "completed"))] + (notes ?? [])
    }

    private mutating func leaveOut(_ what: String) -> [ReadItem] {
        notKept.addIfNew(what)
        return []
    }
}
