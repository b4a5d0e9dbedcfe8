import Foundation
import HandTestSupport

/// A page as tests read it: fenced blocks and tables.
struct ProtocolPage {
    /// A fenced block: the text after its backticks, and its lines.
    struct Fence {
        let info: String
        let lines: [String]
        /// The number of its first line, for messages.
        let line: Int
    }

    let lines: [String]
    let fences: [Fence]

    static let shared = ProtocolPage("Protocol.md")
    static let url = Project.root.appending(path: "Protocol.md")
    /// The page about the test vectors, with the JSON forms.
    static let vectors = ProtocolPage("Tests/Data/Vectors/README.md")

    private init(_ path: String) {
        let url = Project.root.appending(path: path)
        guard let text = try? String(contentsOf: url, encoding: .utf8) else {
            preconditionFailure("\(url.path) cannot be read")
        }
        lines = text.components(separatedBy: "\n")
        fences = Self.fences(in: lines)
    }

    private static func fences(in lines: [String]) -> [Fence] {
        var found: [Fence] = []
        var start: Int?
        for (index, line) in lines.enumerated() where line.hasPrefix("```") {
            if let opening = start {
                let info = String(lines[opening].dropFirst(3))
                found.append(Fence(info: info, lines: Array(lines[(opening + 1)..<index]), line: opening + 2))
                start = nil
            } else {
                start = index
            }
        }
        return found
    }

    /// Returns fences whose info starts with that word, with the rest of their info as their names.
    func fences(of kind: String) -> [(name: String, fence: Fence)] {
        fences.filter { $0.info == kind || $0.info.hasPrefix(kind + " ") }.map {
            (String($0.info.dropFirst(kind.count + 1)), $0)
        }
    }

    /// The files of test vectors are named after a law, or after what they are about.
    static func file(_ name: String) -> URL { Project.root.appending(path: "Tests/Data/Vectors/\(name).jsonl") }

    /// Returns the lines of a file of test vectors.
    static func vectors(_ name: String) throws -> [String] {
        try String(contentsOf: file(name), encoding: .utf8).split(separator: "\n").map(String.init)
    }

    /// Returns the rows of the table whose first column has the title `first`, after the heading of that text.
    func table(_ first: String, under heading: String) -> [[String]] {
        guard let start = lines.firstIndex(where: { $0.hasPrefix("#") && $0.hasSuffix(" " + heading) }),
            let head = lines[start...].firstIndex(where: { $0.hasPrefix("| \(first) |") })
        else { return [] }
        return lines[(head + 2)...].prefix { $0.hasPrefix("|") }.map { line in
            line.dropFirst(2).dropLast(2).components(separatedBy: " | ").map { $0.trimmingCharacters(in: .whitespaces) }
        }
    }
}

/// Returns the bytes of a line such as `0a ff  # comment`, or nil if it has any other form.
func hexBytes(_ line: String) -> [UInt8]? {
    let digits = line.prefix { $0 != "#" }.filter { $0 != " " }
    guard digits.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    var rest = digits[...]
    while !rest.isEmpty {
        guard let byte = UInt8(rest.prefix(2), radix: 16) else { return nil }
        bytes.append(byte)
        rest = rest.dropFirst(2)
    }
    return bytes
}
