import Foundation
import HandLoad

/// How costs grow with sizes: printed, and drawn into one page.
struct Curves {
    private let bench: Bench
    private let history: Int

    private struct Curve {
        let title: String
        let unit: String
        let names: [String]
        /// Each value of the varied size, with the named figures measured for it.
        var points: [(x: Int, values: [Double])] = []
    }

    init(_ bench: Bench, history: Int) {
        self.bench = bench
        self.history = history
    }

    func draw(to path: String) throws {
        let curves = [try clients(), try items(), try histories()]
        let page = Page.html(
            title: "hand: cost curves", body: "<p>\(Machine.description)</p>\n" + curves.map(plot).joined())
        try page.write(toFile: path, atomically: true, encoding: .utf8)
        print("plots are in \(path)")
    }

    private func measured(_ curve: Curve, _ places: [Int], _ body: (Int) throws -> [Double]) throws -> Curve {
        var curve = curve
        print("\n\(curve.title): \(curve.names.joined(separator: ", ")), \(curve.unit)")
        for place in places {
            let samples = try (0..<bench.pairs).map { _ in try body(place) }
            let values = curve.names.indices.map { name in samples.map { $0[name] }.median }
            curve.points.append((place, values))
            print("\(place): " + values.map(Row.number).joined(separator: ", "))
        }
        return curve
    }

    private func clients() throws -> Curve {
        try measured(
            Curve(title: "Clients, all writing", unit: "commits/s", names: ["hand", "C"]), [1, 10, 100, 1_000, 4_000]
        ) { count in
            let ours = try bench.withServer(.hand(durability: "memory")) {
                try bench.load("burst", on: $0, clients: count, "--light").commitsPerSecond
            }
            let base = try bench.withServer(.fanOut) {
                try bench.load("burst", on: $0, clients: count, "--light", "--as-is").commitsPerSecond
            }
            return [ours, base]
        }
    }

    private func items() throws -> Curve {
        let script = try bench.longListScript()
        return try measured(
            Curve(title: "Items in the list, 100 clients writing", unit: "commits/s", names: ["hand"]),
            [100, 1_000, 10_000, 100_000, 1_000_000]
        ) { count in
            let data = bench.folder + "/items-\(count)"
            if !FileManager.default.fileExists(atPath: data) { try Stores.fill(data, list: "list", items: count) }
            return try bench.withServer(.hand(durability: "os", data: data)) {
                [try bench.load(script, on: $0, clients: 100, "--light", "--as-is", "-l", "list").commitsPerSecond]
            }
        }
    }

    private func histories() throws -> Curve {
        let script = try bench.write("loop\n  move random to random\nend\n", to: "edits")
        let places = [10_000, 100_000, 1_000_000, 10_000_000].filter { $0 <= history }
        return try measured(
            Curve(
                title: "Commits in the history", unit: "ms to start; thousand commits/s of 100 clients",
                names: ["start", "commits"]), places
        ) { count in
            let data = bench.folder + "/history-\(count)"
            if !FileManager.default.fileExists(atPath: data) { try Stores.remember(data, list: "list", commits: count) }
            return try bench.withServer(.hand(durability: "os", data: data)) { server in
                let start = server.startSeconds * 1_000
                let load = try bench.load(script, on: server, clients: 100, "--light", "--as-is", "-l", "list")
                return [start, load.commitsPerSecond / 1_000]
            }
        }
    }

    private func plot(_ curve: Curve) -> String {
        let colors = ["#1f6feb", "#d1582a"]
        // Powers of ten are equally spaced.
        let marks = curve.points.map { (x: log10(Double($0.x)), name: "\($0.x)") }
        return LinePlot(
            title: curve.title, unit: curve.unit, across: curve.title.split(separator: ",")[0].lowercased(),
            lines: curve.names.enumerated().map { index, name in
                LinePlot.Line(
                    name: name, color: colors[index],
                    points: curve.points.map { (log10(Double($0.x)), $0.values[index]) })
            }, marks: marks
        ).svg + "\n"
    }
}
