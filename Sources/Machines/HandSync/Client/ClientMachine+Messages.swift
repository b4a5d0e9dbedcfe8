import HandCore
import HandWire

extension ClientMachine {
    mutating func handle(_ message: DownMessage, now: UInt64) {
        if !visits.isEmpty, heardOnVisit(message) { return }
        switch message {
        case .welcome(let welcome): greeted(by: welcome, now: now)
        case .subscribed(let subscribed): start(subscribed, now: now)
        case .chunk(let request, let items): take(items, of: request, now: now)
        case .commit(let list, let commit): take(commit, of: list)
        case .rejected(let list, let sequence, let reason):
            guard let name = followed(list),
                let update = subscriptions[name]?.replica.rejected(sequence: sequence, reason)
            else { return }
            subscriptions[name]?.unanswered = nil
            journal(name, .rejected(sequence: sequence, reason))
            tell(name, update)
            submit(name)
        case .stale(let list, let sequence, let head):
            guard let name = followed(list) else { return }
            subscriptions[name]?.lastSequence = sequence &- 1
            subscriptions[name]?.unanswered = nil
            subscriptions[name]?.submitFrom = head
            subscriptions[name]?.isCaughtUp = false
            catchUp(name)
        case .acknowledged(let list, let sequence, let revision):
            acknowledged(list: list, sequence: sequence, revision: revision)
        case .presence(let list, let entries):
            if let name = names[list] { emit(.presence(list: name, entries)) }
        case .renamed(let list, let name): renamed(list, to: name)
        case .pong(let sent): if sent <= now { emit(.latency(now - sent)) }
        case .done, .lists, .deletedLists, .history, .state, .excerpt: answered(message)
        case .error(let code, let request, let retryAfter, let text):
            failed(code, request: request, retryAfter: retryAfter, text, now: now)
        }
    }

    private mutating func greeted(
        by welcome: DownMessage.Welcome, now: UInt64
    ) {
        guard state == .greeting else { return }
        state = .ready
        version = welcome.version
        author = welcome.author
        idleDeadline = min(max(1_000, welcome.idleDeadline), 86_400_000)
        backoff.reset()
        journal?.add(.met(author: welcome.author, person: hello.person), isUrgent: false)
        emit(.status(.online))
        ping(now: now)
        for name in subscriptions.keys.sorted() {
            noteAuthor(of: name)
            subscribe(to: name)
        }
        for request in visits.keys.sorted() { enter(request) }
    }

    // MARK: Subscriptions

    private mutating func start(
        _ subscribed: DownMessage.Subscribed, now: UInt64
    ) {
        if let name = abandoned.removeValue(forKey: subscribed.request) {
            // Opened again meanwhile, it has a subscription of its own, which takes the place of this one.
            if subscriptions[name] == nil { send(.unsubscribe(list: subscribed.list)) }
            return
        }
        guard let name = subscriptions.first(where: { $0.value.request == subscribed.request })?.key else { return }
        if isOther(subscribed, than: name) { return turnBack(from: subscribed, called: name) }
        subscriptions[name]?.isSought = false
        // A list that was deleted and made anew has another number; what was sent to the old one is not answered.
        if subscriptions[name]?.list != subscribed.list { subscriptions[name]?.unanswered = nil }
        names[subscribed.list] = name
        subscriptions[name]?.list = subscribed.list
        subscriptions[name]?.lastSequence = subscribed.lastSequence
        subscriptions[name]?.isCaughtUp = false
        journal?.add(.forgetSteps(log: subscribed.logID, after: subscribed.lastSequence), isUrgent: true)
        if let item = subscriptions[name]?.presence {
            send(.presence(list: subscribed.list, item: item))
        }
        switch subscribed.start {
        case .resumed(let head):
            let revision = subscriptions[name]?.replica.revision ?? 0
            subscriptions[name]?.submitFrom = head
            subscriptions[name]?.resumedAt = revision
            catchUp(name)
        case .snapshot(let revision, let count, let digest):
            subscriptions[name]?.incoming = IncomingSnapshot(
                revision: revision, count: count, digest: digest, rules: subscribed.rules, logID: subscribed.logID,
                lastSequence: subscribed.lastSequence)
            if count == 0 { take(Hand(), of: subscribed.request, now: now) }
        }
    }

