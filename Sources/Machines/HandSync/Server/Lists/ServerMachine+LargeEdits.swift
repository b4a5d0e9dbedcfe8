import HandCore
import HandWire

/// Reading long messages and making large edits takes place on another thread. So this work delays only clients that
/// edit the same list.
extension ServerMachine {
    /// Reads a message's body. Messages behind it wait.
    func read(_ body: [UInt8], from connection: Connection) {
        begin(connection)
        let id = connection.id
        compute(
            { body.withUnsafeBytes { bytes in Result { () throws(WireError) in try UpMessage(bytes) } } },
            then: { $0.read($1, from: id) })
    }

    private func read(_ message: Result<UpMessage, WireError>, from id: ConnectionID) {
        guard let connection = connections[id] else { return }
        connection.setBusy(false)
        carryOut(connection.session.read(message), isNext: true, for: connection)
        handleWaiting(of: connection)
    }

    /// Makes a large edit once no commit of the list waits or is being written. Other edits of the list wait until it
    /// is made.
    func make(_ edit: Authority.Origin, in hosted: ListMachine) {
        let id = edit.connection
        guard let connection = connections[id], !connection.isEnding, !hosted.phase.isGone else { return end(id) }
        guard hosted.beginEdit() else { return hosted.wait(.edit(edit)) }
        // The edit is charged before it is made: a client that hangs up meanwhile has caused the work all the same.
        let work = min(Authority.work(of: edit.submission.delta), 10 * (limits.frameBytes + hosted.authority.count))
        charge(connection, work: work)
        let task = MakeEdit(
            list: hosted.reference, connection: id, circumstances: .init(now: wallClock, isFull: upkeep.isFull),
            transfer: ThreadTransfer((hosted.authority, edit)))
        compute({ task.run() }, then: { $0.made(task, $1) })
    }

    /// Adopts the edited list, unless the author has left or lost the right to edit meanwhile.
    func made(_ task: MakeEdit, _ transfer: MakeEdit.Answer) {
        var (authority, origin, outcome) = transfer.take()
        let hosted = lists[task.list]
        hosted?.endEdit()
        charge(task.connection, work: authority.work, isSubmission: true)
        if let hosted, let connection = connections[task.connection], !connection.isEnding,
            connection.cursors.hostedList(of: task.list.number) === hosted,
            isAllowed(.submit(origin.submission), from: connection)
        {
            hosted.adopt(&authority)
            answer(outcome, to: origin.submission, in: hosted, from: connection)
        }
        discard((consume authority, consume origin, consume outcome))
        // What has waited for the edit comes before what its author sends next.
        hosted.map(goOn)
        end(task.connection)
    }
}

package struct MakeEdit: Sendable {
    package typealias Answer = ThreadTransfer<(Authority, Authority.Origin, Authority.Outcome)>

    let list: ListMachine.Reference
    let connection: ConnectionID
    let circumstances: Authority.Circumstances
    /// Both values are large, and are freed on the thread that edits.
    let transfer: ThreadTransfer<(Authority, Authority.Origin)>

    func run() -> Answer {
        var (authority, origin) = transfer.take()
        let outcome = authority.submitOffThread(origin, circumstances)
        return ThreadTransfer((authority, origin, outcome))
    }
}
