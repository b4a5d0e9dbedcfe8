import HandCore
import HandWire

/// A short subscription without the items: for one edit on an excerpt, or to see who is on the list.
///
///     entering ──subscribed──▶ entered (an edit is submitted) ──its commit, acknowledged, rejected, stale──▶ answered
///        ▲                        │
///        └── connection lost ─────┘   the edit goes out again under its sequence, so that it is applied once
struct EphemeralSubscription: Sendable {
    let name: String
    let excerpt: Excerpt
    let purpose: Purpose
    /// The list's number on this connection, once the server has answered.
    private(set) var list: UInt64?
    /// The sequence number of the edit, once it has one.
    private(set) var sequence: UInt64?
    /// `commits` are others' commits since the excerpt, `delta` is the edit transformed over these commits, and `list`
    /// is the excerpt's part of the list after them. Nil if some commits are missing.
    private var rest: (delta: Delta, list: Hand, commits: [Commit])?
    private(set) var notices: [Replica.Notice] = []
    /// Whether an earlier run sent the edit and has not heard of its outcome.
    let isResumed: Bool
    /// Whether the list is looked for by its log id, because there is no list of that name.
    var isByLogID = false

    enum Purpose: Sendable {
        case edit(Delta, isExact: Bool, UndoStep?)
        case people
    }

    init(_ name: String, _ excerpt: Excerpt, _ purpose: Purpose, sequence: UInt64? = nil) {
        (self.name, self.excerpt, self.purpose, self.sequence) = (name, excerpt, purpose, sequence)
        isResumed = sequence != nil
    }

    /// Returns the commits since the excerpt, and the edit's own commit last; empty if some commits are missing.
    func commits(with own: Commit) -> [Commit] { rest.map { $0.commits + [own] } ?? [] }

    /// Handles the server's answer to the subscription. All commits since the excerpt follow, including those that
    /// arrived over an earlier connection. Returns the edit, if the subscription is for an edit: each time the same
    /// edit, under the same sequence.
    ///
    /// - Parameter used: the last sequence that this client has used in the history.
    mutating func entered(_ subscribed: DownMessage.Subscribed, used: UInt64) -> Submission? {
        list = subscribed.list
        notices = []
        guard case .edit(let delta, let isExact, _) = purpose else { return nil }
        if case .resumed = subscribed.start { rest = (delta, excerpt.hand, []) } else { rest = nil }
        let sequence = sequence ?? max(subscribed.lastSequence, used) &+ 1
        self.sequence = sequence
        return Submission(
            list: subscribed.list, base: excerpt.revision, sequence: sequence, isExact: isExact, delta: delta)
    }

    /// Returns what a commit means for the edit; nil if the commit is not about the edit. `author` is this client's
    /// number.
    func outcome(of commit: Commit, by author: UInt64?) -> SubmissionOutcome? {
        commit.outcome(ofSequence: sequence, by: author, rest?.delta, under: excerpt.rules)
    }

    mutating func disconnected() {
        list = nil
    }

    /// Transforms the edit over somebody else's commit. The commit may override parts of the edit.
    mutating func pass(_ commit: Commit) {
        guard let (delta, list, commits) = rest, let next = try? list.applying(commit.delta) else {
            rest = nil
            return
        }
        let losses = Delta.superseded(earlier: commit.delta, later: delta).filter { $0.loser == .later }
        notices += list.overridden(losses, of: delta, over: commit.delta, commit.author, commit.revision)
        rest = (delta.transformed(over: commit.delta, as: .later), next, commits + [commit])
    }
}

extension ClientMachine {
    /// Edits a list that is not followed, on an excerpt of the list. The answer is `committed`, `rejected`, `stale` or
    /// an error. Returns nil if there is no connection, or if the client already follows the list or has an ephemeral
    /// subscription to it.
    ///
    /// - Parameter step: recorded with the edit, if the edit undoes or redoes a commit of the same author.
    public mutating func edit(
        _ name: String, on excerpt: Excerpt, _ delta: Delta, isExact: Bool, step: UndoStep? = nil
    ) -> UInt64? {
        follow(EphemeralSubscription(name, excerpt, .edit(delta, isExact: isExact, step)))
    }

    /// Sends an edit again under its sequence, because an earlier run has not heard of its outcome. The answers are the
    /// same as for an edit.
    public mutating func resume(_ submission: JournalSubmission) -> UInt64? {
        guard let edit = submission.edit else { return nil }
        return follow(
            EphemeralSubscription(
                submission.list, edit.excerpt, .edit(edit.delta, isExact: edit.isExact, submission.step),
                sequence: submission.sequence))
    }

    /// Whether any request or edit that changes the server's lists has an outcome that is not known yet.
    public var isOutcomeUnknown: Bool {
        requests.values.contains { $0.changesLists || $0.ephemeral?.sequence != nil }
    }

    /// Whether a request that is not answered may have changed the server's lists.
    public func isOutcomeUnknown(of request: UInt64) -> Bool { requests[request]?.changesLists == true }

    /// Asks who is on a list that is not followed. The answer is `people` or an error. Returns nil in the same cases
    /// as an edit.
    public mutating func askWhoIsThere(
        _ name: String, _ excerpt: Excerpt
    ) -> UInt64? {
        follow(EphemeralSubscription(name, excerpt, .people))
    }

