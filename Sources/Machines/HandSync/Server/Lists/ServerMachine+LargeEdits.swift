import HandCore
import HandWire

/// An edit that takes long to make.
struct LargeEdit {
    let submission: Submission
    let author: Author
    let connection: ConnectionID
}

/// Reading long messages and making large edits takes place on another thread. So this work delays only clients that
/// edit the same list.
extension ServerMachine {
    /// Reads a message's body. Messages behind it wait.
    func read(_ body: [UInt8], from connection: Connection) {
        begin(connection)
        start(.readBody(ReadBody(connection: connection.id, body: body)))
    }

    func read(_ task: ReadBody, _ message: Result<UpMessage, WireError>) {
        guard let connection = connections[task.connection] else { return }
        connection.setBusy(false)
        carryOut(connection.session.read(message), isNext: true, for: connection)
        handleWaiting(of: connection)
    }

    /// Makes a large edit once no commit of the list is being written. Other edits of the list wait until it is made.
    func submitOffThread(
        _ submission: Submission, _ author: Author, in hosted: ListMachine, from connection: Connection
    ) {
        hosted.holdEdits()
        begin(connection)
        make(LargeEdit(submission: submission, author: author, connection: connection.id), in: hosted)
    }

    func make(_ edit: LargeEdit, in hosted: ListMachine) {
        guard let connection = connections[edit.connection], !connection.isEnding, !hosted.phase.isGone else {
            release(hosted)
            return end(edit.connection)
        }
        if hosted.authority.isBusy { return hosted.afterWrite(.edit(edit)) }
        // The edit is charged before it is made: a client that hangs up meanwhile has caused the work all the same.
        let work = min(Authority.work(of: edit.submission.delta), 10 * (limits.frameBytes + hosted.authority.count))
        charge(connection, work: work)
        start(
            .makeEdit(
                MakeEdit(
                    list: hosted.reference, connection: edit.connection, author: edit.author,
                    isFirst: connection.cursors.isFirstSubmission(to: hosted.list.number), now: wallClock,
                    isFull: storeSize.isFull(limits), transfer: ThreadTransfer((hosted.authority, edit.submission)))))
    }

    /// Adopts the edited list, unless the author has left or lost the right to edit meanwhile.
    func made(_ task: MakeEdit, _ transfer: MakeEdit.Answer) {
        var (authority, submission, outcome) = transfer.take()
        let hosted = lists[task.list]
        if let hosted, authority.revision != hosted.authority.revision {
            // Others' commits have come meanwhile. The edit is made behind them.
            discard((consume authority, consume outcome))
            return make(
                LargeEdit(submission: submission, author: task.author, connection: task.connection), in: hosted)
        }
        if let hosted, let connection = connections[task.connection], !connection.isEnding,
            connection.cursors.hostedList(of: task.list.number) === hosted,
            isAllowed(.submit(submission), from: connection)
        {
            swap(&hosted.authority, &authority)
            charge(connection, submissionWork: hosted.authority.work)
            answer(outcome, to: submission, task.author, in: hosted, from: connection)
        }
        discard((consume authority, consume submission, consume outcome))
        hosted.map(release)
        end(task.connection)
    }

    /// Handles the edits that have waited for a large one, in their order. One of them may hold the list again.
    func release(_ hosted: ListMachine) {
        for (number, submission) in hosted.releaseEdits() {
            guard let connection = connections[number] else { continue }
            connection.setBusy(false)
            carryOut(.handle(.submit(submission)), isNext: true, for: connection)
        }
    }

    /// Keeps an edit, and all that its client sends after it, until the large edit is made.
    func hold(_ submission: Submission, in hosted: ListMachine, from connection: Connection) {
        begin(connection)
        hosted.hold(submission, from: connection)
    }
}

package struct ReadBody: Sendable {
    let connection: ConnectionID
    let body: [UInt8]

    func run() -> Result<UpMessage, WireError> {
        body.withUnsafeBytes { bytes in Result { () throws(WireError) in try UpMessage(bytes) } }
    }
}

package struct MakeEdit: Sendable {
    package typealias Answer = ThreadTransfer<(Authority, Submission, Authority.Outcome)>

    let list: ListMachine.Reference
    let connection: ConnectionID
    let author: Author
    let isFirst: Bool
    let now: UInt64
    let isFull: Bool
    /// Both values are large, and are freed on the thread that edits.
    let transfer: ThreadTransfer<(Authority, Submission)>

    func run() -> Answer {
        var (authority, submission) = transfer.take()
        let outcome = authority.submitOffThread(
            submission, author: author, connection: connection, isFirst: isFirst, now: now, isFull: isFull)
        return ThreadTransfer((authority, submission, outcome))
    }
}
