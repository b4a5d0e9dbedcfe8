import Foundation
import HandFormats
import HandTestSupport
import HandVectors
import Testing

/// The vectors of a client's machine. `HAND_WRITE_VECTORS=1` writes them, with the answers of this program.
@Suite struct MachineTests {
    @Test func theVectorsAreTheScenarios() throws {
        let lines = try Scenarios.all.map { scenario in
            guard case .object(let question) = scenario.question else { return "" }
            let answer = try JSONValue.parse(Vectors.answer(line: scenario.question.line))
            #expect(answer["error"] == nil, "\(scenario.name): \(answer.line)")
            return JSONValue.object(question + [.init("expect", answer)]).line
        }
        if ProcessInfo.processInfo.environment["HAND_WRITE_VECTORS"] != nil {
            try Data(lines.map { $0 + "\n" }.joined().utf8).write(to: ProtocolPage.file("machine"))
        }
        #expect(try ProtocolPage.vectors("machine") == lines)
        #expect(Set(Scenarios.all.map(\.name)).count == Scenarios.all.count)
    }

    /// The handlers on the page are those of `machine.py`, which answers all vectors, and no handler is left out. What the
    /// page describes in words is listed here.
    @Test func theMachineIsThatOfThePage() throws {
        let file = Project.root.appending(path: "Sources/Examples/Python/machine.py")
        let program = try String(contentsOf: file, encoding: .utf8)
        let blocks = ProtocolPage.shared.fences(of: "python").map(\.fence.lines)
        #expect(blocks.count >= 3)
        for part in blocks.flatMap({ $0.split(separator: "") }) {
            let code = part.map { "    " + $0 }.joined(separator: "\n")
            #expect(program.contains("\n" + code + "\n"), "\(part.first ?? "")")
        }
        func handlers(_ text: Substring) -> Set<String> {
            Set(text.matches(of: #/def (\w+)\(m\b/#).map { String($0.1) })
        }
        let machine = try #require(program.range(of: "class Machine:")?.upperBound)
        let described: Set = [
            "__init__", "send", "tell", "tell_lost", "give_up", "end", "pending", "undo", "redo", "step",
        ]
        #expect(
            handlers(blocks.joined().joined(separator: "\n")[...])
                == handlers(program[machine...]).subtracting(described))
    }

    /// Each handler on the page has a vector that is named after it.
    @Test func everyHandlerHasAVector() throws {
        let names = Set(Scenarios.all.map { String($0.name.prefix { $0 != ":" }) })
        let handlers = [
            "connected", "lost", "malformed", "error message", "subscribed", "chunk", "commit", "rejected", "stale",
            "acknowledged", "renamed", "edited", "undo",
        ]
        #expect(names == Set(handlers))
    }
}
