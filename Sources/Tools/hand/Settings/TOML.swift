import CTOML

/// A value of a TOML file.
enum TOML {
    case text(String)
    case number(Int64)
    case decimal(Double)
    case flag(Bool)
    /// A date, a time of day, or both.
    case time
    case list([TOML])
    case table(Table)

    /// In the order of the keys.
    typealias Table = [(key: String, value: TOML)]

    struct Problem: Error {
        let line: Int
        let text: String
    }

    /// Reads a file's text.
    ///
    /// - Throws: `Problem` at its first error.
    static func read(_ text: String) throws(Problem) -> Table {
        var text = text
        let file = text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { toml_open($0.baseAddress, $0.count) }
        }
        defer { toml_close(file) }
        if let root = toml_root(file) { return entries(of: root) }
        var line: UInt32 = 0
        let problem = toml_error(file, &line).map { String(cString: $0) } ?? ""
        throw Problem(line: Int(line), text: problem)
    }

    private init(_ node: UnsafeRawPointer) {
        let value = toml_value(node)
        switch value.kind {
        case .text: self = .text(Self.string(value.text, value.length))
        case .number: self = .number(value.number)
        case .decimal: self = .decimal(value.decimal)
        case .flag: self = .flag(value.flag)
        case .time: self = .time
        case .list: self = .list(Self.entries(of: node).map(\.value))
        case .table: self = .table(Self.entries(of: node))
        }
    }

    private static func entries(of node: UnsafeRawPointer) -> Table {
        var entries: Table = []
        withUnsafeMutablePointer(to: &entries) {
            toml_each(node, $0) { entries, key, length, value in
                guard let value else { return }
                entries?.assumingMemoryBound(to: Table.self).pointee.append((TOML.string(key, length), TOML(value)))
            }
        }
        return entries
    }

    private static func string(_ start: UnsafePointer<CChar>?, _ length: Int) -> String {
        String(decoding: UnsafeRawBufferPointer(start: start, count: length), as: UTF8.self)
    }

    /// The kind of value, for messages.
    var kind: String {
        switch self {
        case .text: "a string"
        case .number: "a whole number"
        case .decimal: "a number with a point"
        case .flag: "true or false"
        case .time: "a date or a time"
        case .list(let values): values.first { $0.text == nil }.map { "a list with \($0.kind)" } ?? "a list"
        case .table: "a table"
        }
    }

    var text: String? { if case .text(let text) = self { text } else { nil } }

    /// The texts of a list of nothing else.
    var texts: [String]? {
        guard case .list(let values) = self else { return nil }
        let texts = values.compactMap(\.text)
        return texts.count == values.count ? texts : nil
    }
}
