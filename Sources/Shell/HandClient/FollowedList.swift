import HandCore
import HandSync
import HandWire

/// One list that a program follows and edits.
public struct FollowedList: Sendable {
    let client: HandClient
    public let name: String

    /// What happens to the list from now on; the first event is its present state, if it is known. Ends when the list is
    /// refused or the client closed.
    ///
    /// Events wait in memory for a reader that is slow.
    public var events: AsyncStream<ListEvent> {
        let (stream, continuation) = AsyncStream<ListEvent>.makeStream()
        let name = name
        let client = client
        client.post { engine in
            guard let followers = engine.lists[name] else { return continuation.finish() }
            let number = followers.add { event in
                if let event { continuation.yield(event) } else { continuation.finish() }
            }
            continuation.onTermination = { _ in client.post { $0.lists[name]?.remove(number) } }
        }
        return stream
    }

    /// Where the list stands; the view is empty as long as nothing is known of it.
    public func state() async throws -> ListState {
        try await client.onLoop { engine, done in
            guard let subscription = engine.session.subscriptions[name] else {
                return done(.failure(.refused(.noSuchList, "the list '\(name)' is not followed any more")))
            }
            done(.success(subscription.state))
        }
    }

    /// Waits until the view is the server's present.
    public func live() async throws -> ListState {
        try await client.onLoop { engine, done in
            guard let followers = engine.lists[name] else {
                return done(.failure(.refused(.noSuchList, "the list '\(name)' is not followed any more")))
            }
            if let error = engine.errorGivenUp { return done(.failure(error)) }
            followers.whenLive(engine.session.subscriptions[name]) { done($0) }
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
        let outcome: Result<Void, any Error> = try await client.onLoop { engine, done in
            let made = Result {
                guard let state = engine.session.subscriptions[name]?.state else {
                    throw ClientError.refused(.noSuchList, "the list '\(name)' is not followed any more")
                }
                let delta = try make(state)
                do {
                    try engine.perform { session, effect in
                        try session.edit(name, delta, isExact: isExact, effect)
                    }
                } catch let error as Replica.EditError {
                    throw ClientError.notMade(error)
                }
            }
            engine.whenKept { problem in done(.success(problem.map { .failure(ClientError.notKept($0)) } ?? made)) }
        }
        try outcome.get()
    }

    /// Takes one's newest edit back, or makes it again; false if there is none.
    public func undo() async throws -> Bool { try await step { try $0.undo($1, $2) } }
    public func redo() async throws -> Bool { try await step { try $0.redo($1, $2) } }

    private func step(
        _ body: @escaping @Sendable (inout ClientSession, String, (ClientSession.Effect) -> Void) throws -> Bool
    ) async throws -> Bool {
        try await client.onLoop { engine, done in
            do {
                let isMade = try engine.perform { session, effect in try body(&session, name, effect) }
                engine.whenKept { problem in done(problem.map { .failure(.notKept($0)) } ?? .success(isMade)) }
            } catch {
                done(.failure((error as? Replica.EditError).map { .notMade($0) } ?? .closed))
            }
        }
    }

    /// Waits until the server has answered to every edit made so far, and tells what became of them since the last call.
    public func settled() async throws -> Settlement {
        try await client.onLoop { engine, done in
            guard let followers = engine.lists[name] else {
                return done(.failure(.refused(.noSuchList, "the list '\(name)' is not followed any more")))
            }
            if let error = engine.errorGivenUp { return done(.failure(error)) }
            followers.whenSettled(engine.session.subscriptions[name]) { done($0) }
        }
    }

    /// Tells others which item this person is on.
    public func setPresence(_ item: ItemID?) {
        let name = name
        client.post { engine in
            engine.perform { session, effect in session.setPresence(name, item: item, effect) }
        }
    }

    /// Stops following the list.
    public func close() {
        let name = name
        client.post { engine in
            engine.keep()
            engine.perform { session, effect in session.close(name, effect) }
            engine.lists.removeValue(forKey: name)?.finish(.closed)
        }
    }
}
