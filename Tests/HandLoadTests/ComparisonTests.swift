import HandCore
import HandFormats
import HandLoad
import Testing

/// Two tests side by side, the rate that was asked for, and bounds in percent.
@Suite struct ComparisonTests {
    /// A test of some seconds, each with so many commits, of which each took so many milliseconds.
    private static func result(_ commits: [Int], milliseconds: Int = 10, rate: Double? = nil) -> LoadResult {
        var result = LoadResult(seed: 1, clients: 4, rate: rate)
        for (index, count) in commits.enumerated() {
            var figures = LoadFigures()
            (figures.edits, figures.commits, figures.deliveries) = (count, count, count * 4)
            for _ in 0..<count { _ = figures.acknowledged.record(UInt64(milliseconds * 1_000_000 + index)) }
            result.samples.append(.init(at: Double(index + 1), seconds: 1, clients: 4, figures: figures))
            result.total.add(figures)
        }
        result.seconds = Double(commits.count)
        return result
    }

    private static func test(clients: Int = 4, isWeb: Bool = false) throws -> LoadTest {
        let script = try Script(parsing: "clients \(clients)\nadd x")
        var plan = LoadPlan(script: script, server: .unix(path: "/run/hand.sock"), kind: .light, rate: 2_000, seed: 7)
        plan.isWeb = isWeb
        return LoadTest(plan, script: "burst", processes: 1)
    }

    /// What `hand load --json` prints.
    private static func printed(_ result: LoadResult, clients: Int = 4) throws -> String {
        ([LoadJSON.line(try test(clients: clients))] + result.samples.map(LoadJSON.line)
            + [LoadJSON.summary(result, [], nil)]).map { $0.line + "\n" }.joined()
    }

    private static func lines(_ before: LoadResult, _ now: LoadResult, clients: Int = 4) throws -> [String] {
        let earlier = try LoadRecord(parsing: try printed(before, clients: clients))
        return LoadComparison(earlier, LoadRecord(try test(), now), name: "old.json").lines
    }

