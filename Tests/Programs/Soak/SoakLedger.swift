import HandCore
import HandSync
import Synchronization

/// What the workers know. It is written on their loops' threads, inside of edits, so that its order is that of the
/// views.
final class SoakLedger: Sendable {
    private struct State {
        var acknowledged = 0
        var commits = 0
        var problems: [String] = []
        /// Items that were inserted into a shared list and that nobody has deleted or undone.
        var expected: [String: Set<ItemID>] = [:]
        /// The expected contents of lists that only one worker edits.
        var models: [String: Hand] = [:]
        var isOver = false
        var replacements: Set<Int> = []
        /// The unfinished task of each worker.
        var doing: [Int: @Sendable () async -> String] = [:]
    }

    private let state = Mutex(State())

    // MARK: Edits

    /// Records an edit that is about to be made on a shared list. It counts before the server has it: at the end all
    /// edits are acknowledged.
    func note(_ delta: Delta, on view: Hand, of list: String) throws {
        let after = try view.applying(delta)
        let gone = Set(view.map(\.id)).subtracting(after.map(\.id))
        let new = delta.insertedItems.map(\.id)
        state.withLock {
            $0.expected[list, default: []].formUnion(new)
            $0.expected[list, default: []].subtract(gone)
        }
    }

    /// Records items that were removed without an edit of their own: an insertion was undone.
    func forget(_ items: Set<ItemID>, of list: String) {
        state.withLock { $0.expected[list, default: []].subtract(items) }
    }

    /// Makes an edit of a list that only one worker edits.
    ///
    /// - Throws: if the view differs from what all earlier edits have made of the list.
    func follow(_ view: Hand, of list: String, _ make: (Hand) -> Delta) throws -> Delta {
        try state.withLock { state in
            let model = state.models[list] ?? Hand()
            guard view == model else {
                throw Broken("\(list) differs from what its only author made: \(view.count) items, not \(model.count)")
            }
            let delta = make(model)
            state.models[list] = try model.applying(delta)
            return delta
        }
    }

    /// Records that the server has this many edits, in this many commits.
    func acknowledge(_ edits: Int, commits: Int) {
        state.withLock {
            $0.acknowledged += edits
            $0.commits += commits
        }
    }

    func report(_ problem: String) {
        state.withLock { if $0.problems.count < 20 { $0.problems.append(problem) } }
    }

    var acknowledged: Int { state.withLock { $0.acknowledged } }
    var commits: Int { state.withLock { $0.commits } }
    var problems: [String] { state.withLock { $0.problems } }
    func expected(in list: String) -> Set<ItemID> { state.withLock { $0.expected[list] ?? [] } }
    func model(of list: String) -> Hand? { state.withLock { $0.models[list] } }

    // MARK: Progress

    /// Records what a worker is doing. If it never ends, `tell` describes its state. Nil when the worker has finished.
    func isDoing(_ worker: Int, _ tell: (@Sendable () async -> String)?) {
        state.withLock { $0.doing[worker] = tell }
    }

    /// Returns the states of the unfinished workers.
    func unfinished() async -> [String] {
        let doing = state.withLock { $0.doing }
        var lines: [String] = []
        for (worker, tell) in doing.sorted(by: { $0.key < $1.key }) {
            lines.append("worker \(worker): \(await tell())")
        }
        return lines
    }

    var isOver: Bool { state.withLock { $0.isOver } }
    func finish() { state.withLock { $0.isOver = true } }

    /// Makes a worker end its client and continue with a new one.
    func replaceClient(of worker: Int) { _ = state.withLock { $0.replacements.insert(worker) } }
    func takeReplacement(_ worker: Int) -> Bool { state.withLock { $0.replacements.remove(worker) != nil } }
}
