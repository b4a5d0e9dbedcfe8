import HandFormats

/// Test vectors: questions about the protocol's laws with the expected answers, one JSON object per line
/// (`Tests/Data/Vectors/README.md`).
///
/// A client in another language is tested by comparing its answers; `hand-lab vectors` answers any other question. The
/// contract includes whether an answer is an error, but not its wording.
package enum Vectors {
    /// The subject of a question. Each subject has its own file.
    package enum Law: String, CaseIterable, Sendable {
        /// Values as bytes and back.
        case codec
        /// A list after a delta.
        case apply
        /// Two deltas on one list, transformed both ways, and what is overridden.
        case transform
        /// Two deltas, one after the other, as one.
        case compose
        /// The delta that undoes another.
        case invert
        /// The delta from one list to another.
        case diff
        /// The digest of a list and the hashes of its items.
        case digest
        /// The position of an index or a gap after a delta.
        case map
        /// What a client sends, shows and tells.
        case machine
    }

    /// Answers one question: an object with `law` and the fields of that law. All other fields, such as `expect`, are
    /// ignored.
    ///
    /// - Returns: an object on one line, with `law`, and with the fields of the answer or an `error`.
    package static func answer(line: String) -> String {
        do { return answer(JSONField(try JSONValue.parse(line))).line } catch {
            return JSONValue.object([failure(error)]).line
        }
    }

    static func answer(_ question: JSONField) -> JSONValue {
        var answer: Members = []
        do {
            let law = try law(of: question)
            answer.append(.init("law", .string(law.rawValue)))
            answer += try members(of: law, question)
        } catch {
            answer.append(failure(error))
        }
        return .object(answer)
    }

    private static func failure(_ error: any Error) -> JSONValue.Member { .init("error", .string("\(error)")) }

    private static func law(of question: JSONField) throws(FormatError) -> Law {
        try question.expectObject("a question")
        guard let law = Law(rawValue: try question["law"].string("the name of a law")) else {
            throw question["law"].mismatch("one of " + Law.allCases.map(\.rawValue).joined(separator: ", "))
        }
        return law
    }

    /// Returns why a vector fails (its line is not a vector, or the answer differs from `expect`), or nil if it passes.
    package static func mismatch(in line: String) -> String? {
        do {
            let question = JSONField(try JSONValue.parse(line))
            guard let expected = question["expect"].value else { throw question["expect"].mismatch("an answer") }
            let answer = answer(question)
            return answer == expected ? nil : "expected \(expected.line), found \(answer.line)"
        } catch {
            return "\(error)"
        }
    }

    /// - Throws: `FormatError` or `WireError`.
    private static func members(of law: Law, _ question: JSONField) throws -> Members {
        switch law {
        case .codec: try codec(question)
        case .apply: try apply(question)
        case .transform: try transform(question)
        case .compose: try compose(question)
        case .invert: try invert(question)
        case .diff: try diff(question)
        case .digest: try digest(question)
        case .map: try map(question)
        case .machine: try machine(question)
        }
    }
}