    /// Reports progress through the missed commits, at each hundredth of a long way.
    private mutating func tellProgress(of name: String) {
        guard let subscription = subscriptions[name] else { return }
        let total = subscription.submitFrom - subscription.resumedAt
        let done = subscription.replica.revision - subscription.resumedAt
        guard total >= Self.longWay, done < total, done % (total / 100) == 0 else { return }
        emit(.progress(list: name, items: done, of: total))
    }

    /// Submits once all commits are here that the server had when the client subscribed. Edits pending on a diverged list
    /// were made on items that the server does not have, so they wait for the snapshot.
    private mutating func catchUp(_ name: String) {
        guard let subscription = subscriptions[name], !subscription.isCaughtUp, subscription.incoming == nil,
            subscription.list != nil, subscription.replica.revision >= subscription.submitFrom,
            !subscription.replica.hasDiverged
        else { return }
        subscriptions[name]?.isCaughtUp = true
        subscriptions[name]?.isLoaded = true
        let isFlying = subscription.replica.inFlight != nil
        if subscription.replica.sequence != subscription.lastSequence &+ (isFlying ? 1 : 0) {
            subscriptions[name]?.replica.caughtUp(lastSequence: subscription.lastSequence)
            journal(name, .caughtUp(lastSequence: subscription.lastSequence))
        }
        tell(name, Replica.Update())
        // What was sent on an earlier connection goes out again; the server knows it by its sequence.
        guard let mine = subscriptions[name]?.replica.inFlight else { return submit(name) }
        if subscription.unanswered != mine.sequence { sendSubmission(of: name) }
    }

    private mutating func take(
        _ items: Hand, of request: UInt64, now: UInt64
    ) {
        guard let name = subscriptions.first(where: { $0.value.request == request && $0.value.incoming != nil })?.key
        else { return takeFetched(items, of: request) }
        subscriptions[name]?.incoming?.hand.append(items)
        guard let incoming = subscriptions[name]?.incoming else { return }
        guard incoming.isComplete else {
            return emit(.progress(list: name, items: incoming.hand.count, of: incoming.count))
        }
        guard let snapshot = incoming.assembled() else { return fail("a snapshot arrived damaged", now: now) }
        subscriptions[name]?.incoming = nil
        let update = subscriptions[name]?.replica.reset(
            to: snapshot, revision: incoming.revision, logID: incoming.logID, lastSequence: incoming.lastSequence)
        subscriptions[name]?.submitFrom = incoming.revision
        if subscriptions[name]?.isJournaled == true { journal?.replace(name) }
        if let update { tell(name, update) }
        catchUp(name)
    }

    private mutating func take(_ commit: Commit, of list: UInt64) {
        guard let name = followed(list), let subscription = subscriptions[name], subscription.incoming == nil else {
            return
        }
        // One that has diverged waits for its snapshot.
        if commit.revision <= subscription.replica.revision || subscription.replica.hasDiverged { return }
        guard var update = subscriptions[name]?.replica.receiveAnything(commit) else { return }
        update.cause = .commit(commit)
        journal(name, .commit(commit))
        tell(name, update)
        if update.isUsedTwice {
            noteShared()
            submitAnew(name, after: commit.sequence)
        }
        if subscriptions[name]?.replica.hasDiverged == true {
            // The number stays; a snapshot of the same list comes under a new request.
            return subscribe(to: name)
        }
        if subscriptions[name]?.isCaughtUp == true { return submit(name) }
        tellProgress(of: name)
        catchUp(name)
    }

