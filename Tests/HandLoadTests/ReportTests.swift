import Foundation
import HandLoad
import Histogram
import Testing

/// The uses of figures: thresholds, tables, plots, and one result of several processes.
@Suite struct ReportTests {
    private static func figures(
        commits: Int, acknowledged: StrideThrough<Int>, seen: StrideThrough<Int>, errors: [String: Int] = [:]
    ) -> LoadFigures {
        var figures = LoadFigures()
        (figures.edits, figures.commits, figures.deliveries) = (commits + 1, commits, commits * 7)
        (figures.bytesSent, figures.bytesReceived, figures.connects) = (commits * 11, commits * 13, 3)
        for milliseconds in acknowledged { _ = figures.acknowledged.record(UInt64(milliseconds) * 1_000_000) }
        for milliseconds in seen { _ = figures.seen.record(UInt64(milliseconds) * 1_000_000) }
        figures.errors = errors
        return figures
    }

    private static func list(
        _ name: String = "x", revision: Int = 5, digest: UInt64 = 0xABC, agreed: Int = 4, _ differences: [String] = []
    ) -> LoadResult.Convergence {
        .init(list: name, revision: revision, items: 2, digest: digest, agreed: agreed, differences: differences)
    }

    /// A result with one second of 100 commits with 1…100 ms until acknowledged and 201…300 ms until seen, and a tenth
    /// of a second of 30.
    private static func result() -> LoadResult {
        var result = LoadResult(seed: 42, clients: 4)
        let first = figures(
            commits: 100, acknowledged: stride(from: 1, through: 100, by: 1),
            seen: stride(from: 201, through: 300, by: 1), errors: ["lost": 2])
        let second = figures(
            commits: 30, acknowledged: stride(from: 1, through: 0, by: 1), seen: stride(from: 1, through: 0, by: 1))
        result.connected = 0.25
        result.seconds = 1.1
        result.samples = [
            .init(at: 1, seconds: 1, clients: 3, figures: first),
            .init(at: 1.1, seconds: 0.1, clients: 4, figures: second),
        ]
        result.total = first
        result.total.add(second)
        result.lists = [list()]
        return result
    }

    // MARK: Thresholds

    @Test(arguments: [
        ("ack.p50<50ms", false), ("ack.p50<51ms", true), ("ack.p50>49ms", true), ("ack.p50>51ms", false),
        ("ack.p99<99ms", false), ("ack.p99<99.5ms", true), ("ack.max<100ms", false), ("ack.max<101ms", true),
        ("ack.p99.9<99500us", false), ("ack.p10<0.011s", true),
        ("seen.p50<250ms", false), ("seen.p50<251ms", true), ("seen.p50>249ms", true), ("seen.max>299ms", true),
        ("seen.p99<200ms", false), ("seen.p1>200ms", true),
        ("commits>118", true), ("commits<118", false), ("commits>118.5", false), ("commits < 118.5", true),
        ("deliveries>827", true), ("deliveries>828", false), ("errors<3", true), ("errors<2", false),
        ("errors>1", true),
    ])
    func thresholdsCompareWithTheResult(text: String, isMet: Bool) throws {
        #expect(try Threshold(text).isPassed(by: Self.result()) == isMet)
    }

    /// A server that never answered was not fast.
    @Test(arguments: ["ack.p99<20ms", "ack.max>1us", "seen.p50<1s", "seen.p50>1us"])
    func unmeasuredThresholdsAreNotMet(text: String) throws {
        let result = LoadResult(seed: 1, clients: 1)
        let bound = try Threshold(text)
        #expect(!bound.isPassed(by: result))
        #expect(LoadReport(result, [bound]).lines.last == "NOT MET  \(text) (nothing was measured)")
    }

    // MARK: Lines and tables

