import EventLoop
import HandCore
import HandSync

/// What the methods of a `HandClient` need on the loop's thread: the followers of lists, and the tasks that wait for a
/// list or for the connection.
package final class ClientEngine: MachineShell {
    package let client: JournaledClient
    private(set) var lists: [String: ListFollowers] = [:]
    /// The reasons why lists that were opened are not followed any more.
    private var refusals: [String: ClientError] = [:]
    /// The names of authors, from the histories that were read.
    var people: [AuthorID: String] = [:]
    private(set) var status = ClientMachine.Status.connecting(to: nil)
    /// Conditions of the connection that tasks wait for. Each is called when the status has changed, until it returns
    /// true.
    private var waiters: [() -> Bool] = []
    private var hasNewStatus = false
    private let hook: TurnHook

    init(_ configuration: ClientConfiguration, loop: Loop, journal: ClientJournal?) {
        let client = JournaledClient(configuration, loop: loop, journal: journal)
        self.client = client
        hook = loop.onTurnEnd { client.flush() }
        client.shell = self
    }

    var isClosed: Bool { client.isClosed }

    func close() {
        for list in lists.values { list.finish(.closed) }
        lists = [:]
        client.close()
        waiters = []
        hook.cancel()
    }

    // MARK: Effects

    package func carryOut(_ effect: ClientMachine.Effect) {
        switch effect {
        case .list(let list, .refused(let code, let message)): end(list, .refused(code, message))
        case .list(let list, .editsWait(let message)): end(list, .editsWait(list: list, message))
        case .list(let list, let event):
            lists[list]?.yield(event)
            guard case .renamed(let name) = event else { break }
            lists[name] = lists.removeValue(forKey: list)
            refusals[list] = .refused(.noSuchList, "'\(list)' is called '\(name)' now")
        case .status(let status): (self.status, hasNewStatus) = (status, true)
        case .connect, .send, .disconnect, .keep, .takeID, .latency, .answer, .warning: break
        }
    }

    package func carriedOut() {
        for followers in lists.values { followers.publish() }
        guard hasNewStatus else { return }
        hasNewStatus = false
        waiters.reconsider()
    }

    // MARK: Lists

    func follow(_ name: String, _ then: @escaping (Result<Void, any Error>) -> Void) {
        client.follow(name) { [unowned self] outcome in
            if case .success = outcome, lists[name] == nil, let state = client.state(of: name) {
                refusals[name] = nil
                lists[name] = ListFollowers(name, state)
            }
            then(outcome)
        }
    }

    /// Returns the followers of a list.
    ///
    /// - Throws: the reason why the list is not followed any more.
    func followed(_ name: String) throws(ClientError) -> ListFollowers {
        guard let list = lists[name] else { throw end(of: name) }
        return list
    }

    /// Returns the state of a followed list.
    func state(of name: String) throws(ClientError) -> ListState {
        guard lists[name] != nil, let state = client.state(of: name) else { throw end(of: name) }
        return state
    }

    /// Returns the reason why a list is not followed any more.
    func end(of name: String) -> ClientError {
        refusals[name] ?? .refused(.noSuchList, "the list '\(name)' is not followed any more")
    }

    func unfollow(_ name: String) {
        client.perform { $0.close(name) }
        lists.removeValue(forKey: name)?.finish(.closed)
    }

    private func end(_ list: String, _ reason: ClientError) {
        refusals[list] = reason
        lists.removeValue(forKey: list)?.finish(reason)
    }

    // MARK: The connection

    /// The reason why the client no longer tries to connect, or nil while the client tries.
    var errorGivenUp: ClientError? {
        if case .offline(let reason, retryIn: nil) = status { error(reason) } else { nil }
    }

    /// Returns the error of requests while the client is offline for a reason.
    func error(_ reason: String) -> ClientError {
        if isClosed { return .closed }
        if client.machine.isHeldUp { return .notKept(reason) }
        return client.machine.refusal.map { .refused($0, reason) } ?? .unreachable(reason)
    }

    /// Returns the error of a request that is not answered for a reason, or because the client is offline.
    func noAnswer(_ reason: String?) -> ClientError {
        if let reason { return error(reason) }
        if case .offline(let reason, _) = status { return error(reason) }
        return isClosed ? .closed : .unreachable("there is no connection")
    }

    /// Answers as soon as `value` returns a value or throws: now, or after a change of the connection.
    func wait<Value: Sendable>(_ reply: Reply<Value>, for value: @escaping () throws -> Value?) {
        waiters.add { reply.isAnswered(by: value) }
    }
}

extension [() -> Bool] {
    /// Adds a condition, unless it holds now.
    mutating func add(_ condition: @escaping () -> Bool) { if !condition() { append(condition) } }

    /// Removes the conditions that hold now.
    mutating func reconsider() { removeAll { $0() } }
}
