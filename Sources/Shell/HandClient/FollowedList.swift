import HandCore
import HandSync
import HandWire

/// One list that a program follows and edits.
public struct FollowedList: Sendable {
    let client: HandClient
    public let name: String

    /// What happens to the list from now on; the first events are its present state, if it is known, and why the server is
    /// not there, if it is not. Ends when the list is refused, which is the last event then, or the client closed.
    ///
    /// Events wait in memory for a reader that is slow.
    public var events: AsyncStream<ListEvent> {
        let (stream, continuation) = AsyncStream<ListEvent>.makeStream()
        let (name, client) = (name, client)
        let sink = EventSink(continuation)
        client.post { engine in
            // It may have come to its end before anybody listened.
            guard let followers = engine.lists[name] else {
                if case .refused(let code, let message) = engine.end(of: name) { sink.yield(.refused(code, message)) }
                return
            }
            if case .offline = engine.status { sink.yield(.status(engine.status)) }
            let number = followers.add { if let event = $0 { sink.yield(event) } }
            continuation.onTermination = { _ in client.post { $0.lists[name]?.remove(number) } }
        }
        return stream
    }

    /// Where the list stands; the view is empty as long as nothing is known of it.
    public func state() async throws -> ListState {
        try await client.read { try $0.followed(name) }
    }

    /// Waits until the view is the server's present.
    public func live() async throws -> ListState {
        try await wait { _, subscription in subscription.isLive ? subscription.state : nil }
    }

    /// Waits until the list gives something; fails when it is followed no longer, or no other try to connect will be made.
    private func wait<Value: Sendable>(
        for value: @escaping @Sendable (ListFollowers, ClientMachine.Subscription) -> Value?
    ) async throws -> Value {
        try await client.onLoop { engine, reply in
            guard let followers = engine.lists[name] else { throw engine.end(of: name) }
            engine.wait(reply) { [unowned engine] in
                if let error = followers.end ?? engine.errorGivenUp { throw error }
                return engine.machine.subscriptions[followers.name].flatMap { value(followers, $0) }
            }
        }
    }

    /// Makes an edit on the view as it is at that moment, which `make` is given. Returns when it is made here (and kept, with a journal), not when
    /// the server has it.
    ///
    /// - Parameter isExact: ask the server to reject it if the list has moved on.
    /// - Throws: `.notMade`, or what `make` throws.
    public func edit(
        isExact: Bool = false, _ make: @escaping @Sendable (ListState) throws -> Delta
    ) async throws {
        let _: Void = try await step { engine in
            let delta = try make(try engine.followed(name))
            try engine.perform { try $0.edit(name, delta, isExact: isExact) }
        }
    }

    /// Takes one's newest edit back, or makes it again; false if there is none.
    public func undo() async throws -> Bool {
        try await step { engine in try engine.perform { try $0.undo(name) } }
    }
    public func redo() async throws -> Bool {
        try await step { engine in try engine.perform { try $0.redo(name) } }
    }

    /// Has an edit made, and waits until it is kept.
    private func step<Value: Sendable>(_ body: @escaping @Sendable (ClientEngine) throws -> Value) async throws -> Value
    {
        try await client.onLoop { engine, reply in
            let made: Value
            do {
                made = try body(engine)
            } catch let error as Replica.EditError {
                throw ClientError.notMade(error)
            }
            engine.whenKept { problem in
                if let problem { reply.fail(ClientError.notKept(problem)) } else { reply.succeed(made) }
            }
        }
    }

    /// Waits until the server has answered to every edit made so far, and tells what became of them since the last call.
    public func settled() async throws -> Settlement {
        try await wait { followers, subscription in
            subscription.isLive && !subscription.replica.hasPending ? followers.takeSettlement() : nil
        }
    }

    /// Tells others which item this person is on or edits.
    public func setPresence(_ focus: Focus?) {
        let name = name
        client.post { engine in
            engine.perform { $0.setPresence(name, focus) }
        }
    }

    /// Stops following the list.
    public func close() {
        let name = name
        client.post { engine in
            engine.perform { $0.close(name) }
            engine.lists.removeValue(forKey: name)?.finish(.closed)
        }
    }
}