    @Test func theSummaryHasAllLines() throws {
        let bounds = try ["ack.p99<20ms", "commits>100", "errors<1"].map { try Threshold($0) }
        #expect(
            LoadReport(Self.result(), bounds).lines == [
                "4 clients connected in 0.25 s, worked 1.1 s; seed 42",
                "commits     130, 118 a second (132 edits)",
                "deliveries  910, 827 a second",
                "bytes       1430 B sent, 1690 B received",
                "                   p50       p90       p99     p99.9       max",
                "acknowledged  50.00 ms  90.05 ms  99.02 ms 100.00 ms 100.00 ms",
                "seen         250.09 ms 290.19 ms 299.11 ms 300.00 ms 300.00 ms",
                "error       2 × lost",
                "'x' converged: 4 clients have what the server has (revision 5, 2 items, digest 0000000000000abc)",
                "NOT MET  ack.p99<20ms (99.02 ms)",
                "met  commits>100 (118.2 a second)",
                "NOT MET  errors<1 (2)",
            ])
        #expect(
            Self.result().samples.map { LoadReport.line($0) } == [
                "   1 s       3 clients      100 commits/s      700 deliveries/s  ack p50 50.00 ms  p99 99.02 ms"
                    + "  2 errors",
                "   1 s       4 clients      300 commits/s     2100 deliveries/s         ack p50 –         p99 –",
            ])
    }

    @Test func differingClientsAreNamed() {
        var result = Self.result()
        result.lists = [Self.list(agreed: 3, ["client 2 is at revision 4, the server at 5"])]
        #expect(!result.hasConverged && !result.isSound)
        #expect(
            LoadReport(result, []).lines.suffix(2) == [
                "'x' DID NOT CONVERGE: 1 of 4 clients differ from the server (revision 5, 2 items, digest 0000000000000abc)",
                "            client 2 is at revision 4, the server at 5",
            ])
        result.lists = []
        #expect(!result.hasConverged)
        result = Self.result()
        result.total.errors["diverged"] = 1
        #expect(result.hasConverged && !result.isSound)
    }

    @Test func theCSVHasAllSamples() {
        #expect(
            LoadCSV.text(Self.result()) == """
                second,clients,edits,commits,deliveries,bytes_sent,bytes_received,errors,ack_p50_us,ack_p90_us,ack_p99_us,\
                ack_p99.9_us,ack_max_us,seen_p50_us,seen_p90_us,seen_p99_us,seen_p99.9_us,seen_max_us
                1.000,3,101,100,700,1100,1300,2,50003,90046,99024,100000,100000,250085,290193,299106,300000,300000
                1.100,4,31,30,210,330,390,0,,,,,,,,,,

                """)
        let distribution = LoadCSV.distribution(Self.result())
        let parts = distribution.components(separatedBy: "#[seen]\n")
        #expect(distribution.hasPrefix("#[acknowledged]\n") && parts.count == 2)
        // The largest of each, in milliseconds.
        let largest = parts.map { $0.firstMatch(of: /Max\s*=\s*(\d+)/).map { String($0.1) } }
        #expect(largest == ["100", "300"])
    }

    // MARK: The page

    private static let occasion = LoadOccasion(
        command: "hand load --threshold 'ack.p99<20ms'", script: "loop\n  add \"<b>\"\nend", version: "hand 1.2.3",
        date: "2026-01-02T03:04:05Z")

    @Test func thePageShowsTheTestAndMissedThresholds() throws {
        let bounds = try ["ack.p99<20ms", "commits>100"].map { try Threshold($0) }
        let page = LoadHTML.page(Self.result(), bounds, of: Self.occasion, title: "<x>")
        for text in [
            "<title>&lt;x&gt;</title>", "<p class=\"good\">Every client ended with what the server has.</p>",
            "<p class=\"bad\">NOT MET  ack.p99&lt;20ms (99.02 ms)</p>",
            "<p class=\"good\">met  commits&gt;100 (118.2 a second)</p>",
            "<dd>hand load --threshold 'ack.p99&lt;20ms'</dd>", "<dd>hand 1.2.3</dd>", "<dd>2026-01-02T03:04:05Z</dd>",
            "<dd>42</dd>", "add \"&lt;b&gt;\"",
        ] { #expect(page.contains(text), "\(text)") }
        #expect(!page.contains("http") && !page.contains("<b>"))
        #expect(page.components(separatedBy: ">seconds since the work began</text>").count == 4)
        #expect(page.components(separatedBy: ">percentile: share of edits that took no longer</text>").count == 2)
        var diverged = Self.result()
        diverged.total.errors["diverged"] = 1
        #expect(LoadHTML.page(diverged, [], of: Self.occasion, title: "x").contains("<p class=\"bad\">"))
    }

    /// The positions of the points: a short sample counts with its rate.
    @Test func plotsScaleToTheirValues() throws {
        let page = LoadHTML.page(Self.result(), [], of: Self.occasion, title: "x")
        let lines = page.components(separatedBy: "points=\"").dropFirst().map { $0.prefix { $0 != "\"" } }
        // Commits and deliveries from 100 to 300 and from 700 to 2100 per second: a third of the height, and all of it.
        try #require(lines.count == 6)
        #expect(lines[0] == "70.0,166.0 748.0,34.0" && lines[1] == lines[0])
        // p50 and p99 of the first sample; for the second nothing was measured.
        #expect(lines[2] == "70.0,132.0" && lines[3] == "70.0,34.0")
    }

    // MARK: Several processes

    @Test func processesAreJoinedIntoOneResult() {
        var other = LoadResult(seed: 42, clients: 2)
        let slow = Self.figures(
            commits: 100, acknowledged: stride(from: 1_001, through: 1_100, by: 1),
            seen: stride(from: 1, through: 100, by: 1), errors: ["lost": 1, "diverged": 1])
        other.connected = 0.5
        other.seconds = 1.05
        other.samples = [.init(at: 1.02, seconds: 1.02, clients: 2, figures: slow)]
        other.total = slow
        other.problems = ["client 9 is lost"]
        other.lists = [Self.list(agreed: 2), Self.list("y", agreed: 1)]
        let joined = LoadResult.joined([Self.result(), other])
        #expect((joined.seed, joined.clients, joined.connected, joined.seconds) == (42, 6, 0.5, 1.1))
        #expect((joined.total.edits, joined.total.commits, joined.total.deliveries) == (233, 230, 1_610))
        #expect((joined.total.bytesSent, joined.total.bytesReceived, joined.total.connects) == (2_530, 2_990, 9))
        #expect(joined.total.errors == ["lost": 3, "diverged": 1] && !joined.isSound)
        // Of 200 values, the hundredth is the slowest of one process, the next one the fastest of the other.
        #expect(joined.total.acknowledged.totalCount == 200 && joined.total.seen.totalCount == 200)
        #expect((99_900_000...100_200_000).contains(joined.total.acknowledged.valueAtPercentile(50)))
        #expect((1_000_000_000...1_003_000_000).contains(joined.total.acknowledged.valueAtPercentile(51)))
        #expect((1_089_000_000...1_091_000_000).contains(joined.total.acknowledged.valueAtPercentile(95)))
        #expect(joined.samples.map(\.at) == [1.02, 1.1] && joined.samples.map(\.seconds) == [1.02, 0.1])
        #expect(joined.samples.map(\.clients) == [5, 4] && joined.samples.map(\.figures.commits) == [200, 30])
        #expect(joined.lists.map(\.list) == ["x", "y"] && joined.lists.map(\.agreed) == [6, 1])
        #expect(joined.hasConverged && joined.problems == ["client 9 is lost"])
    }

    /// Each process compares with the server by itself; all must have seen the same.
    @Test(arguments: [(6, 0xABC), (5, 0xABD)] as [(Int, UInt64)])
    func processesThatEndedDifferentlyDiffer(revision: Int, digest: UInt64) {
        var other = Self.result()
        other.lists = [Self.list(revision: revision, digest: digest)]
        let joined = LoadResult.joined([Self.result(), other])
        #expect(!joined.hasConverged && joined.lists.map(\.agreed) == [8])
        #expect(
            joined.lists.flatMap(\.differences) == ["a process ended at revision \(revision), another at 5"])
    }
}
