import HandFormats

/// The result of one check, and what to do about it.
struct Diagnosis {
    enum Verdict: String, Comparable {
        case ok, warning, problem

        static func < (left: Self, right: Self) -> Bool {
            let order: [Self] = [.ok, .warning, .problem]
            return order.firstIndex(of: left)! < order.firstIndex(of: right)!
        }
    }

    /// What was checked.
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

    /// One or two lines: what was found, and what to do.
    var text: String {
        let mark = verdict.rawValue.padded(to: 8)
        let line = "\(mark) \(subject.padded(to: 12)) \(Printable.clean(finding))"
        return advice.map { "\(line)\n\(String(repeating: " ", count: 9))→ \(Printable.clean($0))" } ?? line
    }

    var json: JSONValue {
        [
            "subject": .string(subject), "verdict": .string(verdict.rawValue), "finding": .string(finding),
            "advice": advice.map { .string($0) } ?? .null,
        ]
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
