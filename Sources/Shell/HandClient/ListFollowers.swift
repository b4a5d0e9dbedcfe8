import HandCore
import HandSync
import HandWire

/// The followers of one list in this program. Lives on the loop's thread.
final class ListFollowers {
    /// Takes the events; nil is the end.
    typealias Receiver = (ListEvent?) -> Void

    var name: String
    private(set) var state: ListState
    /// Why the list is not followed any more.
    private(set) var end: ClientError?
    private var receivers: [Int: Receiver] = [:]
    private var nextReceiver = 0
    /// Who is here, as far as the server has said on this connection.
    private var people: [UInt64: DownMessage.Presence] = [:]
    private var settlement = Settlement()
    private var isSettlementTaken = false
    // What came since the last `publish`.
    private var isDue = false
    private var changes = Composer()
    private var cause: Replica.Update.Cause?
    private var notices: [Replica.Notice] = []

    init(_ name: String, _ state: ListState) {
        (self.name, self.state) = (name, state)
    }

    /// Adds a receiver, which is told of the present first.
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

    /// Tells of an event that is no change.
    func yield(_ event: ListEvent) {
        switch event {
        case .presence(let entries):
            for entry in entries { people[entry.author] = entry.place == .gone ? nil : entry }
        case .status(let status):
            // The server will tell anew who is here.
            if status != .online { people = [:] }
            isDue = true
        case .progress: isDue = true
        case .renamed(let new): name = new
        case .changed, .refused: break
        }
        for receiver in receivers.values { receiver(event) }
    }

    /// Takes note of a change.
    func collect(_ update: Replica.Update) {
        isDue = true
        notices += update.notices
        // For somebody who sees the list for the first time, nothing has changed.
        if !state.isLoaded, update.isFirst { return }
        let delta = update.delta
        if delta.isIdentity { return }
        changes.append(delta)
        // A change that several people have made has no author.
        cause = cause.map { $0.origin == update.origin ? update.cause : .answer } ?? update.cause
    }

    func publish(_ subscription: ClientMachine.Subscription?) {
        guard isDue, let subscription else { return }
        isDue = false
        let update = Replica.Update(cause ?? .answer, delta: changes.delta, notices: notices)
        (changes, cause, notices) = (Composer(), nil, [])
        for notice in update.notices { settlement.note(notice) }
        let before = state
        state = subscription.state
        if state != before || !update.delta.isIdentity || !update.notices.isEmpty { yield(.changed(state, update)) }
    }

    /// What became of edits since a settlement was last taken.
    func takeSettlement() -> Settlement {
        isSettlementTaken = true
        return settlement
    }

    func endTurn() {
        if isSettlementTaken { (settlement, isSettlementTaken) = (Settlement(), false) }
    }

    /// The list is not followed any more.
    func finish(_ end: ClientError) {
        self.end = end
        if case .refused(let code, let message) = end { yield(.refused(code, message)) }
        for receiver in receivers.values { receiver(nil) }
        receivers = [:]
    }
}
