import HandCore
import HandScreens
import HandSync
import Testing

/// What an operator sees of a server.
@Suite struct TopTests {
    private func report(at time: UInt64, commits: Int) -> ServerReport {
        var figures = ServiceFigures()
        figures.commits = commits
        figures.bytesSent = commits * 1_000
        var report = ServerReport(
            version: "hand/0.1.0", time: 10_000_000 + time, startedAt: 10_000_000 - 3_720_000, isDraining: false,
            processorSeconds: Double(time) / 2_000, residentBytes: 50 << 20, figures: figures, load: ServiceLoad(),
            commitTimes: .init(bounds: [0.001, 0.01], counts: [commits / 2, commits, commits]))
        report.lists = [
            ListReport(
                name: "groceries\u{1B}[2J", items: 1_234_567, revision: commits, followers: 2, pending: 0,
                windowBytes: 0)
        ]
        report.connections = [
            ConnectionReport(
                number: 7, peer: "10.0.0.1:5", person: "ada\u{202E}", lists: [], behind: 1_500, queuedBytes: 3 << 20,
                isSlowed: true, silence: 4_000)
        ]
        return report
    }

    @Test func theScreen() {
        let view = TopView(report(at: 2_000, commits: 3_000), since: report(at: 0, commits: 1_000))
        let lines = view.canvas(Size(rows: 14, columns: 100)).lines
        #expect(lines[0] == " hand/0.1.0  up 1 h 2 min")
        #expect(lines[1].contains("processor 50 %   memory 50.0 MiB"))
        #expect(lines[2].contains("commits 1.0 k/s") && lines[2].contains("out 977 KiB/s"))
        #expect(lines[3].contains("half ≤ 1 ms, 99 % ≤ 10 ms"))
        #expect(lines[6].contains("groceries�[2J") && lines[6].contains("1.2 M") && lines[6].contains("1.0 k"))
        #expect(lines[9].contains("7 ada� 10.0.0.1:5") && lines[9].contains("1.5 k") && lines[9].contains("3.0 MiB"))
        #expect(lines[9].hasSuffix("slowed") && lines[13] == " q quit")
    }

    /// Without a report before it there are no rates, and on any size of screen it draws.
    @Test func anySize() {
        let view = TopView(report(at: 0, commits: 5))
        #expect(view.canvas(Size(rows: 24, columns: 80)).lines[2].contains("commits –"))
        for rows in 0..<16 {
            for columns in stride(from: 0, through: 120, by: 7) {
                #expect(view.canvas(Size(rows: rows, columns: columns), problem: "gone").lines.count == rows)
            }
        }
    }

    @Test func boundsOfShares() {
        let times = ServerReport.Distribution(bounds: [1, 2, 4], counts: [10, 90, 99, 100])
        #expect(times.bound(keptBy: 0.1) == 1 && times.bound(keptBy: 0.5) == 2 && times.bound(keptBy: 0.99) == 4)
        #expect(times.bound(keptBy: 1) == .infinity && times.since(times).bound(keptBy: 0.5) == nil)
    }
}
