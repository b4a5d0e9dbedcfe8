import HandCore
import HandWire

/// A short subscription without the items: for one edit of a list that the client does not follow, or to see who is
/// there. The client asks for the items that it needs at the same time, so an edit takes two round trips.
///
///     entering ──subscribed──▶ entered ──an edit, made on the items──▶ submitted ──its outcome──▶ answered
///        ▲                        │                                        │
///        └──── connection lost ───┴────────────────────────────────────────┘  an edit that was sent goes out again
///                                                                             under its sequence
struct EphemeralSubscription: Sendable {
    let name: String
    /// Whether the subscription ends when it is known who is on the list.
    let isForPeople: Bool
    /// Whether an earlier run sent the edit and has not heard of its outcome.
    let isResumed: Bool
    /// Whether the list is looked for by its log id, because there is no list of that name.
    private(set) var isByLogID = false
    private(set) var edit: Edit?
    /// The sequence number of the edit, once it has one.
    private(set) var sequence: SequenceNumber?
    /// The server's answer on this connection.
    private(set) var answer: DownMessage.Subscribed?
    /// Whether the edit was sent on this connection.
    private var isSent = false
    /// Whether the edit was sent before on a revision that the list has not reached now: the server's data is older.
    private(set) var isAhead = false
    /// The commits of this connection, in order, from a revision on.
    private var (start, commits) = (0, [Commit]())

    /// An edit, and what is known of the list that it was made on.
    struct Edit: Sendable {
        let delta: Delta
        let list: PartialList
        let isExact: Bool
        let step: UndoStep?
    }

    init(_ name: String, isForPeople: Bool) {
        (self.name, self.isForPeople, isResumed) = (name, isForPeople, false)
    }

    init?(resuming submission: JournalSubmission) {
        guard let edit = submission.edit else { return nil }
        (name, isForPeople, isResumed, sequence) = (submission.list, false, true, submission.sequence)
        self.edit = Edit(
            delta: edit.delta, list: PartialList(edit.excerpt), isExact: edit.isExact, step: submission.step)
    }

    var list: ListNumber? { answer?.list }

    func subscribe(_ request: RequestNumber) -> UpMessage {
        .subscribe(
            UpMessage.Subscribe(
                request: request, name: isByLogID ? "" : name, logID: edit?.list.logID ?? 0,
                revision: edit?.list.revision ?? 0, wantsItems: false, wantsPeople: isForPeople))
    }

    /// Handles the server's answer to the subscription. Commits follow, including those that arrived over an earlier
    /// connection. A second answer comes if the client reads too slowly: then the edit is sent again only if its
    /// sequence is decided.
    mutating func entered(_ subscribed: DownMessage.Subscribed) {
        answer = subscribed
        commits = []
        start =
            switch subscribed.start {
            case .resumed: edit?.list.revision ?? 0
            case .newest(let revision), .snapshot(let revision, _, _): revision
            }
        guard let sequence, let edit else { return }
        if sequence <= subscribed.lastSequence { isSent = false }
        isAhead = start < edit.list.revision
    }

    mutating func make(_ edit: Edit) { self.edit = edit }

    /// Returns the edit if it must be sent: each time the same edit, under the same sequence.
    ///
    /// - Parameter used: the last sequence that this client has used in the history.
    mutating func submission(used: SequenceNumber) -> Submission? {
        guard let answer, let edit, !isSent else { return nil }
        isSent = true
        let sequence = sequence ?? max(answer.lastSequence, used).next
        self.sequence = sequence
        return Submission(
            list: answer.list, base: edit.list.revision, sequence: sequence, isExact: edit.isExact, delta: edit.delta)
    }

    /// Returns what a commit means for the edit; nil if the commit is not about the edit. `author` is this client's
    /// number. An earlier run may have sent the edit under another name: then its commit has another number, but the
    /// server has the sequence.
    func outcome(of commit: Commit, by author: AuthorID?) -> SubmissionOutcome? {
        guard let edit, let sequence else { return nil }
        let delta = rebased()?.delta
        let isDecided = isResumed && commit.sequence == sequence && sequence <= answer?.lastSequence ?? 0
        let isMade = isDecided && delta?.became(commit.delta, under: edit.list.rules) == true
        return commit.outcome(ofSequence: sequence, by: isMade ? commit.author : author, delta, under: edit.list.rules)
    }

    mutating func disconnected() {
        (answer, isSent) = (nil, false)
    }

    mutating func seekByLogID() { (isByLogID, answer) = (true, nil) }

    mutating func note(_ commit: Commit) {
        if !isForPeople { commits.append(commit) }
    }

