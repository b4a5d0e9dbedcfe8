import HandCore
import HandSync
import HandWire

/// Prints the costs of the core and the authority in nanoseconds per operation, for lists of different lengths side by
/// side: `swift run -c release hand-benchmarks`. What matters is that a row does not grow with the list. With words as
/// arguments, only the rows that start with one of them are run.
@main
struct Benchmarks {
    static let sizes = [100, 10_000, 1_000_000]

    static func main() {
        print("ns per operation (median of 5)".padded(34) + sizes.map { "\($0)".leftPadded(12) }.joined() + "   items")
        row("apply: insert") { Edits($0, seed: 1, kinds: [.insert]).apply() }
        row("apply: delete + insert") { Edits($0, seed: 1, kinds: [.delete, .insert]).apply() }
        row("apply: move") { Edits($0, seed: 2, kinds: [.move]).apply() }
        row("apply: edit") { Edits($0, seed: 3, kinds: [.edit]).apply() }
        row("apply: all kinds, copy kept") {
            Edits($0, seed: 4, kinds: [.insert, .delete, .move, .edit]).applyKeeping()
        }
        row("transform: single over single") { Pairs($0).transform() }
        row("transform: the same as integers") { Pairs($0).transformIntegers() }
        row("compose: one edit more") { Edits($0, seed: 5, kinds: [.insert, .delete, .move, .edit]).compose() }
        row("digest after an edit") { Edits($0, seed: 6, kinds: [.edit]).digest() }
        row("server commit, base at head") { Commits($0, lag: 0).run() }
        row("server commit, base 100 behind") { Commits($0, lag: 100).run() }
        row("client: receive a commit") { Commits($0, lag: 0).receive() }
        if isWanted("branches") { branches() }
        if isWanted("homecoming") { homecoming() }
        if isWanted("belated") { belated() }
        if isWanted("large") { large() }
        if isWanted("screen") { KeyToScreen.run(sizes) }
        if isWanted("whole") { WholeClient.run(sizes) }
    }

    private static func isWanted(_ name: String) -> Bool {
        let words = CommandLine.arguments.dropFirst()
        return words.isEmpty || words.contains { name.hasPrefix($0) }
    }

    /// Prints one row: the median of five samples for each size.
    private static func row(_ name: String, _ sample: (Int) -> Double) {
        guard isWanted(name) else { return }
        let medians = sizes.map { size in (0..<5).map { _ in sample(size) }.sorted()[2] }
        let cells = medians.map { String(Int($0 + 0.5)).leftPadded(12) }.joined()
        print(name.padded(34) + cells)
    }

    /// Measures a client that was offline and has ticked 8,000 items: the cost of each of the others' commits. It must
    /// not depend on their number.
    private static func homecoming() {
        let cells = [1_000, 10_000, 100_000].map { count in
            "\(count)".leftPadded(9) + ": \(Int(Homecoming(commits: count).receive())) ns"
        }
        print("\n8,000 items ticked offline, cost per commit of others:" + cells.joined())
    }

    /// Measures how long the server works on edits made before 100,000 commits, until it commits them or reports them
    /// as stale.
    private static func belated() {
        let world = Homecoming(commits: 100_000)
        print("\nan edit made before 100,000 commits".padded(34) + "        ms        work   ns per commit")
        for (name, delta) in Homecoming.belated {
            let samples = (0..<5).map { _ in world.answer(delta) }.sorted { $0.milliseconds < $1.milliseconds }
            let (milliseconds, work) = samples[2]
            let cells = [
                "\((milliseconds * 10).rounded() / 10)", "\(work)", "\(Int(milliseconds * 1e6) / max(1, work))",
            ]
            print(name.padded(34) + cells.map { $0.leftPadded(11) }.joined())
        }
    }

    /// Measures the server's cost of one delta that touches many items of a list of 1,000,000.
    private static func large() {
        let columns = "   items    read    make    free   ns/item   work/item"
        print("\none delta on 1,000,000 items, ms".padded(34) + columns)
        for (name, make) in LargeDelta.sorts {
            for count in [10_000, 100_000, 500_000] {
                let cost = LargeDelta.cost(make(count))
                let numbers = [cost.read, cost.make, cost.free].map { "\(($0 * 10).rounded() / 10)".leftPadded(8) }
                let each = Int((cost.read + cost.make + cost.free) * 1e6) / count
                print(
                    name.padded(34) + "\(count)".leftPadded(8) + numbers.joined() + "\(each)".leftPadded(10)
                        + "\(Double(cost.work) / Double(count))".leftPadded(12))
            }
        }
    }

    /// Measures two offline branches of 100,000 random single edits each on a list of 1,000: composing one and
    /// transforming it over the other.
    private static func branches() {
        var samples: [(compose: Double, transform: Double)] = []
        for round in 0..<5 {
            let first = Edits(1_000, seed: 20 + UInt64(round), kinds: [.insert, .delete, .move]).deltas(100_000)
            let second = Edits(1_000, seed: 40 + UInt64(round), kinds: [.insert, .delete, .move]).deltas(100_000)
            var composer = Composer()
            for delta in second { composer.append(delta) }
            let other = composer.delta
            var mine = Delta.identity
            let compose = Stopwatch.nanoseconds {
                var composer = Composer()
                for delta in first { composer.append(delta) }
                mine = composer.delta
            }
            let transform = Stopwatch.nanoseconds {
                Sink.take(mine.transformed(over: other, as: .later).componentCount)
            }
            samples.append((compose / 1e6, transform / 1e6))
        }
        let compose = samples.map(\.compose).sorted()[2]
        let transform = samples.map(\.transform).sorted()[2]
        print(
            "\n100,000 edits composed into one delta: \(Int(compose)) ms; transformed over another such: \(Int(transform)) ms"
        )
    }
}

extension String {
    func padded(_ width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
    func leftPadded(_ width: Int) -> String { String(repeating: " ", count: max(0, width - count)) + self }
}
