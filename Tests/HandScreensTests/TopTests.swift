import HandCore
import HandScreens
import HandSync
import Testing

/// An operator's view of a server.
@Suite struct TopTests {
    private func report(at time: UInt64, commits: Int) -> ServerReport {
        var figures = ServerFigures()
        figures.commits = commits
        figures.bytesSent = commits * 1_000
        var report = ServerReport(
            version: "hand/0.1.0", time: 10_000_000 + time, startedAt: 10_000_000 - 3_720_000, isDraining: false,
            processorSeconds: Double(time) / 2_000, residentBytes: 50 << 20, figures: figures, load: ServerLoad(),
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

    @Test func theScreenShowsFiguresAndRates() {
        let view = TopView(report(at: 2_000, commits: 3_000), since: report(at: 0, commits: 1_000))
        let lines = view.canvas(Size(rows: 14, columns: 100)).lines
        #expect(lines[0] == " hand/0.1.0  up 1 h 2 min")
        #expect(lines[1].contains("processor 50 %   memory 50.0 MiB"))
        #expect(lines[2].contains("commits 1.0 k/s") && lines[2].contains("out 977 KiB/s"))
        #expect(lines[3].contains("half ≤ 1 ms, 99 % ≤ 10 ms"))
        #expect(lines[6].contains("groceries�[2J") && lines[6].contains("1.2 M") && lines[6].contains("1.0 k"))
        #expect(lines[9].contains("7 ada� 10.0.0.1:5") && lines[9].contains("1.5 k") && lines[9].contains("3.0 MiB"))
        #expect(lines[9].hasSuffix("slowed") && lines[13] == " s S sort  / filter  j k choose  q quit")
    }

    /// Without an earlier report there are no rates, and it is drawn on a screen of any size.
    @Test func theViewFitsAScreenOfAnySize() {
        let view = TopView(report(at: 0, commits: 5))
        #expect(view.canvas(Size(rows: 24, columns: 80)).lines[2].contains("commits –"))
        for rows in 0..<16 {
            for columns in stride(from: 0, through: 120, by: 7) {
                #expect(view.canvas(Size(rows: rows, columns: columns), said: "gone").lines.count == rows)
            }
        }
    }

    private func crowd(at time: UInt64) -> ServerReport {
        var report = report(at: time, commits: 0)
        report.lists = [("b", 5, 2, 1), ("a-list-with-a-very-long-name-indeed", 9, 1, 3), ("c", 1, 0, 2)].map {
            ListReport(
                name: $0.0, items: $0.1, revision: 100 + $0.2 * Int(time), followers: $0.3, pending: 0, windowBytes: 0)
        }
        report.connections = (1...30).map {
            ConnectionReport(
                number: $0, peer: "10.0.0.\($0):5", person: $0 == 9 ? "Zoë" : "p\($0)", lists: $0 == 8 ? ["c"] : [],
                behind: Int($0 % 10), queuedBytes: 0, isSlowed: false, silence: 1_000 * (30 - $0))
        }
        return report
    }

    private func lines(_ choice: TopChoice, columns: Int = 80) -> [String] {
        TopView(crowd(at: 2_000), since: crowd(at: 0), choice).canvas(Size(rows: 24, columns: columns)).lines
    }

    private func press(_ keys: String, _ choice: inout TopChoice) throws -> TopChoice.Wish? {
        var wish: TopChoice.Wish?
        for key in keys.split(separator: " ") {
            let shown = TopView(crowd(at: 2_000), since: crowd(at: 0), choice).connections
            wish = choice.take(try Key(String(key)), among: shown) ?? wish
        }
        return wish
    }

    /// The name is shortened first: no figure is cut off at 80 columns, nor at 60.
    @Test(arguments: [60, 80, 100, 120])
    func figuresAreNotCutOff(_ columns: Int) {
        let lines = lines(TopChoice(), columns: columns)
        #expect(lines[5].hasSuffix("commits/s     waiting") || lines[5].hasSuffix("commits/s  waiting"), "\(lines[5])")
        #expect(lines[7].contains("a-list-wi") && lines[7].hasSuffix("0") && lines[7].contains("1.0 k"))
        #expect(lines.allSatisfy { $0.count <= columns })
    }

    @Test(arguments: [("s", "b a c"), ("s s", "a b c"), ("s s s s", "a c b"), ("s s s s s s", "a b c"), ("", "b a c")])
    func listsAreSorted(_ keys: String, _ names: String) throws {
        var choice = TopChoice()
        _ = try press(keys, &choice)
        let shown = lines(choice)[6...8].map { String($0.dropFirst().prefix(1)) }
        #expect(shown.joined(separator: " ") == names)
        #expect(lines(choice)[5].contains("▾") == !keys.isEmpty)
    }

    @Test func connectionsCanBeSortedAndSearched() throws {
        var choice = TopChoice()
        #expect(lines(choice)[11].hasPrefix(" 9 Zoë") && lines(choice)[12].hasPrefix(" 19 p19"))
        _ = try press("S S", &choice)
        #expect(lines(choice)[11].hasPrefix(" 1 p1 "))
        _ = try press("/ z O ë", &choice)
        #expect(lines(choice)[23] == " / zOë")
        #expect(try press("backspace backspace backspace z o ë q esc", &choice) == nil)
        _ = try press("/ z o ë enter", &choice)
        #expect(lines(choice).contains { $0.hasPrefix(" 9 Zoë") } && !lines(choice).contains { $0.contains("p1 ") })
        #expect(lines(choice)[23].hasPrefix(" only 'zoë'"))
        // A person on a list is found by the list's name.
        _ = try press("esc / c enter", &choice)
        #expect(TopView(crowd(at: 2_000), choice).connections.map(\.number) == [8])
        #expect(try press("esc q", &choice) == .quit)
    }

    @Test func aConnectionIsClosed() throws {
        var choice = TopChoice()
        #expect(try press("x y", &choice) == nil)
        #expect(try press("j j x", &choice) == nil)
        #expect(lines(choice)[23] == " close (y/n)? its client does not come back by itself: 19 p19 10.0.0.19:5")
        #expect(try press("n", &choice) == nil)
        #expect(try press("x y", &choice) == .close(19))
        // However far down it is, it is visible; and it stays selected when it moves.
        _ = try press((0..<25).map { _ in "j" }.joined(separator: " "), &choice)
        let chosen = try #require(try press("x y", &choice))
        guard case .close(let number) = chosen else { return }
        #expect(lines(choice).contains { $0.hasPrefix(" \(number) ") })
        _ = try press("S", &choice)
        #expect(try press("x y", &choice) == .close(number))
    }

    @Test func quantilesAreBucketBounds() {
        let times = ServerReport.Distribution(bounds: [1, 2, 4], counts: [10, 90, 99, 100])
        #expect(times.bound(keptBy: 0.1) == 1 && times.bound(keptBy: 0.5) == 2 && times.bound(keptBy: 0.99) == 4)
        #expect(times.bound(keptBy: 1) == .infinity && times.since(times).bound(keptBy: 0.5) == nil)
    }

    /// The reports of several servers, one of which is silent and one of which sends an unreadable report.
    @Test func eachOfSeveralServersHasARow() {
        typealias Server = FleetView.Server
        var restarted = report(at: 0, commits: 9_000)
        restarted.startedAt = 5
        let view = FleetView([
            Server(
                address: "a 0.0.0.0:7777\u{1B}[2J", silence: 300, report: report(at: 2_000, commits: 3_000),
                since: report(at: 0, commits: 1_000)),
            Server(address: "b", silence: 7_000, report: report(at: 2_000, commits: 3_000), since: restarted),
            Server(address: "c", silence: 0, report: nil, since: nil),
        ])
        let lines = view.canvas(Size(rows: 9, columns: 120)).lines
        #expect(lines[0].hasPrefix(" 3 servers   connections 0   commits 1.0 k/s   delivered 0/s"), "\(lines[0])")
        #expect(lines[2].contains("server") && lines[2].contains("commits/s") && lines[2].contains("memory"))
        #expect(lines[3].contains("a 0.0.0.0:7777�[2J") && lines[3].contains(" 1.0 k ") && lines[3].hasSuffix(" up"))
        #expect(lines[3].contains("≤ 10 ms") && lines[3].contains("50 %") && lines[3].contains("50.0 MiB"))
        #expect(lines[4].hasSuffix("silent 7 s") && !lines[4].contains("1.0 k"), "\(lines[4])")
        #expect(lines[5].contains("–") && lines[5].hasSuffix(" up") && lines[8] == " q quit")
        #expect(view.canvas(Size(rows: 9, columns: 80), said: "gone\u{7}").lines[8].hasPrefix(" gone"))
        for rows in 0..<12 {
            for columns in stride(from: 0, through: 120, by: 9) {
                #expect(view.canvas(Size(rows: rows, columns: columns)).lines.count == rows)
            }
        }
    }
}
