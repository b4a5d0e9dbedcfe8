import EventLoop
import HandCore
import HandSync
import HandWire

/// A client without a copy of the list. It only knows the list's length and revision, edits by position, and reads only
/// the headers of commits.
final class LightClient: LoadClient {
    private let number: Int
    private let list: String
    private let meter: Meter
    private unowned let player: Player
    private var wire: ServerConnection?
    private var servers: ServerRound
    /// When the server must have sent its welcome, if there are other servers.
    private var welcomeDeadline: UInt64?
    private let loop: Loop
    private var scanner = FrameScanner()
    private var random: SplitMix64
    private var isStalled = false
    private let id: ClientID
    private let token: String?
    private var author: AuthorID = 0
    private var wanted: FrameScanner.Wanted
    /// The list's number on this connection, once it is subscribed to.
    private var listNumber: ListNumber?
    private var logID: UInt64 = 0
    private var count = 0
    private(set) var revision = 0
    private(set) var digest: UInt64?
    private var sequence: SequenceNumber = 0
    /// How many items of the snapshot have not arrived yet.
    private var missing = 0
    private var pending: (submission: Submission, madeAt: UInt64)?
    /// Whether the connection was lost unintentionally; the next tick connects again.
    private var isLost = false
    private var nextPing: UInt64 = 0
    /// The milliseconds between pings. By default a server closes a connection after 45 s of silence.
    private static let pingInterval: UInt64 = 10_000

    init(
        _ player: Player, _ loop: Loop, _ plan: LoadPlan, to servers: ServerOrder, _ meter: Meter, seed: UInt64
    ) {
        self.player = player
        (number, list) = (player.number, player.list)
        self.meter = meter
        self.loop = loop
        token = plan.token
        self.servers = ServerRound(servers.names, list: servers.list, maxTimeout: Self.pingInterval)
        random = SplitMix64(seed: seed)
        id = .random(using: &random)
        wanted = .init(author: 0, oneOf: meter.stride, offset: number)
        wire = ServerConnection(loop, to: servers.destinations) { [unowned self] in received($0) }
    }

    var isSettled: Bool { pending == nil }

    func start() {
        isLost = false
        connect()
    }

    private func connect() {
        welcomeDeadline = nil
        let target = servers.target
        wire?.connect(to: target.host, address: target.address, within: target.timeout)
    }

    func close() { goOffline() }

    func goOffline() {
        isLost = false
        wire?.close()
        listNumber = nil
        welcomeDeadline = nil
        servers.begin()
    }

    func goOnline() { start() }

    func stall() {
        isStalled = true
        wire?.stopReading()
    }

    func resume() {
        isStalled = false
        wire?.resumeReading()
    }

    func tick(now: UInt64) {
        if isLost, !isStalled { start() }
        if let welcomeDeadline, now >= welcomeDeadline, !isStalled {
            wire?.close()
            lost(Self.noAnswer, isHasty: true)
        }
        guard listNumber != nil, !isStalled, now >= nextPing else { return }
        nextPing = now + Self.pingInterval
        send(UpMessage.ping(now).frame)
    }

    // MARK: Editing

    func undo(since time: UInt64) -> Bool { false }
    func redo(since time: UInt64) -> Bool { false }

    func edit(_ edit: ScriptRun.Edit, since time: UInt64) -> Bool {
        guard let listNumber, pending == nil, let delta = edit.delta(count: count, itemID: .scripted(using: &random))
        else { return false }
        sequence = sequence.next
        let submission = Submission(list: listNumber, base: revision, sequence: sequence, delta: delta)
        submit(submission, since: time)
        return true
    }

    private func submit(_ submission: Submission, since time: UInt64) {
        pending = (submission, time)
        meter.submitted(submission.sequence, by: author, at: time)
        send(UpMessage.submit(submission).frame)
    }

    // MARK: Receiving

    private func send(_ bytes: [UInt8]) {
        guard let wire, wire.isOpen else { return }
        meter.sent(bytes: bytes.count)
        wire.write(bytes)
    }

    private func received(_ event: ServerConnection.Event) {
        switch event {
        case .found(let addresses):
            servers.found(addresses: addresses)
            connect()
        case .opened:
            welcomeDeadline = servers.answerTimeout.map { loop.now + $0 }
            scanner = FrameScanner()
            let hello = UpMessage.Hello(
                client: id, person: "load \(number + 1)", program: "hand load", token: token)
            let subscribe = UpMessage.Subscribe(
                request: 1, name: list, logID: logID, revision: revision, wantsPeople: false)
            send(UpMessage.hello(hello).frame + UpMessage.subscribe(subscribe).frame)
        case .lost(let reason): lost(reason, isHasty: false)
        case .unanswered: lost(Self.noAnswer, isHasty: true)
        case .bytes(let bytes): read(bytes)
        case .drained: break
        }
    }

