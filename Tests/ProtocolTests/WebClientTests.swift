import HandTestSupport
import Testing

/// The client in JavaScript, tested by Node: `Tests/WebTests`.
@Suite(.serialized) struct WebClientTests {
    private static let tests = NodeTests("WebTests")

    @Test func thereAreTests() { #expect(Self.tests.files.count > 3) }

    @Test(.enabled(if: NodeTests.node != nil, "Node is not installed"), arguments: tests.files)
    func testsInNodePass(_ file: String) throws {
        let outcome = try Self.tests.run(file, environment: ["HAND": Built.hand])
        #expect(outcome.isSuccess, "\(outcome.problems)")
        for line in outcome.skipped { print(line) }
    }
}
