import HandCore
import HandSync
import HandWire

/// One list that a program follows and edits.
public struct FollowedList: Sendable {
    let client: HandClient
    public let name: String

    /// The events of the list from now on. The first events are the reason why the client is offline, if the client is
    /// offline, and the list's present state, if the state is known. The stream ends when the client or the list is
    /// closed, or when the list is refused; the refusal is then the last event.
    ///
    /// Events wait in memory for a slow reader.
    public var events: AsyncStream<ListEvent> {
        let (stream, continuation) = AsyncStream<ListEvent>.makeStream()
        let (name, client) = (name, client)
        let sink = EventSink(continuation)
        client.post { engine in
            // The list may have ended before anybody listened.
            guard let followers = engine.lists[name] else {
                if let event = engine.end(of: name).lastEvent { sink.yield(event) }
                return
            }
            if case .offline = engine.status { sink.yield(.status(engine.status)) }
            let number = followers.add(sink)
            continuation.onTermination = { _ in client.post { $0.lists[name]?.remove(number) } }
        }
        return stream
    }

    /// Returns the list's present state; the view is empty until something is known of the list.
    public func state() async throws -> ListState {
        try await client.read { try $0.state(of: name) }
    }

    /// Waits until the view is up to date with the server.
    public func live() async throws -> ListState {
        try await wait { _, subscription in subscription.isLive ? subscription.state : nil }
    }

    /// Waits until `value` returns a value; fails when the list is no longer followed, or the client no longer tries to
    /// connect.
    private func wait<Value: Sendable>(
        for value: @escaping @Sendable (ListFollowers, ClientMachine.Subscription) -> Value?
    ) async throws -> Value {
        try await client.onLoop { engine, reply in
            let followers = try engine.followed(name)
            followers.wait(reply) { [unowned engine, unowned followers] in
                if let error = followers.end ?? engine.errorGivenUp { throw error }
                return engine.client.machine.subscriptions[followers.name].flatMap { value(followers, $0) }
            }
        }
    }

    /// Makes an edit. Calls `make` with the present view, and returns when the edit is made here (and on disk, with a
    /// journal), not when the server has it.
    ///
    /// - Parameter isExact: whether the server rejects the edit if the list has changed in the meantime.
    /// - Throws: `.notMade`; `.notKept` if the edit is made but not on disk; `.closed`; or what `make` throws.
    public func edit(
        isExact: Bool = false, _ make: @escaping @Sendable (ListState) throws -> Delta
    ) async throws {
        let _: Void = try await step { engine in
            let delta = try make(try engine.state(of: name))
            try engine.client.edit { try $0.edit(name, delta, isExact: isExact) }
        }
    }

    /// Undoes this client's newest edit; returns false if there is none.
    public func undo() async throws -> Bool {
        try await step { engine in try engine.client.edit { try $0.take(.undo, name) } }
    }

    /// Makes the newest undone edit again; returns false if there is none.
    public func redo() async throws -> Bool {
        try await step { engine in try engine.client.edit { try $0.take(.redo, name) } }
    }

    /// Makes an edit, and waits until it is on disk.
    private func step<Value: Sendable>(_ body: @escaping @Sendable (ClientEngine) throws -> Value) async throws -> Value
    {
        try await client.onLoop { engine, reply in
            let made = try body(engine)
            engine.client.whenKept { problem in
                if let problem { reply.fail(ClientError.notKept(problem)) } else { reply.succeed(made) }
            }
        }
    }

    /// Waits until the server has answered every edit made so far, and returns their results since the last call.
    public func settled() async throws -> Settlement {
        let outcome = try await wait { followers, subscription in
            subscription.isLive && !subscription.replica.hasPending ? followers.takeSettlement() : nil
        }
        return await client.naming(outcome, on: name)
    }

    /// Shows others which item this person is on or edits.
    public func setPresence(_ focus: Focus?) {
        let name = name
        client.post { engine in
            engine.client.perform { $0.setPresence(name, focus) }
        }
    }

    /// Stops following the list.
    public func close() {
        let name = name
        client.post { $0.unfollow(name) }
    }
}
