import HandCore
import HandTestSupport
import HandWire

extension AttackRange {
    /// Gives the list the items that it has at `past`, then makes commits after that, and creates lists alongside it.
    ///
    /// - Parameter client: an admitted client.
    func fill(_ client: RawClient, commits: Int, lists: Int) throws {
        for number in 0..<lists {
            client.say(.create(request: 1, name: "list \(number)", rules: Rules()))
            _ = try client.next()
        }
        _ = try client.answers(to: .subscribe(.init(request: 2, name: Self.list, logID: 0, revision: 0)))
        var revision = 0
        func commit(_ operation: Delta) throws {
            let sequence = SequenceNumber(rawValue: UInt64(revision + 1))
            client.say(.submit(Submission(list: 1, base: revision, sequence: sequence, delta: operation)))
            while let message = try client.next() {
                if let refusal = message.refusal { throw Failure(description: "the list is not filled: \(refusal)") }
                if case .commit = message { break }
            }
            revision += 1
        }
        let portion = past.count / past.revision
        for first in stride(from: 0, to: past.count, by: portion) {
            try commit(.inserting(tasks(portion, first: UInt64(first + 1)), at: first, .after))
        }
        for number in 0..<commits {
            try commit(
                .editing(
                    at: number * 7_919 % past.count, Change(text: TextChange(replacing: "", at: 0, with: "x\(number)")))
            )
        }
    }
}
