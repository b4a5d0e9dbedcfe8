import HandCore
import HandWire

extension ClientMachine {
    /// Starts connecting, and reconnects until `stop`.
    public mutating func start() {
        switch state {
        case .stopped, .heldUp, .waiting: break
        case .changingID, .connecting, .greeting, .ready: return
        }
        refusal = nil
        guard case .allowed = idChange else {
            state = .changingID(wait: 0)
            return
        }
        servers.begin()
        connect()
    }

    private mutating func connect() {
        state = .connecting
        report(.connecting(to: servers.name))
        common.emit(.connect(to: servers.target))
    }

    /// Reports the status of the connection, to the followers of each list too.
    mutating func report(_ status: Status) {
        common.emit(.status(status))
        for name in subscriptions.keys.sorted() { common.emit(.list(name, .status(status))) }
    }

    /// Call this when the host's addresses were found; `addresses` is their number.
    public mutating func found(addresses: Int) {
        guard state == .connecting else { return }
        servers.found(addresses: addresses)
        common.emit(.connect(to: servers.target))
    }

    public mutating func connected(now: UInt64) {
        guard state == .connecting else { return }
        state = .greeting
        lastHeard = now
        reader = FrameReader(limit: Self.welcomeBytes)
        common.send(.hello(common.hello))
        sendWaiting()
    }

    /// Call this when the connection could not be made, or was lost. All pending edits stay.
    public mutating func disconnected(reason: String, now: UInt64) {
        if state.isUp { lost(reason, now: now) }
    }

    /// Call this when the target did not answer within its time limit.
    public mutating func unanswered(now: UInt64) {
        if state.isUp { lost(Self.noAnswer(within: servers.answerTimeout ?? 0), now: now, isHasty: true) }
    }

    private static func noAnswer(within milliseconds: UInt64) -> String { "no answer within \(milliseconds / 1000) s" }

    /// Tries the next server, or waits if all were tried.
    ///
    /// - Parameters:
    ///   - notBefore: milliseconds to wait, as requested by the server.
    ///   - isHasty: whether the server might have answered given more time.
    private mutating func lost(_ reason: String, now: UInt64, notBefore: UInt64 = 0, isHasty: Bool = false) {
        let lasted = state == .ready ? now - min(now, readySince) : 0
        let isOnProbation = violatedAt.map { now < $0 + Self.probation } ?? false
        if lasted >= ServerRound.lasting, !isOnProbation { backoff.reset() }
        switch servers.failed(reason, notBefore: notBefore, isHasty: isHasty, lasted: lasted) {
        case .tryNext:
            forgetConnection(reason, isLast: false)
            connect()
        case .wait(let notBefore, let reason):
            let wait = min(notBefore, Self.longestWait) + backoff.next()
            leave(.waiting(until: now + wait), reason, retryIn: wait)
        }
    }

    /// Closes this connection because of what the server sent or failed to send, and connects again, possibly later.
    mutating func fail(_ reason: String, now: UInt64, notBefore: UInt64 = 0, isHasty: Bool = false) {
        common.emit(.disconnect)
        lost(reason, now: now, notBefore: notBefore, isHasty: isHasty)
    }

    /// Closes the connection because the protocol does not allow what the server sent, and connects again.
    mutating func violated(_ violation: String, now: UInt64) {
        self.violation = violation
        fail(violation, now: now)
        violatedAt = now
    }

    /// Closes the connection for good.
    public mutating func stop(reason: String) {
        if state != .stopped { giveUp(.stopped, reason) }
    }

    mutating func giveUp(_ state: State, _ reason: String, retryIn wait: UInt64? = nil) {
        common.emit(.disconnect)
        leave(state, reason, retryIn: wait)
    }

    /// - Parameter wait: milliseconds until the next attempt; nil if it is unknown whether there will be one.
    private mutating func leave(_ state: State, _ reason: String, retryIn wait: UInt64?) {
        self.state = state
        forgetConnection(reason, isLast: wait == nil || !hasHeard)
        report(.offline(reason: reason, retryIn: wait))
    }

    /// - Parameter isLast: whether there will be no other connection, or perhaps no server.
    private mutating func forgetConnection(_ reason: String, isLast: Bool) {
        common.dropFrames()
        names = [:]
        abandoned = [:]
        for name in subscriptions.keys.sorted() { subscriptions[name]?.lost(&common) }
        for number in requests.keys.sorted() {
            guard let request = requests[number] else { continue }
            let mayBeDone = request.isSent && request.changesLists
            if isLast || mayBeDone || !request.waits {
                answer(number, .disconnected(reason, mayBeDone: mayBeDone))
            } else {
                requests[number]?.isSent = false
                requests[number]?.incoming = nil
                requests[number]?.ephemeral?.disconnected()
            }
        }
    }

    public mutating func timer(now: UInt64) {
        if let keepAgainAt, now >= keepAgainAt {
            self.keepAgainAt = nil
            common.journal?.retry()
        }
        if let idDeadline, now >= idDeadline { changeID() }
        guard let connectionDeadline, now >= connectionDeadline else { return }
        switch state {
        case .waiting: start()
        case .stopped, .heldUp, .changingID, .connecting: break
        case .greeting:
            let answerTimeout = servers.answerTimeout
            let reason = answerTimeout.map(Self.noAnswer) ?? "the server did not answer the hello in time"
            fail(reason, now: now, isHasty: answerTimeout != nil)
        case .ready:
            if now >= lastHeard + idleDeadline {
                fail("the server sent nothing for \(idleDeadline / 1000) s", now: now)
            } else {
                ping(now: now)
            }
        }
    }

    /// Sends a ping, which also measures the latency.
    mutating func ping(now: UInt64) {
        common.send(.ping(now))
        isPinging = true
        nextPing = now + idleDeadline / 3
    }

    /// Handles bytes from the socket.
    public mutating func received(_ bytes: UnsafeRawBufferPointer, now: UInt64) {
        guard state == .greeting || state == .ready else { return }
        lastHeard = now
        (hasHeard, isPinging) = (true, false)
        do {
            // A welcome allows larger messages.
            var frames = reader.frames(of: bytes)
            while state == .greeting || state == .ready, let body = try frames.next(limit: frameLimit) {
                handle(try DownMessage(body), now: now)
                boundRepeats(now: now)
            }
            reader.limit = frameLimit
            reader.keep(frames)
        } catch {
            misread("the server sent something that Protocol.md does not allow: \(error)", now: now)
        }
    }

    /// Closes the connection because nobody understands the bytes on it. One of the two programs is at fault, which
    /// another connection does not change: after a few, the client gives up.
    private mutating func misread(_ problem: String, now: UInt64) {
        misreadAt = misreadAt.filter { $0 + Self.misreadingPeriod > now } + [now]
        guard misreadAt.count > Self.maxMisreadings else { return violated(problem, now: now) }
        (violation, refusal) = (problem, .malformedMessage)
        stop(reason: problem)
    }

    private var frameLimit: Int {
        guard state == .ready, let welcome else { return Self.welcomeBytes }
        return min(max(Self.frameBytes.lowerBound, welcome.frameBytes), Self.frameBytes.upperBound)
    }

    private mutating func boundRepeats(now: UInt64) {
        let repeated = common.takeRepeats()
        guard repeated > 0 else { return }
        repeats.spend(repeated, now: now)
        guard repeats.isOverdrawn, state == .ready else { return }
        violated(Self.disagreement, now: now)
    }

    /// The violation of a server whose answers make the client ask again and again.
    package static let disagreement =
        "the server makes this client repeat itself: what it sends does not agree with itself"
}
