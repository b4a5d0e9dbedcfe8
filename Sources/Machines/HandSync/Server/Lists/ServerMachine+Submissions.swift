import HandCore
import HandWire

extension ServerMachine {
    func submit(_ submission: Submission, from connection: Connection) {
        guard let author = connection.author else { return }
        guard let hosted = connection.cursors.hostedList(of: submission.list) else {
            let text = "list \(submission.list) was not subscribed to"
            return send(
                .error(code: .notSubscribed, request: 0, list: submission.list, retryAfter: 0, message: text),
                to: connection)
        }
        let isFirst = connection.cursors.isFirstSubmission(to: submission.list)
        if connection.pendingSubmissions >= limits.pendingSubmissions, !isFirst {
            let reason = Rejection.tooManyPending(limit: limits.pendingSubmissions)
            return reject(reason, list: submission.list, submission.sequence, to: connection)
        }
        if hosted.holdsEdits {
            begin(connection)
            return hosted.wait(.submit(submission, from: connection.id))
        }
        let origin = Authority.Origin(submission, by: author, over: connection.id, isFirst: isFirst)
        let outcome = hosted.submit(origin, .init(now: wallClock, isFull: upkeep.isFull, maxWork: limits.inlineWork))
        if case .tooMuchWork = outcome {
            begin(connection)
            return make(origin, in: hosted)
        }
        let work = hosted.authority.work + Authority.work(of: submission.delta)
        charge(connection, work: work, isSubmission: true)
        answer(outcome, to: submission, in: hosted, from: connection)
    }

    /// Tells a client what became of its submission, and has a numbered submission written.
    func answer(
        _ outcome: Authority.Outcome, to submission: Submission, in hosted: ListMachine, from connection: Connection
    ) {
        let (list, sequence) = (submission.list, submission.sequence)
        switch outcome {
        case .numbered(let refusal):
            if let reason = refusal { figures.rejections[reason.name, default: 0] += 1 }
            connection.cursors.submissionDecided(in: list)
            connection.submissionNumbered()
            if let newcomer = connection.newcomer { admission.newcomers.hold(newcomer) }
            numbered += 1
            if hosted.numbered() { writer.add(hosted) }
        case .waiting, .tooMuchWork: break
        case .acknowledged(let revision):
            send(.acknowledged(list: list, sequence: sequence, revision: revision), to: connection)
        case .stale(let head):
            figures.stale += 1
            send(.stale(list: list, sequence: sequence, head: head), to: connection)
        case .rejected(let reason): reject(reason, list: list, sequence, to: connection)
        case .failed(let code):
            let text =
                code == .baseInFuture
                ? "base: expected at most revision \(hosted.authority.revision), found \(submission.base)"
                : "sequence: expected at least 1, found \(sequence)"
            fail(connection, code, text)
        }
    }

    func reject(_ reason: Rejection, list: ListNumber, _ sequence: SequenceNumber, to connection: Connection) {
        figures.rejections[reason.name, default: 0] += 1
        send(.rejected(list: list, sequence: sequence, reason), to: connection)
    }
}
