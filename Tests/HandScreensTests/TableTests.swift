import HandCore
import HandScreens
import HandTestSupport
import Testing

@Suite struct TableTests {
    /// A table of rows of different heights. Everything is checked after each step.
    private struct Bench {
        var table = TableView()
        var heights: [Int]
        var lines: Int

        var geometry: TableView.Geometry {
            TableView.Geometry(count: heights.count, lines: lines) { [heights] in heights[$0] }
        }

        /// Checks what must hold for every window.
        func check() {
            let placed = table.placed(in: geometry)
            guard !heights.isEmpty else {
                #expect(placed.isEmpty)
                return
            }
            for (above, below) in zip(placed, placed.dropFirst()) {
                #expect(below.row == above.row + 1)
                #expect(below.line == above.line + above.height)
            }
            let own = placed.first { $0.row == table.cursor }
            #expect(own != nil)
            if let own, own.height <= lines { #expect(own.line >= 0 && own.line + own.height <= lines) }
            // No line is empty without need.
            let first = placed.first
            let last = placed.last
            if let first { #expect(first.line <= 0, "the top is empty") }
            if let last, first?.row != 0 || (first?.line ?? 0) < 0 {
                let isTall = heights[table.cursor] > lines
                #expect(last.line + last.height >= lines || isTall, "the bottom is empty")
            }
        }
    }

    @Test func theWindowIsAlwaysFullAndTheCursorInIt() {
        var random = SplitMix64(seed: testSeed(42, "table"))
        for _ in 0..<300 {
            var bench = Bench(
                heights: (0..<random.next(below: 30)).map { _ in 1 + random.next(below: 4) },
                lines: 1 + random.next(below: 12))
            for _ in 0..<40 {
                switch random.next(below: 5) {
                case 0: bench.table.move(to: random.next(below: 40) - 5, in: bench.geometry)
                case 1: bench.table.scroll(by: random.next(below: 11) - 5, in: bench.geometry)
                case 2:
                    bench.lines = 1 + random.next(below: 12)
                    bench.table.settle(in: bench.geometry)
                case 3 where !bench.heights.isEmpty:
                    bench.heights.remove(at: random.next(below: bench.heights.count))
                    bench.table.settle(in: bench.geometry)
                default:
                    let row = random.next(below: bench.heights.count + 1)
                    bench.heights.insert(1 + random.next(below: 4), at: row)
                    if row <= bench.table.cursor, bench.heights.count > 1 {
                        bench.table.follow(to: bench.table.cursor + 1)
                    }
                    bench.table.settle(in: bench.geometry)
                }
                bench.check()
            }
        }
    }

    /// Rows outside of the window cost nothing, whatever the length of the table.
    @Test func rowsOutsideTheWindowAreNotTouched() {
        final class Counter { var touched: Set<Int> = [] }
        let counter = Counter()
        let geometry = TableView.Geometry(count: 1_000_000, lines: 40) { row in
            counter.touched.insert(row)
            return 1 + row % 3
        }
        var table = TableView()
        for row in [500_000, 999_999, 0, 250_000] {
            counter.touched = []
            table.move(to: row, in: geometry)
            table.scroll(by: 5, in: geometry)
            _ = table.placed(in: geometry)
            #expect(counter.touched.count < 400, "\(counter.touched.count) rows were read")
        }
    }

    /// Only changed rows are sent to the terminal.
    @Test func onlyChangedRowsAreDrawn() {
        var stage = KeyTests.stage(">a b c d e")
        let before = stage.app.view()
        stage.remote(.editing(at: 3, Change(done: true)))
        #expect(stage.app.view().changedRows(since: before) == [0, 4, 11])
        stage.press("j")
        let moved = stage.app.view()
        stage.press("k")
        #expect(stage.app.view().changedRows(since: moved) == [1, 2])
        #expect(stage.app.view().changedRows(since: nil).count == 12)
    }
}