    /// Returns the edit rebased over others' commits since its list, what these commits overrode of the edit, and the
    /// commits; nil if some of the commits are missing.
    func rebased() -> (delta: Delta, notices: [Replica.Notice], since: [Commit])? {
        guard let edit, start <= edit.list.revision else { return nil }
        var (delta, list, notices) = (edit.delta, edit.list, [Replica.Notice]())
        let since = commits.filter { $0.revision > edit.list.revision }
        for commit in since {
            let losses = Delta.superseded(earlier: commit.delta, later: delta).filter { $0.loser == .later }
            let isKnown = list.isKnown
            guard let (others, hand) = try? list.follow(commit.delta) else { return nil }
            notices += hand.overridden(
                losses, of: delta, over: others, commit.author, commit.revision, knowing: isKnown)
            delta = delta.transformed(over: commit.delta, as: .later)
        }
        return (delta, notices, since)
    }
}

extension ClientMachine {
    /// Subscribes to a list that is not followed, without its items: `submit` edits it, and `leave` gives it up. If it
    /// is for people, the answer is `people` or an error. Returns nil if there is no connection and will be none, or if
    /// the client already follows the list or has an ephemeral subscription to it.
    public mutating func enter(_ name: String, isForPeople: Bool = false) -> RequestNumber? {
        begin(EphemeralSubscription(name, isForPeople: isForPeople))
    }

    /// Makes an edit on what is known of the list of an ephemeral subscription. The answer is `committed`, `rejected`,
    /// `stale` or an error. Returns nil if the subscription has ended.
    ///
    /// - Parameter step: recorded with the edit, if the edit undoes or redoes a commit of the same author.
    public mutating func submit(
        _ delta: Delta, on list: PartialList, isExact: Bool, step: UndoStep? = nil, _ request: RequestNumber
    ) -> RequestNumber? {
        guard let subscription = requests[request]?.ephemeral, subscription.edit == nil else { return nil }
        requests[request]?.ephemeral?.make(.init(delta: delta, list: list, isExact: isExact, step: step))
        submit(request)
        return request
    }

    /// Gives up an ephemeral subscription without an edit.
    public mutating func leave(_ request: RequestNumber) {
        guard let subscription = requests[request]?.ephemeral, subscription.edit == nil else { return }
        if let list = subscription.list { unsubscribe(from: list) }
        if subscription.list == nil, requests[request]?.isSent == true { abandoned[request] = subscription.name }
        requests[request] = nil
    }

    /// Returns the history that an ephemeral subscription is about; nil until the server has answered.
    public func logID(of request: RequestNumber) -> UInt64? { requests[request]?.ephemeral?.answer?.logID }

    /// Sends an edit again under its sequence, because an earlier run has not heard of its outcome. The answers are the
    /// same as for an edit.
    public mutating func resume(_ submission: JournalSubmission) -> RequestNumber? {
        EphemeralSubscription(resuming: submission).flatMap { begin($0) }
    }

    /// Whether any request or edit of this run that changes the server's lists has an outcome that is not known yet.
    public var isOutcomeUnknown: Bool {
        requests.values.contains { request in
            if let ephemeral = request.ephemeral { return ephemeral.sequence != nil && !ephemeral.isResumed }
            return request.changesLists && request.isSent
        }
    }

    private mutating func begin(_ subscription: EphemeralSubscription) -> RequestNumber? {
        guard subscriptions[subscription.name] == nil,
            !requests.values.contains(where: { $0.ephemeral?.name == subscription.name })
        else { return nil }
        return begin(waits: true) { _ in Request(ephemeral: subscription) }
    }

    /// Handles a message if it is for an ephemeral subscription. Returns whether it is.
    mutating func heardOnEphemeral(_ message: DownMessage) -> Bool {
        switch message {
        case .subscribed(let subscribed):
            guard requests[subscribed.request]?.ephemeral != nil else { return false }
            requests[subscribed.request]?.ephemeral?.entered(subscribed)
            submit(subscribed.request)
        case .commit(let list, let commit):
            guard let request = request(of: list) else { return false }
            take(commit, on: request)
        case .rejected(let list, let sequence, let reason):
            guard let request = request(of: list, sequence) else { return false }
            leave(request, .rejected(reason))
        case .stale(let list, let sequence, _):
            guard let request = request(of: list, sequence) else { return false }
            leave(request, .stale)
        case .acknowledged(let list, let sequence, let revision):
            guard let request = request(of: list, sequence) else { return false }
            let notices = requests[request]?.ephemeral?.rebased()?.notices ?? []
            let answer = Answer.committed(revision: revision, notices, since: [])
            leave(request, revision > 0 ? answer : .error(.internalError, Self.unknownOutcome))
        case .renamed(let list, _):
            // What was asked for under the name may be about another list.
            guard let request = request(of: list), let subscription = requests[request]?.ephemeral else { return false }
            if subscription.edit == nil, !subscription.isForPeople { leave(request) }
        case .presence(let list, let people):
            guard let request = request(of: list) else { return false }
            // The first message lists everybody, including this client.
            let isWhole = people.contains { $0.author == common.author }
            if isWhole, requests[request]?.ephemeral?.isForPeople == true { leave(request, .people(people)) }
        case .error(.notSubscribed, _, let list, _, let text):
            guard let request = request(of: list) else { return false }
            leave(request, .error(.notSubscribed, text))
        case .error(let code, let request, _, _, let text):
            guard !code.closes, let subscription = requests[request]?.ephemeral else {
                return false
            }
            if code == .noSuchList, subscription.isResumed, !subscription.isByLogID {
                requests[request]?.ephemeral?.seekByLogID()
                send(request)
            } else {
                leave(request, .error(code, text))
            }
        case .welcome, .chunk, .granted, .pong, .done, .lists, .deletedLists, .history, .state, .excerpt:
            return false
        }
        return true
    }

