import HandCore
import HandSync
import HandWire

/// The followers of one list in this program. Lives on the loop's thread.
final class ListFollowers {
    private(set) var name: String
    /// The reason why the list is not followed any more.
    private(set) var end: ClientError?
    private var list: ShownList
    private var receivers: [Int: EventSink] = [:]
    private var nextReceiver = 0
    /// The people on the list, as far as the server has reported them on this connection.
    private var people: [AuthorID: DownMessage.Presence] = [:]
    private var settlement = Settlement()
    private var isSettlementTaken = false
    /// Conditions of the list that tasks wait for. Each is called after an event of the list, until it returns true.
    private var waiters: [() -> Bool] = []
    private var hasNews = false

    init(_ name: String, _ state: ListState) {
        (self.name, list) = (name, ShownList(state))
    }

    /// Adds a receiver, which gets the present state first.
    func add(_ receiver: EventSink) -> Int {
        defer { nextReceiver += 1 }
        receivers[nextReceiver] = receiver
        receiver.yield(.changed(list.state, Replica.Update()))
        if !people.isEmpty { receiver.yield(.presence(people.values.sorted { $0.author < $1.author })) }
        return nextReceiver
    }

    func remove(_ receiver: Int) { receivers[receiver] = nil }

    /// Passes an event to all receivers; changes wait for the next `publish`.
    func yield(_ event: ListEvent) {
        hasNews = true
        switch event {
        case .changed(let state, let update): return list.add(state, update)
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
        for receiver in receivers.values { receiver.yield(event) }
    }

    /// Reports the changes since the last time, and answers the tasks that waited for them.
    func publish() {
        guard hasNews else { return }
        hasNews = false
        var before = list.state
        while let update = list.next() {
            for notice in update.notices { settlement.note(notice) }
            if list.state != before || !update.delta.isIdentity || !update.notices.isEmpty {
                send(.changed(list.state, update))
            }
            before = list.state
        }
        waiters.reconsider()
        beginSettlement()
    }

    /// Answers as soon as `value` returns a value or throws: now, or after an event of the list.
    func wait<Value: Sendable>(_ reply: Reply<Value>, for value: @escaping () throws -> Value?) {
        waiters.add { reply.isAnswered(by: value) }
        beginSettlement()
    }

    /// Returns the results of edits since a settlement was last taken. All tasks that take one at a time get the same.
    func takeSettlement() -> Settlement {
        isSettlementTaken = true
        return settlement
    }

    /// Begins a new settlement if the last one was taken.
    private func beginSettlement() {
        if isSettlementTaken { (settlement, isSettlementTaken) = (Settlement(), false) }
    }

    /// Ends following the list.
    func finish(_ end: ClientError) {
        publish()
        self.end = end
        if let event = end.lastEvent { yield(event) }
        receivers = [:]
        waiters.reconsider()
    }
}
