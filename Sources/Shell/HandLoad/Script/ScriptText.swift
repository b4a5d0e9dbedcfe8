/// A text with placeholders: `{client}`, `{iteration}`, `{random}`, `{role}`; `{{` and `}}` are braces.
package struct ScriptText: Equatable, Sendable {
    package enum Variable: String, CaseIterable, Sendable {
        /// The client's number, from 1.
        case client
        /// The iteration of the innermost loop, from 1.
        case iteration
        /// A number of up to nine digits, drawn each time.
        case random
        /// The name of the client's role.
        case role
    }

    package enum Part: Equatable, Sendable {
        case text(String)
        case variable(Variable)
    }

    package let parts: [Part]

    /// Where a text cannot be parsed, and what was expected.
    struct Fault: Error {
        /// In characters, from the start of the text.
        let offset: Int
        let message: String
    }

    init(_ source: String) throws(Fault) {
        var parts: [Part] = []
        var text = ""
        var rest = Array(source)[...]
        while let next = rest.popFirst() {
            guard next == "{" || next == "}" else {
                text.append(next)
                continue
            }
            let offset = rest.startIndex - 1
            if rest.first == next {
                rest.removeFirst()
                text.append(next)
                continue
            }
            guard next == "{", let end = rest.firstIndex(of: "}") else {
                throw Fault(offset: offset, message: "a single '\(next)'; write '\(next)\(next)' for the character")
            }
            let name = String(rest[..<end])
            guard let variable = Variable(rawValue: name) else {
                let known = Variable.allCases.map { "{\($0.rawValue)}" }.joined(separator: ", ")
                throw Fault(offset: offset, message: "expected one of \(known), found '{\(name)}'")
            }
            if !text.isEmpty { parts.append(.text(text)) }
            text = ""
            parts.append(.variable(variable))
            rest = rest[(end + 1)...]
        }
        if !text.isEmpty { parts.append(.text(text)) }
        self.parts = parts
    }

    func filled(_ value: (Variable) -> String) -> String {
        parts.map { part in
            switch part {
            case .text(let text): text
            case .variable(let variable): value(variable)
            }
        }.joined()
    }
}
