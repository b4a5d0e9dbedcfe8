import EventLoop
import HandCore

/// A client for programs. It reconnects and resubmits, and never loses or duplicates an edit. All methods may be called
/// from any thread.
public final class HandClient: Sendable {
    private let mailbox: Mailbox<@Sendable (ClientEngine) -> Void>
    package let person: String

    /// Starts connecting. Does not wait for the connection.
    ///
    /// - Throws: `ClientError.notStarted` if the journal cannot be opened, or the system has no more files or threads.
    public convenience init(_ configuration: ClientConfiguration) throws(ClientError) {
        do {
            try self.init(configuration, journal: configuration.openJournal())
        } catch {
            throw .notStarted("\(error)")
        }
    }

    /// - Parameter journal: the configuration's journal, opened.
    /// - Throws: `UVError` if the loop cannot be created.
    package init(_ configuration: ClientConfiguration, journal: ClientJournal?) throws {
        person = configuration.person
        mailbox = try Self.startThread(configuration, journal)
    }

    /// Runs the loop on a thread of its own. The mailbox is the only access to the loop.
    private static func startThread(
        _ configuration: ClientConfiguration, _ journal: ClientJournal?
    ) throws -> Mailbox<@Sendable (ClientEngine) -> Void> {
        // `nonisolated(unsafe)` is safe: from its start on, only the new thread uses the loop and the engine.
        nonisolated(unsafe) let loop = try Loop()
        nonisolated(unsafe) let engine = ClientEngine(configuration, loop: loop, journal: journal)
        let mailbox = try Mailbox<@Sendable (ClientEngine) -> Void>(loop) { messages in
            for message in messages { message(engine) }
        }
        Threads.start("hand client") {
            engine.client.start()
            loop.run()
            loop.close()
        }
        return mailbox
    }

    /// Closes the connection and the journal. Edits that were not submitted stay in the journal, if there is one. All
    /// pending calls fail with `.closed`.
    public func close() async {
        // Closing a closed client is no error.
        let _: Void? = try? await onLoop { [self] engine, reply in
            shut(engine)
            reply.succeed(())
        }
    }

    /// Closes the engine and the mailbox; the calls in the mailbox fail.
    package func shut(_ engine: ClientEngine) {
        engine.close()
        mailbox.close()
    }

    /// Runs `body` on the loop's thread and waits for the answer of `body`, or of an operation that `body` started.
    /// Throws `.closed` if nothing will answer.
    func onLoop<Value: Sendable>(
        _ body: @escaping @Sendable (ClientEngine, Reply<Value>) throws -> Void
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Value, any Error>) in
            let reply = Reply(continuation)
            mailbox.post { engine in
                if engine.isClosed { return }
                do { try body(engine, reply) } catch { reply.fail(error) }
            }
        }
    }

    /// Runs `body` on the loop's thread and returns its result.
    func read<Value: Sendable>(_ body: @escaping @Sendable (ClientEngine) throws -> Value) async throws -> Value {
        try await onLoop { engine, reply in reply.succeed(try body(engine)) }
    }

    package func post(_ body: @escaping @Sendable (ClientEngine) -> Void) {
        mailbox.post(body)
    }
}