    /// The error for an acknowledgement without a revision, which says that a later edit under this client's id was
    /// decided.
    private static let unknownOutcome =
        "the server does not know any longer what became of the edit: look at the list before you repeat it"

    private func request(of list: ListNumber, _ sequence: SequenceNumber? = nil) -> RequestNumber? {
        requests.first {
            $0.value.ephemeral?.list == list && (sequence == nil || $0.value.ephemeral?.sequence == sequence)
        }?.key
    }

    /// Sends the edit, if there is one and the server has answered the subscription.
    private mutating func submit(_ request: RequestNumber) {
        guard let subscription = requests[request]?.ephemeral, let edit = subscription.edit,
            let answer = subscription.answer
        else { return }
        let log = answer.logID
        let isSameList = LogID.isSameList(log, edit.list.logID)
        if !isSameList, subscription.isResumed, !subscription.isByLogID {
            // The name belongs to another list now.
            if let list = subscription.list { unsubscribe(from: list) }
            requests[request]?.ephemeral?.seekByLogID()
            return send(request)
        }
        // A list that was restored has the edit if it has the sequence.
        let isDecided =
            subscription.isResumed && isSameList && subscription.sequence.map { $0 <= answer.lastSequence } == true
        // The name may belong to another list now, or an earlier state of the list was put back.
        if !isDecided, log != edit.list.logID || subscription.isAhead { return leave(request, .stale) }
        let used = common.used[log] ?? 0
        guard let submission = requests[request]?.ephemeral?.submission(used: used) else { return }
        let kept = ExcerptEdit(excerpt: edit.list.excerpt(for: edit.delta), delta: edit.delta, isExact: edit.isExact)
        common.noteUsed(
            JournalSubmission(
                log: edit.list.logID, sequence: submission.sequence, list: subscription.name, step: edit.step,
                edit: kept))
        common.send(.submit(submission))
    }

    private mutating func take(_ commit: Commit, on request: RequestNumber) {
        guard let subscription = requests[request]?.ephemeral else { return }
        switch subscription.outcome(of: commit, by: common.author) {
        case .committed:
            let rebased = subscription.rebased()
            leave(
                request,
                .committed(
                    revision: commit.revision, rebased?.notices ?? [], since: rebased.map { $0.since + [commit] } ?? [])
            )
        case .refused(let reason): leave(request, .rejected(reason))
        case .usedTwice:
            common.noteShared()
            leave(request, .stale)
        case nil: requests[request]?.ephemeral?.note(commit)
        }
    }

    /// Ends an ephemeral subscription with its answer. A refused edit is kept if its person has been told that the
    /// outcome of the edit is unknown.
    private mutating func leave(_ request: RequestNumber, _ answer: Answer) {
        guard let subscription = requests[request]?.ephemeral else { return }
        if let list = subscription.list { unsubscribe(from: list) }
        if let edit = subscription.edit { ended(edit, of: subscription, answer) }
        self.answer(request, answer)
    }

    private mutating func ended(
        _ edit: EphemeralSubscription.Edit, of subscription: EphemeralSubscription, _ answer: Answer
    ) {
        let log = edit.list.logID
        if case .committed(_, let notices, _) = answer {
            common.noteCommitted()
            for case let loss? in notices.map(Loss.init) { common.note(loss, of: subscription.name, log) }
        }
        guard let sequence = subscription.sequence else { return }
        common.answered(sequence, in: log, answer)
        if subscription.isResumed, let reason = answer.refusal, let hand = try? edit.list.hand(for: edit.delta),
            let loss = Loss(.rejected(reason, edit.delta, on: hand))
        {
            common.note(loss, of: subscription.name, log)
        }
    }
}

extension ClientMachine.Answer {
    /// Why an edit was not made; nil if it was.
    fileprivate var refusal: Rejection? {
        switch self {
        case .committed: nil
        case .rejected(let reason): reason
        default: .reasonForgotten
        }
    }
}
