import HandCore
import HandWire

/// Lists at past revisions, from the store: each takes as much memory as the list, so few are there at a time. Those who ask
/// for the same share it, each user has one, and who asks beyond that waits.
struct PastStates {
    fileprivate(set) var states: [PastState] = []
    fileprivate(set) var queue: [Request] = []

    struct Request {
        let list: UInt64
        let revision: Int
        let connection: Connection
        fileprivate let then: (Result<PastHold, StoreError>) -> Void
    }

    /// Whether somebody could go on if another let go.
    var isAwaited: Bool { !queue.isEmpty }
}

/// A list at a past revision, for those who hold it.
final class PastState {
    let list: UInt64
    let revision: Int
    /// Nil while it is being read.
    fileprivate(set) var hand: Hand?
    fileprivate var waiting: [(hold: PastHold, request: PastStates.Request)] = []
    fileprivate var holders = 0

    init(list: UInt64, revision: Int) {
        self.list = list
        self.revision = revision
    }
}

/// Keeps a past state in memory, and counts as its user's, as long as it lives.
final class PastHold {
    let state: PastState
    private let account: Account?

    init(_ state: PastState, _ account: Account?) {
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

extension Service {
    /// The list as it was at a revision that is no longer in memory. `then` may be called at once, and is not called for a
    /// connection that has ended meanwhile.
    func withPast(
        _ list: UInt64, at revision: Int, _ connection: Connection,
        _ then: @escaping (Result<PastHold, StoreError>) -> Void
    ) {
        past.queue.append(.init(list: list, revision: revision, connection: connection, then: then))
        servePast()
    }

    /// Lets go of what nobody holds, and serves those who waited for that, in their order.
    func servePast() {
        if past.states.isEmpty, past.queue.isEmpty { return }
        // Freeing a long list takes long.
        for state in past.states where state.holders == 0 { discard(state.hand.take()) }
        past.states.removeAll { $0.holders == 0 }
        let queue = past.queue
        past.queue = []
        for request in queue where !serve(request) { past.queue.append(request) }
    }

    /// Returns whether it waits no longer.
    private func serve(_ request: PastStates.Request) -> Bool {
        let account = request.connection.account
        if request.connection.isEnding { return true }
        if let account, account.pastHolds > 0 { return false }
        if let state = past.states.first(where: { $0.list == request.list && $0.revision == request.revision }) {
            let hold = PastHold(state, account)
            if state.hand == nil {
                state.waiting.append((hold, request))
            } else {
                request.then(.success(hold))
            }
            return true
        }
        // One is read at a time, so that other readers of the store are not kept waiting.
        guard past.states.count < limits.pastRevisions, past.states.allSatisfy({ $0.hand != nil }) else { return false }
        let state = PastState(list: request.list, revision: request.revision)
        state.waiting = [(PastHold(state, account), request)]
        past.states.append(state)
        read(state)
        return true
    }

    private func read(_ state: PastState) {
        let (list, revision) = (state.list, state.revision)
        ask { store in
            try store.state(of: list, at: revision)
        } then: { [unowned self] result in
            state.hand = try? result.get()
            let waiting = state.waiting
            state.waiting = []
            if state.hand == nil { past.states.removeAll { $0 === state } }
            if let first = waiting.first {
                let items = state.hand?.count ?? 0
                // How many commits there were since a snapshot is not told: half the way between two, on average.
                let commits = min(revision, limits.snapshotStride(items: items)) / 2
                charge(first.request.connection, work: Price.replay(items, commits: commits))
            }
            for (hold, request) in waiting where !request.connection.isEnding {
                request.then(result.map { _ in hold })
            }
        }
    }

    /// Who takes little of a past state does not keep those out who wait for theirs.
    func closeStalled() {
        for connection in Array(connections) {
            guard let transfer = connection.transfers.first, connection.transfers.contains(where: \.isPast) else {
                continue
            }
            // What stands in front of the past state holds it up.
            let stalled = transfer.stalled(now: world.now)
            guard past.isAwaited, stalled >= limits.stallDeadline else { continue }
            let text = "you took too little of a past revision for \(stalled / 1_000) s, and others wait for theirs"
            fail(connection, .idleTimeout, text, retryAfter: 1_000)
        }
    }
}
