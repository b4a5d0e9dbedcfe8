import ArgumentParser
import Foundation

/// Measures the properties that the server is built for, compares them with alternatives, and prints a table.
@main
struct Speed: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hand-speed",
        abstract: "Compare the server with a C server that only numbers frames, with itself, and with others' servers.",
        discussion: """
            Server and load have a core each. Every figure is the median of some runs, those that are compared in turn.
            The machine should have nothing else to do, but for the rows named "instructions", which Valgrind counts.

              hand-speed                     all rows
              hand-speed --pairs 1 writing   the rows with "writing" in their names, one run each
              hand-speed --peers             the servers of others, if they are installed (Tests/Programs/Peers)
              hand-speed --attacks           what attacks cost, and what others notice of them
              hand-speed --curves plots.html how cost grows with clients, items and history
            """)

    @Option(help: "How many times each thing is measured.") var pairs = 5
    @Option(help: "Seconds of each run.") var seconds = 5
    @Option(help: "Commits of the long history.") var history = 10_000_000
    @Flag(help: "Compare with other projects' servers instead.") var peers = false
    @Flag(help: "Run attacks instead, and measure what each costs the server and other users.")
    var attacks = false
    @Option(help: "With --attacks: another version of hand to attack, for comparison.") var program: String?
    @Option(help: .hidden) var play: String?
    @Option(help: .hidden) var range: String?
    @Option(name: .customLong("serve"), help: .hidden) var servedPort: Int?
    @Option(name: .customLong("store"), help: .hidden) var servedStore: String?
    @Option(help: "Draw curves into this file instead of measuring rows.") var curves: String?
    @Argument(help: "Measure only rows whose names contain one of these words.") var words: [String] = []

    func validate() throws {
        guard pairs > 0, seconds > 0, history > 0 else { throw ValidationError("Numbers must be greater than 0.") }
    }

    func run() throws {
        if let servedPort { return try Instructions.serve(port: servedPort, from: servedStore) }
        if let play, let range { return try AttackTable.play(play, range) }
        let bench = try Bench(pairs: pairs, seconds: seconds)
        defer { bench.close() }
        print(Machine.description)
        if let curves { return try Curves(bench, history: history).draw(to: curves) }
        if attacks { return try AttackTable(bench, program: program).measure(isWanted) }
        if peers { return try Peers(bench).compare() }
        print(Row.head)
        for row in Row.all(history: history) where isWanted(row.name) {
            FileHandle.standardError.write(Data("… \(row.name)\n".utf8))
            print(row.line(try row.measure(bench)))
        }
    }

    private func isWanted(_ name: String) -> Bool {
        words.isEmpty || words.contains { name.localizedCaseInsensitiveContains($0) }
    }
}
