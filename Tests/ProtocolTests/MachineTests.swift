import Foundation
import HandFormats
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
}