    @Test func theFirstLineSaysWhatIsTested() throws {
        #expect(
            try Self.test().line
                == "burst on 'load' at hand+unix:///run/hand.sock: 4 clients without the list for up to 10.0 s, "
                + "2000 edits a second")
        #expect(try Self.test(isWeb: true).line.contains(": 4 clients without the list on WebSockets for up to "))
    }

    /// The way to the server makes it another test, whichever of the two tests says so.
    @Test func webSocketsAreAnotherTest() throws {
        let (stream, web) = (try Self.test(), try Self.test(isWeb: true))
        let result = Self.result(Self.slow)
        func difference(_ before: LoadTest, _ now: LoadTest) -> String {
            LoadComparison(LoadRecord(before, result), LoadRecord(now, result), name: "old.json").lines[1]
        }
        #expect(difference(stream, web) == "            NOT THE SAME TEST: web was not given, and is true")
        #expect(difference(web, stream) == "            NOT THE SAME TEST: web was true, and is not given")
        #expect(!difference(web, web).contains("NOT THE SAME"))
    }

    private static let slow = [100, 104, 97, 102, 99, 103, 98, 101, 96, 105]

    @Test func whatChangedIsToldFromNoise() throws {
        let faster = Self.slow.map { $0 + 20 }
        #expect(
            try Self.lines(Self.result(Self.slow), Self.result(faster, milliseconds: 10)) == [
                "compared with old.json",
                "                  before         now      change",
                "commits/s            101         121     +19.9 %  changed (p < 0.001)",
                "deliveries/s         402         482     +19.9 %  changed (p < 0.001)",
                "ack p50         10.00 ms    10.00 ms      +0.0 %  noise (p = 1.000)",
                "ack p99         10.00 ms    10.00 ms      +0.0 %  noise (p = 1.000)",
                "seen p50               –           –           –  too short",
                "seen p99               –           –           –  too short",
            ])
        let same = try Self.lines(Self.result(Self.slow), Self.result(Self.slow.reversed()))
        #expect(same[2].hasSuffix("+0.0 %  noise (p = 1.000)"), "\(same)")
        let short = try Self.lines(Self.result(Self.slow), Self.result(Array(faster.prefix(7))))
        #expect(short[2].hasSuffix("%  too short"), "\(short)")
    }

    @Test func otherTestsAreNamed() throws {
        let lines = try Self.lines(Self.result(Self.slow), Self.result(Self.slow), clients: 5)
        #expect(lines[1] == "            NOT THE SAME TEST: clients was 5, and is 4")
    }

    @Test(arguments: ["", "{}", "{\"second\":1}", "commits 5", "[1]"])
    func whatIsNoResultIsRefused(_ text: String) {
        #expect(throws: FormatError.self) { try LoadRecord(parsing: text) }
    }

    // MARK: Chance

    /// The values of R's `wilcox.test(a, b, exact = FALSE)`.
    @Test func ranksAreCompared() {
        let some = [1.0, 8, 2, 7, 3, 6, 4, 5]
        #expect(abs((RankSum.chance(some, some.map { $0 + 8 }) ?? 0) - 0.000_939) < 1e-5)
        #expect(abs((RankSum.chance(some, some.map { $0 + 3 }) ?? 0) - 0.045_2) < 1e-3)
        #expect(RankSum.chance(some, some) == 1)
        #expect(RankSum.chance(some, Array(some.dropLast())) == nil)
        #expect(RankSum.chance(some.map { _ in 1 }, some.map { _ in 1 }) == 1)
    }

    /// Of pairs of tests of one server, about one in a hundred looks changed, also if each second resembles the last.
    @Test(arguments: [(0.0, 10), (0.7, 60)])
    func equalServersSeldomLookChanged(_ memory: Double, _ seconds: Int) {
        var random = SplitMix64(seed: 5)
        func values() -> [Double] {
            var value = 0.0
            return (0..<seconds).map { _ in
                value = value * memory + Double(random.next(below: 1_000))
                return value
            }
        }
        let changed = (0..<1_000).count { _ in RankSum.chance(values(), values()) ?? 1 < 0.01 }
        #expect(changed < 40, "\(changed)")
    }

    // MARK: Bounds in percent, and the rate

    @Test(arguments: [
        ("commits>-5%", true), ("commits>+21%", false), ("commits<20%", true), ("ack.p99<+10%", true),
        ("ack.p50>1%", false), ("deliveries>19%", true), ("errors<0.1%", true),
    ])
    func boundsInPercentAreAboutTheChange(text: String, isMet: Bool) throws {
        let before = try LoadRecord(parsing: try Self.printed(Self.result(Self.slow)))
        let bound = try Threshold(text)
        #expect(bound.isPassed(by: Self.result(Self.slow.map { $0 + 20 }), against: before) == isMet)
        #expect(bound.needsComparison == (text != "errors<0.1%"))
        #expect(!bound.needsComparison || !bound.isPassed(by: Self.result(Self.slow)))
    }

    @Test(arguments: ["ack.p42<5%", "commits>x%", "rate>100"])
    func invalidPercentagesAreRefused(text: String) {
        #expect(throws: Threshold.ParseError.self) { try Threshold(text) }
    }

    /// A few edits may be under way at the end.
    @Test(arguments: [(0, true), (110, true), (112, false), (60_000, false)])
    func aRateThatIsNotReachedIsTold(missed: Int, isReached: Bool) throws {
        var result = Self.result([100, 100], rate: 1_000)
        result.total.edits = 1_000
        result.total.missed = missed
        #expect(result.hasReachedRate == isReached)
        let line = LoadReport(result, []).lines[1]
        #expect(
            line == "rate        asked for 1000 edits a second, made 500" + (isReached ? "" : ": NOT REACHED"))
        #expect(try Threshold("rate>90%").isPassed(by: result) == (missed <= 110))
        #expect(try Threshold("rate>1%").isPassed(by: result))
    }
}
