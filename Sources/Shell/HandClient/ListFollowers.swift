import HandCore
import HandSync
import HandWire

/// The followers of one list in this program. Lives on the loop's thread.
final class ListFollowers {
    /// Receives the events; nil is the end.
    typealias Receiver = (ListEvent?) -> Void

    var name: String
    private(set) var state: ListState
    /// The reason why the list is not followed any more.
    private(set) var end: ClientError?
    private var receivers: [Int: Receiver] = [:]
    private var nextReceiver = 0
    /// The people on the list, as far as the server has reported them on this connection.
    private var people: [UInt64: DownMessage.Presence] = [:]
    private var settlement = Settlement()
    private var isSettlementTaken = false
    // What has arrived since the last `publish`.
    private var newState: ListState?
    private var changes = Composer()
    private var cause: Replica.Update.Cause?
    private var notices: [Replica.Notice] = []

    init(_ name: String, _ state: ListState) {
        (self.name, self.state) = (name, state)
    }

    /// Adds a receiver, which gets the present state first.
    func add(_ receiver: @escaping Receiver) -> Int {
        defer { nextReceiver += 1 }
        receivers[nextReceiver] = receiver
        receiver(.changed(state, Replica.Update()))
        if !people.isEmpty { receiver(.presence(people.values.sorted { $0.author < $1.author })) }
        return nextReceiver
    }

    func remove(_ receiver: Int) {
        receivers[receiver] = nil
    }

    /// Passes an event to all receivers; changes wait for the next `publish`.
    func yield(_ event: ListEvent) {
        switch event {
        case .changed(let state, let update): return collect(state, update)
        case .presence(let entries):
            for entry in entries { people[entry.author] = entry.place == .gone ? nil : entry }
        case .status(let status):
            // The server will report again who is here.
            if status != .online { people = [:] }
        case .renamed(let new): name = new
        case .progress, .refused, .editsWait: break
        }
        send(event)
    }

    private func send(_ event: ListEvent) {
        for receiver in receivers.values { receiver(event) }
    }

    private func collect(_ state: ListState, _ update: Replica.Update) {
        newState = state
        notices += update.notices
        // For a follower who sees the list for the first time, nothing has changed.
        if !self.state.isLoaded, update.isFirst { return }
        let delta = update.delta
        if delta.isIdentity { return }
        changes.append(delta)
        // A change that several people have made has no author.
        cause = cause.map { $0.origin == update.origin ? update.cause : .answer } ?? update.cause
    }

    /// Reports the collected changes as one.
    func publish() {
        guard let newState else { return }
        let update = Replica.Update(cause ?? .answer, delta: changes.delta, notices: notices)
        (self.newState, changes, cause, notices) = (nil, Composer(), nil, [])
        for notice in update.notices { settlement.note(notice) }
        let before = state
        state = newState
        if state != before || !update.delta.isIdentity || !update.notices.isEmpty { send(.changed(state, update)) }
    }

    /// Returns the results of edits since a settlement was last taken.
    func takeSettlement() -> Settlement {
        isSettlementTaken = true
        return settlement
    }

    func endTurn() {
        if isSettlementTaken { (settlement, isSettlementTaken) = (Settlement(), false) }
    }

    /// Ends following the list.
    func finish(_ end: ClientError) {
        self.end = end
        if let event = end.lastEvent { yield(event) }
        for receiver in receivers.values { receiver(nil) }
        receivers = [:]
    }
}
