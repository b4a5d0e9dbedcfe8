import HandCore
import HandSync
import HandWire

/// Those in this program who follow one list: receivers of events, and waiting tasks. Lives on the loop's thread.
final class ListFollowers {
    /// What takes the events; nil is the end of them.
    typealias Receiver = (ListEvent?) -> Void

    private var receivers: [Int: Receiver] = [:]
    private var nextReceiver = 0
    private var loadWaiters: [Reply<ListState>] = []
    private var settleWaiters: [Reply<Settlement>] = []
    private var settlement = Settlement()
    private(set) var state: ListState?
    /// Who is here, as far as it was told on this connection.
    private var people: [UInt64: DownMessage.Presence] = [:]
    private var isDue = false
    private var changes = Composer()
    /// Whose the changes are.
    private var origins: Set<Replica.Origin> = []
    private var notices: [Replica.Notice] = []

    /// Adds a receiver, which is told of the present first.
    func add(_ receiver: @escaping Receiver) -> Int {
        defer { nextReceiver += 1 }
        receivers[nextReceiver] = receiver
        if let state { receiver(.changed(state.view, .identity, by: .unknown)) }
        if !people.isEmpty { receiver(.presence(people.values.sorted { $0.author < $1.author })) }
        return nextReceiver
    }

    func remove(_ receiver: Int) {
        receivers[receiver] = nil
    }

    func yield(_ event: ListEvent) {
        for receiver in receivers.values { receiver(event) }
    }

    func note(_ entries: [DownMessage.Presence]) {
        for entry in entries { people[entry.author] = entry.place == .gone ? nil : entry }
        yield(.presence(entries))
    }

    /// - Parameter end: why no other try will be made; nil if one will.
    func note(_ status: ClientMachine.Status, _ end: ClientError?) {
        // Who is there when the connection is back will be told anew.
        if case .offline = status { people = [:] }
        yield(.status(status))
        // Without another try nothing that is waited for can come.
        if let end { fail(end) }
    }

    /// Takes note of a change; `publish` tells of all that came in one go.
    func collect(_ update: Replica.Update) {
        isDue = true
        // Who sees the list for the first time is told of no change: `add` does the same.
        if state != nil || !update.isFirst {
            let delta = update.delta
            changes.append(delta)
            if !delta.isIdentity { origins.insert(update.origin) }
        }
        notices += update.notices
    }

    func publish(_ subscription: ClientMachine.Subscription?) {
        guard isDue, let subscription else { return }
        isDue = false
        let isFirst = state == nil && subscription.isLoaded
        if subscription.isLoaded { state = subscription.state }
        let delta = changes.delta
        changes = Composer()
        let origin = origins.count == 1 ? origins.first : nil
        origins = []
        if !delta.isIdentity || isFirst { yield(.changed(subscription.replica.view, delta, by: origin ?? .unknown)) }
        let news = notices
        notices = []
        for notice in news { note(notice) }
        resolve(subscription)
    }

    private func note(_ notice: Replica.Notice) {
        settlement.note(notice)
        switch notice {
        case .acknowledged(_, let revision): settlement.revision = revision
        case .rejected(let reason, _): settlement.rejections.append(reason)
        case .superseded, .usedTwice, .diverged: break
        }
        yield(.notice(notice))
    }

    private func resolve(_ subscription: ClientMachine.Subscription) {
        guard subscription.isLive else { return }
        let loaded = loadWaiters
        loadWaiters = []
        for waiter in loaded { waiter.succeed(subscription.state) }
        guard !subscription.replica.hasPending, !settleWaiters.isEmpty else { return }
        let settled = settleWaiters
        settleWaiters = []
        let outcome = settlement
        settlement = Settlement()
        for waiter in settled { waiter.succeed(outcome) }
    }

    /// Answers when the list is the server's present.
    func whenLive(_ subscription: ClientMachine.Subscription, _ reply: Reply<ListState>) {
        loadWaiters.append(reply)
        resolve(subscription)
    }

    /// Answers when the server has answered to all edits.
    func whenSettled(_ subscription: ClientMachine.Subscription, _ reply: Reply<Settlement>) {
        settleWaiters.append(reply)
        resolve(subscription)
    }

    /// The list is not followed any more.
    func finish(_ end: ClientError) {
        if case .refused(let code, let message) = end { yield(.refused(code, message)) }
        for receiver in receivers.values { receiver(nil) }
        receivers = [:]
        fail(end)
    }

    /// Ends all waiting.
    private func fail(_ error: ClientError) {
        let (loads, settles) = (loadWaiters, settleWaiters)
        loadWaiters = []
        settleWaiters = []
        for waiter in loads { waiter.fail(error) }
        for waiter in settles { waiter.fail(error) }
    }
}

extension ClientMachine.Subscription {
    var state: ListState {
        ListState(
            view: replica.view, revision: replica.revision, logID: replica.logID, isLoaded: isLoaded,
            isLive: isLive,
            pendingCount: replica.unconfirmedCount, canUndo: replica.canUndo,
            canRedo: replica.canRedo, author: replica.author)
    }
}
