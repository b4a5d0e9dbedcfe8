import HandTestSupport
import Testing

/// The page in real browsers, tested by Node: `Tests/BrowserTests`. Two files at a time, since browsers often wait.
@Suite(.timeLimit(.minutes(15))) struct BrowserTests {
    private static let tests = NodeTests("BrowserTests")
    private static let halves = [0, 1].map { half in
        tests.files.enumerated().filter { $0.offset % 2 == half }.map(\.element)
    }

    @Test func thereAreTests() { #expect(Self.halves.allSatisfy { $0.count > 3 }) }

    /// A browser that is not installed is skipped, in one line.
    @Test(.serialized, .enabled(if: NodeTests.node != nil, "Node is not installed"), arguments: halves[0])
    func oneHalfPasses(_ file: String) throws { try expectSuccess(of: file) }

    @Test(.serialized, .enabled(if: NodeTests.node != nil, "Node is not installed"), arguments: halves[1])
    func theOtherHalfPasses(_ file: String) throws { try expectSuccess(of: file) }

    private func expectSuccess(of file: String) throws {
        let outcome = try Self.tests.run(file, environment: ["HAND": Binary.path])
        #expect(outcome.isSuccess, "\(outcome.problems)")
        for line in outcome.skipped { print(line) }
    }
}
