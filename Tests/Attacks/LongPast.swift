import Foundation
import HandCore
import HandTestSupport
import HandWire

/// A store with a list of many items and commits, and many lists beside it: where few bytes can ask for the most.
public struct LongPast {
    let data: String
    /// Items that its first commit inserts.
    let firstCount = 10_000
    private let folder: TemporaryFolder

    /// Has a server make it.
    ///
    /// - Parameter program: the path of `hand`.
    public init(
        _ program: String, items: Int = 1_000_000, commits: Int = 100_000, lists: Int = 20_000
    ) throws {
        folder = try TemporaryFolder()
        data = folder.path + "/data"
        let server = try AttackRange.Server(program, ["--listen", "127.0.0.1:0", "--data", data, "--durability", "os"])
        defer { server.stop() }
        let client = try RawClient("127.0.0.1", server.port, patience: 60)
        _ = try client.hello(1)
        for name in [AttackRange.list] + (0..<lists).map({ "list \($0)" }) {
            client.say(.create(request: 1, name: name, rules: Rules()))
            _ = try client.next()
        }
        client.say(.subscribe(.init(request: 2, name: AttackRange.list, logID: 0, revision: 0)))
        var revision = 0
        func commit(_ operation: HandCore.Operation) throws {
            let submission = Submission(
                list: 1, base: revision, sequence: UInt64(revision + 1), delta: operation.delta)
            client.say(.submit(submission))
            while let message = try client.next() {
                if let refusal = message.refusal { throw AttackRange.Failure(description: "not prepared: \(refusal)") }
                if case .commit = message { break }
            }
            revision += 1
        }
        for first in stride(from: 0, to: items, by: firstCount) {
            try commit(.insert(tasks(firstCount, first: UInt64(first + 1)), at: first, .after))
        }
        for number in 0..<commits { try commit(.edit(at: number * 7_919 % items, Change(text: "x\(number)"))) }
    }
}
