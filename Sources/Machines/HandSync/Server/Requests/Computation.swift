import HandCore
import HandWire

/// Work that takes long and needs no store.
package enum Computation: Sendable {
    case readBody(ReadBody)
    case makeEdit(MakeEdit)
    case makeExcerpt(MakeExcerpt)
    /// Frees something large.
    case discard(ThreadTransfer<any Sendable>)

    /// Runs the computation, on a thread where it delays nobody.
    package func run() -> Computed {
        switch self {
        case .readBody(let read): return .body(read, read.run())
        case .makeEdit(let make): return .edit(make, make.run())
        case .makeExcerpt(let make): return .excerpt(make, make.run())
        case .discard(let transfer):
            _ = transfer.take()
            return .discarded
        }
    }
}

/// The result of a computation, together with the computation.
package enum Computed: Sendable {
    case body(ReadBody, Result<UpMessage, WireError>)
    case edit(MakeEdit, MakeEdit.Answer)
    case excerpt(MakeExcerpt, MakeExcerpt.Answer)
    case discarded
}

extension ServerMachine {
    func start(_ computation: Computation) { emit(.compute(computation)) }

    /// Call this when a computation that was started has finished.
    package func finished(_ computed: Computed, at time: Moment) {
        self.time = time
        switch computed {
        case .body(let read, let message): self.read(read, message)
        case .edit(let make, let answer): made(make, answer)
        case .excerpt(let make, let answer): made(make, answer)
        case .discarded: break
        }
    }

    /// Frees something large on another thread.
    func discard(_ value: consuming some Sendable) { start(.discard(ThreadTransfer(value))) }
}

/// Hands a value over to another thread: the thread that takes it frees it.
///
/// `@unchecked Sendable` is safe: the thread that makes a transfer does not use its value any more, and the value is
/// taken only once.
package final class ThreadTransfer<Value: Sendable>: @unchecked Sendable {
    private var value: Value?

    init(_ value: consuming Value) {
        self.value = value
    }

    /// Returns the value. To be called once.
    func take() -> Value {
        guard let value = value.take() else { preconditionFailure("a transfer is taken once") }
        return value
    }
}
