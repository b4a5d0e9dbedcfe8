import Foundation
import HandTestSupport
import Testing

/// The table in a type's documentation: the next state for each event in each state.
struct TransitionTable {
    let states: [String]
    let rows: [(event: String, next: [String: String])]

    /// - Parameters:
    ///   - file: its path in the module.
    ///   - first: the title of the table's first column.
    init(of file: String, first: String) throws {
        let url = Project.root.appending(path: "Sources/Machines/HandSync/\(file)")
        let lines = try String(contentsOf: url, encoding: .utf8).split(separator: "\n")
        let cells = lines.filter { $0.contains("///     |") }.map { line in
            line.split(separator: "|").dropFirst().map { $0.trimmingCharacters(in: .whitespaces) }
        }
        let head = try #require(cells.first)
        try #require(head.first == first)
        let states = Array(head.dropFirst())
        self.states = states
        rows = cells.dropFirst().map { ($0[0], Dictionary(uniqueKeysWithValues: zip(states, $0.dropFirst()))) }
    }
}
