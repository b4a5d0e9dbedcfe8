import HandCore
import HandWire

/// Lists at past revisions, from the store: each takes as much memory as the list, so few are kept at a time. Requests
/// for the same past state share it, each user has at most one past state, and other requests wait.
struct RevisionStates {
    fileprivate(set) var states: [RevisionState] = []
    var queue: [RevisionRequest] = []
    /// The states from which excerpts are being made, by connection. They are kept even if the connection ends.
    var excerpts: [ConnectionID: RevisionHold] = [:]

    /// Whether a request waits for others to let go of their past states.
    var isAwaited: Bool { !queue.isEmpty }
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
    let list: UInt64
    let revision: Int
    /// Nil while it is being read.
    fileprivate(set) var hand: Hand?
    fileprivate var waiting: [(hold: RevisionHold, request: RevisionRequest)] = []
    fileprivate var holders = 0

    init(list: UInt64, revision: Int) {
        self.list = list
        self.revision = revision
    }
}

/// Keeps a past state in memory, and counts for a user, as long as it lives.
final class RevisionHold {
    let state: RevisionState
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

extension ServerMachine {
    /// Lets go of states that nobody holds, and then serves the waiting requests, in their order.
    func serveRevisions() {
        if past.states.isEmpty, past.queue.isEmpty { return }
        // Freeing a long list takes long.
        for state in past.states where state.holders == 0 { discard(state.hand.take()) }
        past.states.removeAll { $0.holders == 0 }
        let queue = past.queue
        past.queue = []
        for request in queue where !serve(request) { past.queue.append(request) }
    }

    /// Returns false if the request must keep waiting.
    private func serve(_ request: RevisionRequest) -> Bool {
        guard let connection = connections[request.connection], !connection.isEnding else { return true }
        let account = connection.account
        if let account, account.pastHolds > 0 { return false }
        if let state = past.state(of: request.list.number, at: request.revision) {
            let hold = RevisionHold(state, account)
            if let hand = state.hand {
                give(hand, at: request.revision, of: request.list, hold, to: request.request)
            } else {
                state.waiting.append((hold, request))
            }
            return true
        }
        // One state is read at a time, so that other readers of the store are not kept waiting.
        guard past.states.count < limits.pastRevisions, past.states.allSatisfy({ $0.hand != nil }) else { return false }
        let state = RevisionState(list: request.list.number, revision: request.revision)
        state.waiting = [(RevisionHold(state, account), request)]
        past.states.append(state)
        start(.readRevision(ReadRevision(list: state.list, revision: state.revision)))
        return true
    }

    func read(_ task: ReadRevision, _ result: Result<Hand, StoreError>) {
        guard let state = past.state(of: task.list, at: task.revision) else { return }
        state.hand = try? result.get()
        let waiting = state.waiting
        state.waiting = []
        if state.hand == nil { past.states.removeAll { $0 === state } }
        if let first = waiting.first {
            let items = state.hand?.count ?? 0
            // The number of commits since a snapshot is unknown: half the way between two, on average.
            let commits = min(task.revision, limits.snapshotStride(items: items)) / 2
            charge(first.request.connection, work: Price.replay(items, commits: commits))
        }
        for (hold, request) in waiting where connections[request.connection]?.isEnding == false {
            switch result {
            case .success(let hand): give(hand, at: request.revision, of: request.list, hold, to: request.request)
            case .failure(let error):
                refuse(request.request.id, error)
                end(request.connection)
            }
        }
    }

    /// Closes connections that read a past state too slowly while others wait for theirs.
    func closeStalled() {
        for connection in Array(connections) {
            let transfers = connection.outbox.transfers
            guard let transfer = transfers.first, transfers.contains(where: \.isPast) else { continue }
            // A transfer in front of the past state holds it up.
            let stalled = transfer.stalled(now: now, isExcused: connection.isSlowed)
            guard past.isAwaited, stalled >= limits.stallDeadline else { continue }
            let text = "you read too little of a past revision for \(stalled / 1_000) s, and others wait for theirs"
            fail(connection, .idleTimeout, text, retryAfter: 1_000)
        }
    }
}

extension RevisionStates {
    fileprivate func state(of list: UInt64, at revision: Int) -> RevisionState? {
        states.first { $0.list == list && $0.revision == revision }
    }
}

package struct ReadRevision: Sendable {
    let list: UInt64
    let revision: Int

    func run(on store: any CommitStore) throws -> Hand { try store.state(of: list, at: revision) }
}