    static let noAnswer = "the server does not answer"

    /// Tries the next server at once, or at the next tick if all were tried.
    private func lost(_ reason: String, isHasty: Bool) {
        listNumber = nil
        player.hasLost(reason)
        if servers.failed(reason, isHasty: isHasty) == .tryNext { connect() } else { isLost = true }
    }

    private func read(_ bytes: UnsafeRawBufferPointer) {
        let now = Loop.monotonicNanoseconds
        var isSettled = false
        do {
            let commits = try scanner.scan(bytes, after: revision, wanted) { (body, commits) throws(WireError) in
                if body[0] == DownMessage.Kind.commit.rawValue {
                    let header = try CommitHeader(body)
                    let isAnswer =
                        header.isRefusal && header.author == author
                        ? take(try DownMessage(body), now) : take(header, now)
                    if isAnswer { isSettled = true }
                } else if body[0] == DownMessage.Kind.chunk.rawValue {
                    arrived(try DownMessage.countOfChunk(body))
                } else {
                    revision = commits.revision
                    if take(try DownMessage(body), now) { isSettled = true }
                    commits.revision = revision
                }
            }
            revision = commits.revision
            if let newest = commits.newest { (count, digest) = (newest.count, newest.digest) }
            if !commits.isInOrder {
                meter.failed("order", "client \(number + 1): a revision is missing before \(revision)")
            }
            meter.received(bytes: bytes.count, commits: commits.count)
        } catch {
            meter.failed("malformed", "client \(number + 1): the server sent \(error)")
        }
        if isSettled { player.isSettled() }
    }

    /// Processes a commit; returns whether it answers the submission in flight.
    private func take(_ commit: CommitHeader, _ now: UInt64) -> Bool {
        if commit.author == author { return acknowledged(commit.sequence, now) }
        meter.saw(author: commit.author, sequence: commit.sequence, now: now)
        return false
    }

    /// Completes the submission in flight if the submission has that sequence; returns whether it has.
    private func acknowledged(_ sequence: SequenceNumber, _ now: UInt64) -> Bool {
        guard let mine = pending, mine.submission.sequence == sequence else { return false }
        pending = nil
        meter.acknowledged(since: mine.madeAt, now: now)
        return true
    }

    private func refused(_ sequence: SequenceNumber, _ reason: Rejection) -> Bool {
        guard pending?.submission.sequence == sequence else { return false }
        pending = nil
        meter.failed("rejected: \(reason.name)", "client \(number + 1): \(reason)")
        return true
    }

    private func take(_ message: DownMessage, _ now: UInt64) -> Bool {
        switch message {
        case .welcome(let welcome):
            author = welcome.author
            wanted = .init(author: author, oneOf: meter.stride, offset: number)
            welcomeDeadline = nil
            servers.succeeded()
            meter.connected()
        case .subscribed(let subscribed): return began(subscribed, now)
        case .rejected(_, let sequence, let reason):
            return refused(sequence, reason)
        case .commit(_, let commit):
            if let reason = commit.refusal { return refused(commit.sequence, reason) }
        case .stale(_, let sequence, let head):
            guard let mine = pending?.submission, mine.sequence == sequence else { return false }
            // Without the list the edit cannot be transformed; any position at the newest revision will do.
            let base = max(revision, head)
            submit(
                Submission(list: mine.list, base: base, sequence: sequence, delta: mine.delta),
                since: pending?.madeAt ?? now)
        case .acknowledged(_, let sequence, _): return acknowledged(sequence, now)
        case .error(let code, _, _, _, let text):
            meter.failed("\(code)", "client \(number + 1): \(text)")
        case .chunk, .presence, .renamed, .granted, .pong, .done, .lists, .deletedLists, .history, .state, .excerpt:
            break
        }
        return false
    }

    /// Counts arrived items of the snapshot.
    private func arrived(_ count: Int) {
        missing -= count
        if missing == 0 { player.isReady() }
    }

    private func began(_ subscribed: DownMessage.Subscribed, _ now: UInt64) -> Bool {
        listNumber = subscribed.list
        logID = subscribed.logID
        missing = 0
        if case .snapshot(let revision, let count, let digest) = subscribed.start {
            (self.revision, self.count, self.digest) = (revision, count, digest)
            missing = count
        }
        var isSettled = false
        if let mine = pending?.submission {
            if mine.sequence == subscribed.lastSequence, subscribed.isLastRefused {
                isSettled = refused(mine.sequence, .reasonForgotten)
            } else if mine.sequence <= subscribed.lastSequence {
                isSettled = acknowledged(mine.sequence, now)
            } else {
                send(UpMessage.submit(mine).frame)
            }
        }
        sequence = max(sequence, subscribed.lastSequence)
        if missing == 0 { player.isReady() }
        return isSettled
    }
}
