import HandCore

/// Reads the to-dos of iCalendar (RFC 5545, `VTODO`).
///
/// A to-do becomes a task, below the to-do that it is related to; the day that it is due is put into its text, and its
/// description becomes a note below it. The file is read as a whole, because a to-do may stand before its parent.
struct ICalendarReader: ItemReader {
    var lines: Lines
    private(set) var notKept: [String] = []
    private let offset: @Sendable (Int) -> Int
    private var todos: [Todo] = []

    /// Properties that are kept in another form, and those that only calendars need.
    private static let expected: Set<String> = [
        "SUMMARY", "DESCRIPTION", "STATUS", "COMPLETED", "PERCENT-COMPLETE", "DUE", "UID", "RELATED-TO", "DTSTAMP",
        "CREATED",
        "LAST-MODIFIED", "SEQUENCE", "CLASS",
    ]

    /// - Parameter lines: unfolded.
    init(_ lines: Lines, offset: @escaping @Sendable (Int) -> Int) { (self.lines, self.offset) = (lines, offset) }

    private struct Todo {
        let line: Int
        var id: String?
        var parent: String?
        var summary = ""
        var description = ""
        var isDone = false
        var isCancelled = false
        var day: Day?

        /// The task, and the note about it.
        func items(at level: Int) -> [ReadItem] {
            // A to-do needs no summary.
            let (text, note) =
                summary.isEmpty ? (description.isEmpty ? "untitled" : description, "") : (summary, description)
            func item(_ content: Content, _ level: Int) -> ReadItem {
                ReadItem(level: level, content: content, line: line)
            }
            let task = item(.task(day?.added(to: text) ?? text, done: isDone), level)
            return note.isEmpty ? [task] : [task, item(.note(note), level + 1)]
        }
    }

    mutating func items() throws(FormatError) -> [ReadItem] {
        /// The components that the current line is in, from the outermost.
        var components: [String] = []
        while let line = lines.current {
            guard let property = Property(line) else { throw Self.mismatch(line, "a property and ':'", lines.number) }
            switch property.name {
            case "BEGIN":
                components.append(property.value.uppercased())
                if components.last == "VTODO" { todos.append(Todo(line: lines.number)) }
                if ["VEVENT", "VJOURNAL"].contains(components.last) { notKept.addIfNew(property.value.uppercased()) }
            case "END":
                guard let open = components.popLast(), open == property.value.uppercased() else {
                    throw Self.mismatch(line, "the end of a component that has begun", lines.number)
                }
                if open == "VTODO", todos.last?.isCancelled == true {
                    todos.removeLast()
                    notKept.addIfNew("cancelled to-dos")
                }
            case _ where components.isEmpty: throw Self.mismatch(line, "BEGIN:VCALENDAR", lines.number)
            case _ where components.last == "VTODO": try take(property)
            default: break
            }
            try lines.advance()
            try lines.skipBlanks()
        }
        if let open = components.last {
            throw FormatError(place: "", expected: "END:\(open)", found: "the end of the file")
        }
        return inOrder()
    }

    private static func mismatch(_ line: ArraySlice<UInt8>, _ expected: String, _ number: Int) -> FormatError {
        JSONField(.string(String(decoding: line, as: UTF8.self))).mismatch(expected).inLine(number)
    }

    private mutating func take(_ property: Property) throws(FormatError) {
        let last = todos.count - 1
        let value = property.value
        switch property.name {
        case "UID": todos[last].id = value
        case "RELATED-TO" where property.isParent: todos[last].parent = value
        case "SUMMARY": todos[last].summary = property.text
        case "DESCRIPTION": todos[last].description = property.text
        case "COMPLETED": todos[last].isDone = true
        case "PERCENT-COMPLETE": if value == "100" { todos[last].isDone = true }
        case "STATUS":
            if value.uppercased() == "COMPLETED" { todos[last].isDone = true }
            todos[last].isCancelled = value.uppercased() == "CANCELLED"
        case "DUE":
            guard let day = Day(value, offset: offset) else {
                throw FormatError(
                    line: lines.number, place: "DUE", expected: "a day such as 20261201",
                    found: JSONValue.string(value).line)
            }
            todos[last].day = day
        case let name where !Self.expected.contains(name) && !name.hasPrefix("X-"): notKept.addIfNew(name)
        default: break
        }
    }

    /// Returns the items with each to-do below its parent. To-dos that are each other's parents, and those whose parent
    /// is missing, have none.
    private func inOrder() -> [ReadItem] {
        let places = Dictionary(zip(todos.map(\.id), 0...)) { first, _ in first }
        var children = [[Int]](repeating: [], count: todos.count)
        var roots: [Int] = []
        for (index, todo) in todos.enumerated() {
            if let parent = todo.parent, let place = places[parent] {
                children[place].append(index)
            } else {
                roots.append(index)
            }
        }
        var items: [ReadItem] = []
        var isTaken = [Bool](repeating: false, count: todos.count)
        for root in roots + todos.indices {
            var waiting = [(index: root, level: 0)]
            while let (index, level) = waiting.popLast() {
                if isTaken[index] { continue }
                isTaken[index] = true
                items += todos[index].items(at: level)
                waiting += children[index].reversed().map { ($0, level + 1) }
            }
        }
        return items
    }
}

/// A line such as `DUE;VALUE=DATE:20261201`.
private struct Property {
    /// In capital letters.
    let name: String
    private let parameters: String
    let value: String

    /// Fails if the line has no `:` outside of quotes.
    init?(_ line: ArraySlice<UInt8>) {
        var isQuoted = false
        guard
            let colon = line.firstIndex(where: { byte in
                if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
                return byte == UInt8(ascii: ":") && !isQuoted
            })
        else { return nil }
        let start = line[..<colon]
        let name = start.prefix { $0 != UInt8(ascii: ";") }
        self.name = String(decoding: name, as: UTF8.self).uppercased()
        parameters = String(decoding: start[name.endIndex...], as: UTF8.self).uppercased()
        value = String(decoding: line[(colon + 1)...].trimmed(\.isBlank), as: UTF8.self)
    }

    /// Whether a relation is to the parent, as it is unless it says otherwise.
    var isParent: Bool { !parameters.contains("RELTYPE=") || parameters.contains("RELTYPE=PARENT") }

    /// The value without escapes.
    var text: String {
        var (bytes, isEscaped) = ([UInt8](), false)
        for byte in value.utf8 {
            if !isEscaped, byte == UInt8(ascii: "\\") {
                isEscaped = true
                continue
            }
            bytes.append(isEscaped && (byte == UInt8(ascii: "n") || byte == UInt8(ascii: "N")) ? 0x0A : byte)
            isEscaped = false
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
