import HandCore
import HandWire

extension ClientMachine {
    mutating func handle(_ message: DownMessage, now: UInt64) {
        if !requests.isEmpty, heardOnEphemeral(message) { return }
        switch message {
        case .welcome(let welcome): greeted(by: welcome, now: now)
        case .subscribed(let subscribed): start(subscribed, now: now)
        case .chunk(let request, let items): take(items, of: request, now: now)
        case .commit(let list, let commit):
            if let name = followed(list) { subscriptions[name]?.take(commit, &common) }
        case .rejected(let list, let sequence, let reason):
            // A rejection counts even while the client subscribes again: the server does not store rejections.
            if let name = names[list] { subscriptions[name]?.rejected(sequence: sequence, reason, &common) }
        case .stale(let list, let sequence, let head):
            guard let name = followed(list),
                subscriptions[name]?.stale(sequence: sequence, head: head, &common) == false
            else { return }
            violated("the server says that revision \(head) of '\(name)' is too old, and the newest", now: now)
        case .acknowledged(let list, let sequence, let revision):
            guard let name = followed(list) else { return }
            subscriptions[name]?.acknowledged(sequence: sequence, revision: revision, &common)
        case .presence(let list, let entries):
            if let name = names[list] { take(entries, on: name, now: now) }
        case .renamed(let list, let name): renamed(list, to: name)
        case .granted(let granted): self.granted = granted
        case .pong(let sent): if sent <= now { common.emit(.latency(now - sent)) }
        case .done(let request): respond(request, .done, now: now)
        case .lists(let request, let page, let hasMore): respond(request, .lists(page, hasMore: hasMore), now: now)
        case .deletedLists(let request, let page, let hasMore):
            respond(request, .deletedLists(page, hasMore: hasMore), now: now)
        case .history(let request, let commits, let people):
            respond(request, .history(commits, people: people), now: now)
        case .excerpt(let request, let excerpt): respond(request, .excerpt(excerpt), now: now)
        case .state(let request, let revision, let count, let digest, let rules):
            requests[request]?.incoming = IncomingSnapshot(
                hand: Hand(rules: rules), revision: revision, count: count, digest: digest)
            takeFetched(Hand(), of: request, now: now)
        case .error(let code, let request, let list, let retryAfter, let text):
            let kept = String(text.unicodeScalars.prefix(Self.maxErrorText))
            failed(code, request: request, list: list, retryAfter: retryAfter, kept, now: now)
        }
    }

    private mutating func greeted(by welcome: DownMessage.Welcome, now: UInt64) {
        guard state == .greeting else { return }
        let hello = common.hello
        guard (hello.lowestVersion...hello.highestVersion).contains(welcome.version) else {
            refusal = .versionNotSupported
            let older = welcome.version < hello.lowestVersion ? "the server" : "this program"
            return stop(
                reason: "the server answers in version \(welcome.version) of the protocol, expected "
                    + "\(WireError.versions(hello.lowestVersion, hello.highestVersion)). Update \(older)")
        }
        state = .ready
        common.author = welcome.author
        (self.welcome, granted) = (welcome, nil)
        idleDeadline = min(max(1_000, welcome.idleDeadline), 86_400_000)
        servers.succeeded()
        readySince = now
        common.journal?.add(.met(author: welcome.author, person: hello.person), isUrgent: false)
        report(.online)
        nextPing = now + idleDeadline / 3
        if !subscriptions.isEmpty { ping(now: now) }
        for name in subscriptions.keys.sorted() {
            subscriptions[name]?.noteAuthor(&common)
            subscriptions[name]?.subscribe(&common)
        }
        sendWaiting()
    }

    // MARK: Subscriptions

    private mutating func start(_ subscribed: DownMessage.Subscribed, now: UInt64) {
        if let name = abandoned.removeValue(forKey: subscribed.request) {
            // If the list was opened again, its new subscription replaces this one.
            if subscriptions[name] == nil { unsubscribe(from: subscribed.list) }
            return
        }
        guard let name = subscriptions.first(where: { $0.value.request == subscribed.request })?.key else { return }
        if case .newest = subscribed.start {
            return violated("the server sends no items of '\(name)', and the client has none", now: now)
        }
        if isOther(subscribed, than: name) { return turnBack(from: subscribed, called: name) }
        names[subscribed.list] = name
        subscriptions[name]?.entered(subscribed, &common)
        if case .snapshot(_, 0, _) = subscribed.start { take(Hand(), of: subscribed.request, now: now) }
    }

