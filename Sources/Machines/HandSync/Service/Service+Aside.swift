import HandCore
import HandWire

/// Long messages are read, and large edits made, on another thread, so that they delay only those who edit the same
/// list.
extension Service {
    /// Reads a message's body; what comes behind it waits.
    func read(_ body: [UInt8], from connection: Connection) {
        begin(connection)
        world.compute {
            body.withUnsafeBytes { bytes in Result { () throws(WireError) in try UpMessage(bytes) } }
        } then: { [unowned self] message in
            connection.setBusy(false)
            carryOut(connection.session.read(message), isNext: true, for: connection)
            connection.work { handle($0, from: connection) }
        }
    }

    /// Makes a large edit once no commit of the list is being written. Other edits of the list wait until it is made.
    func submitAside(_ submission: Submission, _ author: Author, in hosted: HostedList, from connection: Connection) {
        hosted.isHeld = true
        begin(connection)
        makeWhenWritten(submission, author, in: hosted, from: connection)
    }

    private func makeWhenWritten(
        _ submission: Submission, _ author: Author, in hosted: HostedList, from connection: Connection
    ) {
        if connection.isEnding || hostedLists[hosted.list.number] !== hosted { return letGo(of: hosted, connection) }
        if hosted.authority.isBusy {
            return hosted.whenWritten.append { [unowned self] in
                makeWhenWritten(submission, author, in: hosted, from: connection)
            }
        }
        // Charged before it is made: a client that hangs up meanwhile has had the work done all the same.
        let work = min(Authority.work(of: submission.delta), 10 * (limits.frameBytes + hosted.authority.count))
        charge(connection, work: work)
        let (now, isFull) = (world.wallClock, storeSize.isFull(limits))
        let isFirst = connection.cursors.isFirstSubmission(to: hosted.list.number)
        let parcel = Parcel((hosted.authority, submission))
        world.compute {
            var (authority, submission) = parcel.take()
            let outcome = authority.submitAside(
                submission, author: author, isFirst: isFirst, now: now, isFull: isFull)
            return Parcel((authority, submission, outcome))
        } then: { [unowned self] parcel in
            made(parcel, author, in: hosted, from: connection)
        }
    }

    /// Adopts the edited list, unless the author has left or lost the right to edit meanwhile.
    private func made(
        _ parcel: Parcel<(Authority, Submission, Authority.Outcome)>, _ author: Author, in hosted: HostedList,
        from connection: Connection
    ) {
        var (authority, submission, outcome) = parcel.take()
        if authority.revision != hosted.authority.revision {
            // Others' commits have come meanwhile: it is made behind them.
            discard((consume authority, consume outcome))
            return makeWhenWritten(submission, author, in: hosted, from: connection)
        }
        if !connection.isEnding, connection.cursors.hostedList(of: hosted.list.number) === hosted,
            isAllowed(.submit(submission), from: connection)
        {
            swap(&hosted.authority, &authority)
            answer(outcome, to: submission, author, in: hosted, from: connection)
        }
        discard((consume authority, consume submission, consume outcome))
        letGo(of: hosted, connection)
    }

    /// Handles the edits that have waited, in their order. One of them may hold the list again.
    private func letGo(of hosted: HostedList, _ connection: Connection) {
        hosted.isHeld = false
        let waiting = hosted.waiting
        hosted.waiting = []
        for body in waiting { body() }
        end(connection)
    }

    /// Keeps an edit, and all that its client sends after it, until the large one is made.
    func hold(_ submission: Submission, in hosted: HostedList, from connection: Connection) {
        begin(connection)
        hosted.waiting.append { [unowned self] in
            connection.setBusy(false)
            connection.take(.message(.submit(submission)), isNext: true) { handle($0, from: connection) }
        }
    }

    /// Frees something large on another thread.
    func discard(_ value: consuming some Sendable) {
        let parcel = Parcel(value)
        world.compute {
            _ = parcel.take()
        } then: {
        }
    }
}

/// Hands a value over to another thread: the thread that takes it frees it.
///
/// `@unchecked Sendable` is safe: the thread that makes a parcel does not look into it, and it is taken once.
final class Parcel<Value: Sendable>: @unchecked Sendable {
    private var value: Value?

    init(_ value: consuming Value) {
        self.value = value
    }

    /// To be called once.
    func take() -> Value {
        guard let value = value.take() else { preconditionFailure("a parcel is taken once") }
        return value
    }
}