    private mutating func acknowledged(
        list: UInt64, sequence: UInt64, revision: Int
    ) {
        guard let name = followed(list), let replica = subscriptions[name]?.replica,
            replica.inFlight?.sequence == sequence, replica.revision >= revision
        else { return }
        subscriptions[name]?.unanswered = nil
        // Too long ago for the server to tell: the last sequence is learnt by subscribing again.
        if revision == 0 { return subscribe(to: name) }
        // Its commit lies in what is here already and was not known as one's own: another program made it.
        noteShared()
        submitAnew(name, after: sequence)
    }

    /// Another program has used the sequence of what is in flight.
    private mutating func submitAnew(_ name: String, after sequence: UInt64) {
        guard subscriptions[name]?.replica.hasDiverged == false else { return }
        subscriptions[name]?.unanswered = nil
        subscriptions[name]?.replica.caughtUp(lastSequence: sequence)
        journal(name, .caughtUp(lastSequence: sequence))
        if subscriptions[name]?.isCaughtUp == true { sendSubmission(of: name) }
    }

    /// The name of the list that has that number; nil while it is not settled from where it goes on.
    private func followed(_ list: UInt64) -> String? {
        names[list].flatMap { subscriptions[$0]?.list == list ? $0 : nil }
    }

    // MARK: Requests

    private mutating func answered(_ message: DownMessage) {
        switch message {
        case .done(let request): answer(request, .done)
        case .lists(let request, let entries, let hasMore): answer(request, .lists(entries, hasMore: hasMore))
        case .deletedLists(let request, let entries, let hasMore):
            answer(request, .deletedLists(entries, hasMore: hasMore))
        case .history(let request, let commits, let people): answer(request, .history(commits, people: people))
        case .excerpt(let request, let excerpt): answer(request, .excerpt(excerpt))
        case .state(let request, let revision, let count, let digest, let rules):
            requests[request]?.incoming = IncomingSnapshot(
                revision: revision, count: count, digest: digest, rules: rules)
            takeFetched(Hand(), of: request)
        default: break
        }
    }

    private mutating func takeFetched(_ new: Hand, of request: UInt64) {
        requests[request]?.incoming?.hand.append(new)
        guard let incoming = requests[request]?.incoming, incoming.isComplete else { return }
        if let hand = incoming.assembled() {
            answer(request, .state(hand, revision: incoming.revision))
        } else {
            answer(request, .error(.internalError, "what was fetched arrived damaged"))
        }
    }

    private mutating func answer(_ request: UInt64, _ answer: Answer) {
        guard requests.removeValue(forKey: request) != nil else { return }
        emit(.answer(request: request, answer))
    }

    /// Whether to connect again after having been replaced. A hello of one's own that was given up and came late may have done
    /// that, now and then; another program with the same id does it again and again. Then this one returns once more, to go on
    /// under another id; before that, to hear what became of what is in flight.
    private mutating func mayReturn(now: UInt64) -> Bool {
        replacedAt = replacedAt.filter { $0 + Self.replacementPeriod > now } + [now]
        if replacedAt.count <= Self.mostReplacements { return true }
        defer { noteShared() }
        return hasInFlight ? replacedAt.count <= Self.mostReplacements * 4 : !isShared
    }

    private mutating func failed(
        _ code: ErrorCode, request: UInt64, retryAfter: UInt64, _ text: String, now: UInt64
    ) {
        if code.closes {
            guard code.mayRetry, code != .replaced || mayReturn(now: now) else {
                refusal = code
                return stop(reason: text)
            }
            return fail(text, now: now, notBefore: retryAfter)
        }
        if code == .notSubscribed {
            // A submission may have crossed the end of its subscription on its way; its person need not know.
            if let name = names[request] { subscribe(to: name) }
            return
        }
        if request == 0 { return emit(.told(code, text)) }
        abandoned[request] = nil
        if requests[request] != nil { return answer(request, .error(code, text)) }
        guard let name = subscriptions.first(where: { $0.value.request == request })?.key else { return }
        if code == .noSuchList { missing(name, text) } else { drop(name, code, text) }
    }
}
