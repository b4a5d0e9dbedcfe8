import HandFormats

/// The result of one check, and what to do about it.
struct Diagnosis {
    enum Verdict: Comparable {
        case ok, warning, problem
    }

    let subject: String
    let verdict: Verdict
    let finding: String
    let advice: String?

    private init(_ subject: String, _ verdict: Verdict, _ finding: String, _ advice: String?) {
        (self.subject, self.verdict, self.finding, self.advice) = (subject, verdict, finding, advice)
    }

    static func ok(_ subject: String, _ finding: String) -> Self { .init(subject, .ok, finding, nil) }

    static func warning(_ subject: String, _ finding: String, do advice: String) -> Self {
        .init(subject, .warning, finding, advice)
    }

    static func problem(_ subject: String, _ finding: String, do advice: String? = nil) -> Self {
        .init(subject, .problem, finding, advice)
    }

    /// What was found and what to do, below each other; on a terminal, wrapped and with a colour.
    var text: Printable {
        let column = 22
        let width = Output.columns.map { max(24, $0 - column) } ?? .max
        let advice = advice.map { HelpText.lines(of: $0, width: width - 2) } ?? []
        let lines =
            HelpText.lines(of: finding, width: width)
            + zip(["→"] + advice, advice).map { ($0 == "→" ? "→ " : "  ") + $1 }
        return lines.dropFirst().reduce("\(mark) \(Output.padded(subject, 12)) \(lines[0])") {
            "\($0)\n\(String(repeating: " ", count: column))\($1)"
        }
    }

    private var mark: Printable {
        let word = Output.padded("\(verdict)", 8)
        guard Output.marks == .colored else { return "\(word)" }
        return switch verdict {
        case .ok: "\u{1B}[32m\(word)\u{1B}[0m"
        case .warning: "\u{1B}[33m\(word)\u{1B}[0m"
        case .problem: "\u{1B}[31m\(word)\u{1B}[0m"
        }
    }

    var json: JSONValue {
        JSONValue(fields: [
            "subject": subject, "verdict": "\(verdict)", "finding": finding, "advice": JSONValue(orNull: advice),
        ])
    }
}
