import HandCore
import HandWire

/// What a server asks its store. A request runs on another thread, so it has values only: connections by their ids,
/// lists by `ListMachine.Reference`. A connection or a list that has gone when the reply comes is not found then.
///
/// All cases but that of commits are indirect, so that a request and its reply are small.
package enum StoreRequest: Sendable {
    indirect case read(StoreTask)
    case append(AppendBatches)
    /// A write other than appending commits. A job must not run beside a transaction on the same lists.
    indirect case job(StoreTask)

    /// Whether the request must not run beside another write. Writes do not wait for requests that only read; several
    /// of those run at a time.
    package var isWrite: Bool { if case .read = self { false } else { true } }

    /// Whether roles that were given for a name become roles on the list that has the name, before the request is run.
    package var changesName: Bool { if case .job(let job) = self { job.question is ChangeName } else { false } }

    /// Asks the store, and returns its reply. It may block for as long as a disk takes.
    ///
    /// - Parameter bindRoles: called before a name changes; if it throws, no name changes. Returns the names that roles
    ///   wait for.
    package func run(on store: any CommitStore, bindRoles: () throws -> Set<String> = { [] }) -> StoreReply {
        do { return try reply(of: store, bindRoles) } catch { return .ended(error) }
    }

    private func reply(
        of store: any CommitStore, _ bindRoles: () throws -> Set<String>
    ) throws(StoreError) -> StoreReply {
        switch self {
        case .read(let task): .read(try task.run(store, bindRoles))
        case .append(let append): .appended(append, try answer { try append.run(on: store) })
        case .job(let job): .wrote(try job.run(store, bindRoles))
        }
    }
}

/// A question to the store, or a write, with what it needs as values.
protocol StoreQuestion: Sendable {
    associatedtype Answer: Sendable

    func run(on store: any CommitStore) throws -> Answer

    /// - Parameter bindRoles: called before a name changes. Returns the names that roles wait for.
    func run(on store: any CommitStore, _ bindRoles: () throws -> Set<String>) throws -> Answer
}

extension StoreQuestion {
    func run(on store: any CommitStore, _ bindRoles: () throws -> Set<String>) throws -> Answer { try run(on: store) }
}

/// A question, and what the server does with its answer.
package struct StoreTask: Sendable {
    typealias End<Question: StoreQuestion> =
        @Sendable (ServerMachine, Question, Result<Question.Answer, StoreError>) -> Void

    package let question: any Sendable
    fileprivate let run: @Sendable (any CommitStore, () throws -> Set<String>) throws(StoreError) -> StoreAnswer

    init<Question: StoreQuestion>(_ question: Question, then end: @escaping End<Question>) {
        self.question = question
        run = { (store, bindRoles) throws(StoreError) in
            let result = try answer { try question.run(on: store, bindRoles) }
            return StoreAnswer(result: result) { end($0, question, result) }
        }
    }
}

/// The answer to a question.
package struct StoreAnswer: Sendable {
    /// The `Result` of the question's `Answer`.
    package let result: any Sendable
    fileprivate let end: @Sendable (ServerMachine) -> Void
}

/// The store's reply to a request, together with the request.
package enum StoreReply: Sendable {
    indirect case read(StoreAnswer)
    case appended(AppendBatches, Result<[Appended], StoreError>)
    indirect case wrote(StoreAnswer)
    /// The disk did not confirm a flush, or the files are gone: nobody knows what the disk holds.
    indirect case ended(StoreError)
}

/// - Throws: an error after which nobody knows what the disk holds.
private func answer<Answer>(_ body: () throws -> Answer) throws(StoreError) -> Result<Answer, StoreError> {
    let answer = StoreError.catching(body)
    if case .failure(let error) = answer, error.isFinal { throw error }
    return answer
}

extension ServerMachine {
    func start(_ request: StoreRequest) { emit(.ask(request)) }

    /// Asks the store a question that writes nothing.
    func start<Question: StoreQuestion>(_ question: Question, then end: @escaping StoreTask.End<Question>) {
        start(.read(StoreTask(question, then: end)))
    }

    /// Call this when a request that was started has its reply. The reply is an event like those of connections.
    package func finished(_ reply: StoreReply, at time: Moment) {
        self.time = time
        switch reply {
        case .read(let answer): answer.end(self)
        case .appended(let append, let answer): appended(append.batches, answer)
        case .wrote(let answer):
            writer.endJob()
            answer.end(self)
        case .ended(let error):
            // The server starts again from what the disk holds.
            note(.writeFailed(error))
            stage = .ended
            emit(.end(error))
        }
    }
}