    private mutating func follow(_ subscription: EphemeralSubscription) -> UInt64? {
        guard isReady, subscriptions[subscription.name] == nil,
            !requests.values.contains(where: { $0.ephemeral?.name == subscription.name })
        else { return nil }
        let request = common.newRequest()
        requests[request] = Request(ephemeral: subscription)
        enter(request)
        return request
    }

    mutating func enter(_ request: UInt64) {
        guard let subscription = requests[request]?.ephemeral else { return }
        common.send(
            .subscribe(
                UpMessage.Subscribe(
                    request: request, name: subscription.isByLogID ? "" : subscription.name,
                    logID: subscription.excerpt.logID,
                    revision: subscription.excerpt.revision)
            ))
    }

    /// Handles a message if it is for an ephemeral subscription. Returns whether it is.
    mutating func heardOnEphemeral(_ message: DownMessage) -> Bool {
        switch message {
        case .subscribed(let subscribed):
            guard requests[subscribed.request]?.ephemeral != nil else { return false }
            entered(subscribed)
        // An ephemeral subscription does not need the items of a snapshot; the server sends one if the excerpt is too
        // old.
        case .chunk(let request, _): return requests[request]?.ephemeral != nil
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
            let answer = Answer.committed(revision: revision, requests[request]?.ephemeral?.notices ?? [], since: [])
            leave(request, revision > 0 ? answer : .error(.internalError, Self.unknownOutcome))
        case .presence(let list, let people):
            guard let request = request(of: list) else { return false }
            // The first message lists everybody, including this client.
            let isWhole = people.contains { $0.author == common.author }
            if isWhole, case .people = requests[request]?.ephemeral?.purpose { leave(request, .people(people)) }
        case .error(let code, let request, _, let text):
            guard !code.closes, code != .notSubscribed, let subscription = requests[request]?.ephemeral else {
                return false
            }
            if code == .noSuchList, subscription.isResumed, !subscription.isByLogID {
                requests[request]?.ephemeral?.isByLogID = true
                enter(request)
            } else {
                leave(request, .error(code, text))
            }
        case .welcome, .renamed, .granted, .pong, .done, .lists, .deletedLists, .history, .state, .excerpt:
            return false
        }
        return true
    }

    /// The error for an acknowledgement without a revision, which says that a later edit under this client's id was
    /// decided.
    private static let unknownOutcome =
        "the server does not know any longer what became of the edit: look at the list before you repeat it"

    private func request(of list: UInt64, _ sequence: UInt64? = nil) -> UInt64? {
        requests.first {
            $0.value.ephemeral?.list == list && (sequence == nil || $0.value.ephemeral?.sequence == sequence)
        }?.key
    }

    private mutating func entered(_ subscribed: DownMessage.Subscribed) {
        let request = subscribed.request
        let last = common.used[subscribed.logID] ?? 0
        guard let submission = requests[request]?.ephemeral?.entered(subscribed, used: last),
            let subscription = requests[request]?.ephemeral
        else { return }
        // The name may belong to another list now.
        if subscribed.logID != subscription.excerpt.logID { return leave(request, .stale) }
        if case .edit(let delta, let isExact, let step) = subscription.purpose {
            let edit = ExcerptEdit(excerpt: subscription.excerpt, delta: delta, isExact: isExact)
            common.noteUsed(
                JournalSubmission(
                    log: subscribed.logID, sequence: submission.sequence, list: subscription.name, step: step,
                    edit: edit))
        }
        common.send(.submit(submission))
    }

    private mutating func take(_ commit: Commit, on request: UInt64) {
        guard let subscription = requests[request]?.ephemeral else { return }
        switch subscription.outcome(of: commit, by: common.author) {
        case .committed:
            leave(
                request,
                .committed(revision: commit.revision, subscription.notices, since: subscription.commits(with: commit)))
        case .refused(let reason): leave(request, .rejected(reason))
        case .usedTwice:
            common.noteShared()
            leave(request, .stale)
        case nil: requests[request]?.ephemeral?.pass(commit)
        }
    }

    /// Ends an ephemeral subscription with its answer. A refused edit is kept if its person has been told that the
    /// outcome of the edit is unknown.
    private mutating func leave(_ request: UInt64, _ answer: Answer) {
        guard let subscription = requests[request]?.ephemeral else { return }
        if let list = subscription.list { common.send(.unsubscribe(list: list)) }
        if case .committed(_, let notices, _) = answer {
            common.noteCommitted()
            for case let loss? in notices.map(Loss.init) {
                common.note(loss, of: subscription.name, subscription.excerpt.logID)
            }
        }
        if let sequence = subscription.sequence, case .edit(let delta, _, _) = subscription.purpose {
            common.answered(sequence, in: subscription.excerpt.logID, answer)
            if subscription.isResumed, let reason = answer.refusal,
                let loss = Loss(.rejected(reason, delta, on: subscription.excerpt.hand))
            {
                common.note(loss, of: subscription.name, subscription.excerpt.logID)
            }
        }
        self.answer(request, answer)
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