    private mutating func take(_ items: Hand, of request: RequestNumber, now: UInt64) {
        guard let name = subscriptions.first(where: { $0.value.request == request && $0.value.isReceiving })?.key
        else { return takeFetched(items, of: request, now: now) }
        if subscriptions[name]?.take(items, &common) == false { violated("a snapshot arrived damaged", now: now) }
    }

    /// Returns the name of the list with that number, or nil until the server has answered its latest subscription.
    private func followed(_ list: ListNumber) -> String? {
        names[list].flatMap { subscriptions[$0]?.list == list ? $0 : nil }
    }

    /// Handles the presence of people. People that a server invents must not fill the memory.
    private mutating func take(_ people: [DownMessage.Presence], on name: String, now: UInt64) {
        presence.spend(people.count, now: now)
        let count = subscriptions[name]?.note(people) ?? 0
        if count > Self.maxPeople || presence.isOverdrawn {
            return violated("the server reports more people on '\(name)' than can be there", now: now)
        }
        common.emit(.list(name, .presence(people)))
    }

    // MARK: Requests

    private mutating func takeFetched(_ new: Hand, of request: RequestNumber, now: UInt64) {
        requests[request]?.incoming?.hand.append(new)
        guard let incoming = requests[request]?.incoming, incoming.isComplete else { return }
        if let hand = incoming.assembled() {
            respond(request, .state(hand, revision: incoming.revision), now: now)
        } else {
            answer(request, .error(.internalError, "the list arrived damaged"))
            violated("a list arrived damaged", now: now)
        }
    }

    mutating func answer(_ request: RequestNumber, _ answer: Answer) {
        guard requests.removeValue(forKey: request) != nil else { return }
        common.emit(.answer(request: request, answer))
    }

    /// Whether to connect again after another connection has replaced this one. A delayed hello of this client itself
    /// can cause that occasionally; another program with the same id does it repeatedly. In that case this client
    /// returns once more, to continue under another id; before that, it returns to learn the outcome of the edits in
    /// flight.
    private mutating func mayReturn(now: UInt64) -> Bool {
        replacedAt = replacedAt.filter { $0 + Self.replacementPeriod > now } + [now]
        if replacedAt.count <= Self.maxReplacements { return true }
        defer { common.noteShared() }
        return hasInFlight ? replacedAt.count <= Self.maxReplacements * 4 : !isShared
    }

    /// Returns advice for the user, which the server may not give.
    private static func noCommonVersion(_ text: String) -> String {
        "this program and the server speak no version of the protocol in common; update the older of the two "
            + "(the server says: \(text))"
    }

    /// The most characters of an error's text that are passed on: a frame has room for millions.
    private static let maxErrorText = 2_000

    private mutating func failed(
        _ code: ErrorCode, request: RequestNumber, list: ListNumber, retryAfter: UInt64, _ text: String, now: UInt64
    ) {
        if code.closes {
            guard code.mayRetry, code != .replaced || mayReturn(now: now) else {
                refusal = code
                return stop(reason: code == .versionNotSupported ? Self.noCommonVersion(text) : text)
            }
            return fail(text, now: now, notBefore: retryAfter)
        }
        if code == .notSubscribed {
            // A submission may have crossed the end of its subscription: it goes out again after the next one begins.
            guard let name = names[list] else { return }
            common.note(.asked)
            subscriptions[name]?.subscribe(isAnew: true, &common)
            return
        }
        if request == 0 { return common.emit(.warning(code, text)) }
        abandoned[request] = nil
        if requests[request] != nil { return answer(request, .error(code, text)) }
        guard let name = subscriptions.first(where: { $0.value.request == request })?.key else { return }
        if code == .noSuchList { missing(name, text) } else { drop(name, .refused(code, text)) }
    }
}
