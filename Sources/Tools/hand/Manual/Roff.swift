/// A manual page in the language of man(7).
struct Roff {
    let name: String
    let section: Int
    private(set) var text: String

    /// - Parameter summary: the text after the name, as `man -k` shows it.
    init(_ name: String, section: Int, _ summary: String) {
        (self.name, self.section) = (name, section)
        text = ".TH \(Self.escaped(name.uppercased())) \(section) \"\" \"hand \(HandCommand.version)\" \"hand\"\n"
        heading("Name")
        text += "\(Self.escaped(name)) \\- \(Self.escaped(summary))\n"
    }

    var file: String { "\(name).\(section)" }

    mutating func heading(_ title: String) { text += ".SH \(Self.escaped(title.uppercased()))\n" }

    /// Adds paragraphs, which are separated by empty lines. Lines that begin with two spaces are literal; the two
    /// spaces are dropped.
    mutating func paragraphs(_ paragraphs: String, under title: String? = nil) {
        if let title { heading(title) }
        var isLiteral = false
        var isNew = true
        for line in paragraphs.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix(" ") != isLiteral, !line.isEmpty {
                text += isLiteral ? ".EE\n.RE\n" : ".PP\n.RS 4\n.EX\n"
                isNew = isLiteral
                isLiteral.toggle()
            }
            if line.isEmpty {
                if isLiteral { text += "\n" } else { isNew = true }
                continue
            }
            if isNew, !isLiteral { text += ".PP\n" }
            isNew = false
            text += Self.line(isLiteral ? String(line.dropFirst(2)) : String(line))
        }
        if isLiteral { text += ".EE\n.RE\n" }
    }

    mutating func literal(_ lines: [String]) { paragraphs(lines.map { "  \($0)" }.joined(separator: "\n")) }

    /// Adds a term in bold, and its meaning.
    mutating func item(_ term: String, _ meaning: String) {
        text += ".TP\n.B \(Self.escaped(term))\n\(Self.line(meaning))"
    }

    /// Adds a command and its arguments.
    mutating func synopsis(_ command: String, _ arguments: [String]) {
        text += ".B \(Self.escaped(command))\n" + arguments.map { Self.line($0) }.joined()
    }

    private static func line(_ line: String) -> String {
        let text = escaped(line)
        return (text.hasPrefix(".") || text.hasPrefix("'") ? "\\&" : "") + text + "\n"
    }

    static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\e").replacing("-", with: "\\-").replacing("'", with: "\\(aq")
            .replacing("`", with: "\\(ga").replacing("^", with: "\\(ha").replacing("~", with: "\\(ti")
    }
}
