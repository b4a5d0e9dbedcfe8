import HandTestSupport
import Testing

/// The page in real browsers, tested by Node: `Tests/BrowserTests`.
@Suite(.serialized, .timeLimit(.minutes(15))) struct BrowserTests {
    private static let tests = NodeTests("BrowserTests")

    @Test func thereAreTests() { #expect(Self.tests.files.count > 3) }

    /// A browser that is not installed is skipped, in one line.
    @Test(.enabled(if: NodeTests.node != nil, "Node is not installed"), arguments: tests.files)
    func testsInBrowsersPass(_ file: String) throws {
        let outcome = try Self.tests.run(file, environment: ["HAND": Binary.path])
        #expect(outcome.isSuccess, "\(outcome.problems)")
        for line in outcome.skipped { print(line) }
    }
}
