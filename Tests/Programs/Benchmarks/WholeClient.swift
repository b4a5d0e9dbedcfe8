import EventLoop
import FoundationEssentials
import HandApp
import HandClient
import HandCore
import HandFormats
import HandScreens
import HandSync
import HandWire

/// From a key that makes an edit to the drawn screen, in a whole client without a terminal and without a server: the
/// screens, the machine and the journal on its thread.
final class WholeClient: Screenful {
    private static let rounds = 2_000

    static func run(_ sizes: [Int]) {
        let columns = ["key p50", "p99", "drawn p50", "p99"].map { $0.leftPadded(10) }
        print("\nan edit in a whole client, µs".padded(46) + columns.joined())
        for size in sizes {
            guard let client = try? WholeClient(Edits.list(size)) else { return print("no client could be made") }
            let (keys, draws) = client.measure()
            let cells = [keys, draws].flatMap { times in
                let times = times.sorted()
                return [times[times.count / 2], times[times.count * 99 / 100]]
            }
            print("\(size) items".padded(45) + cells.map { String(Int($0 / 1_000)).leftPadded(10) }.joined())
        }
    }

    private let loop: Loop
    private let folder: String
    private var runner: Runner?
    private var drawn = 0
    private var lines = ""

    private init(_ list: Hand) throws {
        folder = FileManager.default.temporaryDirectory.path + "/hand-benchmark-\(UInt64.random(in: 0...UInt64.max))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let server = HandAddress.Server.unix(path: folder + "/none.sock")
        let configuration = ClientConfiguration(
            server: server, person: "ada", program: "test", journalPath: folder + "/journal")
        let journal = try configuration.openJournal()
        try journal?.checkpoint(Replica(confirmed: list, revision: 1, logID: 1, sequence: 0), of: "list")
        loop = try Loop()
        let settings = AppState.Settings(server: server, person: "ada", size: Size(rows: 40, columns: 120), seed: 1)
        let place: Runner.Server = (configuration, journal)
        runner = Runner(settings, opening: .list("list"), on: loop, screen: self, at: place) { _ in place }
        runner?.start()
        while !lines.contains("1 ") || lines.contains("Loading") { _ = loop.runOnce() }
    }

    private func measure() -> (keys: [Double], draws: [Double]) {
        var (keys, draws): ([Double], [Double]) = ([], [])
        let edit = Key(.character("J"))
        for round in 0..<Self.rounds {
            let before = drawn
            let start = Loop.monotonicNanoseconds
            runner?.take(.key(round % 2 == 0 ? edit : Key(.character("K"))))
            keys.append(Double(Loop.monotonicNanoseconds - start))
            while drawn == before { _ = loop.runOnce() }
            draws.append(Double(Loop.monotonicNanoseconds - start))
        }
        runner?.close()
        loop.run()
        loop.close()
        try? FileManager.default.removeItem(atPath: folder)
        return (keys, draws)
    }

    func draw(_ canvas: Canvas) {
        drawn += 1
        lines = canvas.lines.joined(separator: "\n")
    }
    func redraw() {}
    func suspend() {}
    func handOver() {}
    func takeBack() {}
    func bell() {}
    func notify(_ text: String) {}
    func close() {}
}
