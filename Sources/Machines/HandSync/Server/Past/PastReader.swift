import HandCore
import HandWire

/// Lists at past revisions, from the store: each takes as much memory as the list, so few are kept at a time. Requests
/// for the same past state share it, each user has at most one past state, and other requests wait.
struct PastReader {
    private let limits: Limits
    private var states: [RevisionState] = []
    private var queue: [RevisionRequest] = []
    /// The states from which excerpts are being made, by connection. They are kept even if the connection ends.
    private var excerpts: [ConnectionID: RevisionHold] = [:]

    init(_ limits: Limits) { self.limits = limits }

    /// Whether there is nothing to serve, and nothing to let go of.
    var isIdle: Bool { states.isEmpty && queue.isEmpty }
    /// Whether a request waits for others to let go of their past states.
    var isAwaited: Bool { !queue.isEmpty }

    /// What is to be done for a request.
    enum Step {
        case give(Hand, RevisionHold, RevisionRequest)
        case read(ReadRevision)
    }

    /// Lets a request wait for a past state. Then call `serve`.
    mutating func add(_ request: RevisionRequest) { queue.append(request) }

    /// Lets go of states that nobody holds. Returns their lists, because freeing a long list takes long.
    mutating func takeUnheld() -> [Hand] {
        if states.isEmpty { return [] }
        defer { states.removeAll { $0.holders == 0 } }
        return states.filter { $0.holders == 0 }.compactMap { $0.hand.take() }
    }

    /// Returns what is to be done for the waiting requests, in their order. Requests of connections that have gone are
    /// forgotten.
    mutating func serve(_ connections: ConnectionSet) -> [Step] {
        if queue.isEmpty { return [] }
        return exchange(&queue, with: []).compactMap { request in
            guard let connection = connections[request.connection], !connection.isEnding else { return nil }
            return serve(request, connection.account)
        }
    }

    private mutating func serve(_ request: RevisionRequest, _ account: Account?) -> Step? {
        if let account, account.pastHolds > 0 {
            queue.append(request)
            return nil
        }
        if let state = state(of: request.list.number, at: request.revision) {
            let hold = RevisionHold(state, account)
            if let hand = state.hand { return .give(hand, hold, request) }
            state.waiting.append((hold, request))
            return nil
        }
        // One state is read at a time, so that other readers of the store are not kept waiting.
        guard states.count < limits.pastRevisions, states.allSatisfy({ $0.hand != nil }) else {
            queue.append(request)
            return nil
        }
        let state = RevisionState(list: request.list.number, revision: request.revision)
        state.waiting = [(RevisionHold(state, account), request)]
        states.append(state)
        return .read(ReadRevision(list: state.list, revision: state.revision))
    }

    /// The store has answered; nil if it failed. Returns the requests that have waited for the state.
    mutating func read(_ task: ReadRevision, _ hand: Hand?) -> [(hold: RevisionHold, request: RevisionRequest)] {
        guard let state = state(of: task.list, at: task.revision) else { return [] }
        defer { state.waiting = [] }
        state.hand = hand
        if hand == nil { states.removeAll { $0 === state } }
        return state.waiting
    }

    private func state(of list: ListNumber, at revision: Int) -> RevisionState? {
        states.first { $0.list == list && $0.revision == revision }
    }

    // MARK: Excerpts

    /// Keeps a past state until the excerpt for a connection is made.
    mutating func beginExcerpt(for connection: ConnectionID, _ hold: RevisionHold?) { excerpts[connection] = hold }

    mutating func endExcerpt(for connection: ConnectionID) -> RevisionHold? {
        excerpts.removeValue(forKey: connection)
    }

    /// Returns which invariant is broken; nil if none is.
    func brokenInvariant() -> String? {
        states.count > limits.pastRevisions ? "\(states.count) past revisions are in memory" : nil
    }
}

/// A request that waits for a past state.
struct RevisionRequest {
    let list: ListMachine.Reference
    let revision: Int
    let request: StateRequest

    var connection: ConnectionID { request.id.connection }
}

/// A list at a past revision. It is kept as long as a `RevisionHold` of it lives.
final class RevisionState {
    let list: ListNumber
    let revision: Int
    /// Nil while it is being read.
    fileprivate var hand: Hand?
    fileprivate var waiting: [(hold: RevisionHold, request: RevisionRequest)] = []
    fileprivate var holders = 0

    init(list: ListNumber, revision: Int) {
        self.list = list
        self.revision = revision
    }
}

/// Keeps a past state in memory, and counts for a user, as long as it lives.
final class RevisionHold {
    private let state: RevisionState
    private let account: Account?

    init(_ state: RevisionState, _ account: Account?) {
        self.state = state
        self.account = account
        state.holders += 1
        account?.pastHolds += 1
    }

    deinit {
        state.holders -= 1
        account?.pastHolds -= 1
    }
}

package struct ReadRevision: StoreQuestion {
    let list: ListNumber
    let revision: Int

    func run(on store: any CommitStore) throws -> Hand { try store.state(of: list, at: revision) }
}
