import HandCore
import HandLoad

/// Either a script is refused at a place inside it, or every client has a next step, whatever the script says.
enum ScriptTarget {
    private static let steps = 200

    static func run(_ bytes: [UInt8]) throws {
        let text = String(decoding: bytes, as: UTF8.self)
        let script: Script
        do {
            script = try Script(parsing: text)
        } catch {
            let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            try check((1...lines.count + 1).contains(error.line), "line \(error.line) of \(lines.count)")
            return try check(error.column >= 1 && !error.message.isEmpty, "\(error)")
        }
        for (number, role) in script.parts(of: min(script.clients, 4)).enumerated() {
            var run = ScriptRun(role, client: number, seed: 1)
            for _ in 0..<steps {
                guard let place = place(in: run.next()) else { continue }
                for count in [1, 2, 1_000_000] {
                    try check((0..<count).contains(place.index(of: count)), "no index of \(count)")
                    try check((0...count).contains(place.gap(of: count)), "no gap of \(count)")
                }
            }
        }
    }

    private static func place(in step: ScriptRun.Step) -> ScriptRun.Spot? {
        switch step {
        case .edit(.add(_, let spot)), .edit(.move(let spot, _)), .edit(.delete(let spot)), .edit(.edit(let spot, _)),
            .edit(.tick(let spot)):
            spot
        default: nil
        }
    }
}
