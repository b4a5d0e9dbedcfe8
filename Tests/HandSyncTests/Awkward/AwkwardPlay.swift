import HandCore
import HandSimulation
import HandSync
import HandWire

/// An awkward server and one client of it, in virtual time.
final class AwkwardPlay {
    let world: TestWorld
    let awkwardness: Awkwardness
    private let guests: [GuestDriver]
    private var machine: ClientMachine
    private var wire: AwkwardWire
    private var stream: AwkwardEnd?
    private var connection: Connection?
    private var received: [AwkwardWire.Received] = []
    private var random: SplitMix64
    private var hasSubscribed = false
    private let broken: BrokenClient?
    private let isProvoked: Bool
    /// The connection's number for the judge.
    private var id = 0
    /// When the server closes a connection on which it has sent bytes that nobody understands.
    private var givesUpAt: UInt64?
    private var heldUntil: UInt64?
    private var wasHeld = false
    private(set) var met: [String: Int] = [:]
    private(set) var problem: String?
    /// What the client sent and received, except presence.
    private(set) var trace: [String] = []
    private var reader = FrameReader(limit: Int(Int32.max))

    /// Since when the client has been waiting to connect again.
    private var waitingSince: UInt64?
    /// When the wire sends the next piece.
    private var pausedUntil: UInt64 = 0

    init(seed: UInt64, _ broken: BrokenClient? = nil, provoking provocation: Provocation? = nil) {
        (self.broken, isProvoked) = (broken, provocation != nil)
        world = TestWorld(limits: Awkwardness.limits(Limits()))
        world.retention = Awkwardness.retention
        awkwardness = Awkwardness(seed: seed, provoking: provocation, largeFrame: 70_000)
        guests = awkwardness.guests.map(GuestDriver.init)
        wire = awkwardness.wire()
        random = SplitMix64(seed: seed)
        machine = ClientMachine(client: ClientID(high: 1, low: seed), person: "Ann", program: "test", seed: seed)
    }

    private func pumpGuests() {
        for guest in guests { _ = guest.pump(world) }
    }

    private func meet(_ name: String) { met[name, default: 0] += 1 }

    func run(edits: Int) {
        let maker = world.connect(99)
        world.settle()
        maker.say(.create(request: 1, name: "list", rules: Awkwardness.rules))
        world.settle()
        maker.end()
        machine.open("list")
        machine.start()
        var wanted: [String] = (1...edits).map { "\($0)" }
        var kept = wanted
        // A broken client may try the same for ever.
        for _ in 0..<(broken == nil ? 200_000 : 20_000) {
            if problem != nil || machine.state == .stopped { return }
            if let broken, awkwardness.judge.verdict.isBroken(broken.fault.breaks) { return }
            if let replica = machine.subscriptions["list"]?.replica, replica.inFlight == nil, let text = wanted.first,
                machine.subscriptions["list"]?.isLive == true
            {
                wanted.removeFirst()
                let item = Item(id: .random(using: &random), content: .note(text))
                let at = random.next(below: replica.view.count + 1)
                do { try machine.edit("list", Delta.inserting([item], at: at, .before)) } catch {
                    // The list is full.
                    kept.removeAll { $0 == text }
                }
                move(replica.view)
            }
            step(&kept)
            if wanted.isEmpty, let subscription = machine.subscriptions["list"], subscription.isLive,
                !subscription.replica.hasPending, received.isEmpty, wire.isEmpty
            {
                check(kept)
                // The person looks at the list for a while.
                let end = world.now + (isProvoked ? 60_000 : 2_500)
                while world.now < end, machine.state != .stopped { step(&kept) }
                return lose("the client leaves", isKnown: true)
            }
        }
        problem = "never came to an end"
    }

    /// Moves an item, and is on it.
    private func move(_ view: Hand) {
        guard let item = view.indices.randomElement(using: &random) else { return }
        machine.setPresence("list", Focus(view[item].id, isEditing: false))
        let gap = random.next(below: view.count + 1)
        try? machine.edit("list", Delta.moving(item..<item + 1, to: gap, .before))
    }

    /// Whether the server stops once the client has left, in less time than it allows other clients.
    func stops() -> Bool {
        lose("the client leaves", isKnown: true)
        world.machine.stop(at: world.time)
        for _ in 0..<1_000 where !world.machine.hasStopped {
            pumpGuests()
            world.settle()
            world.now += 1
        }
        return world.machine.hasStopped
    }

    /// Runs one event of each kind, and advances by a millisecond.
    private func step(_ kept: inout [String]) {
        carryOutEffects(&kept)
        advance()
        pumpGuests()
        world.failure = random.next(below: 60) == 0 && hasSubscribed ? .failed("on purpose") : nil
        if world.waiting > 0 { world.answer() } else { world.turn() }
        world.failure = nil
        deliver()
        world.now += idle()
        if case .waiting = machine.state { waitingSince = waitingSince ?? world.now } else { waitingSince = nil }
        let wait = waitingSince.flatMap { since in broken?.wait.map { since + $0 } }
        if let deadline = machine.deadline, world.now >= wait ?? deadline {
            machine.timer(now: max(deadline, world.now))
        }
        if world.now >= world.machine.deadline { world.timeout() }
        carryOutEffects(&kept)
    }

    /// How long nothing happens, at least a millisecond.
    private func idle() -> UInt64 {
        let isHeld = heldUntil.map { world.now < $0 } ?? false
        guard wire.isEmpty || world.now < pausedUntil, received.isEmpty || isHeld || givesUpAt != nil,
            world.waiting == 0, !awkwardness.guests.contains(where: \.isBusy)
        else { return 1 }
        let wait = waitingSince.flatMap { since in broken?.wait.map { since + $0 } }
        let times =
            awkwardness.guests.map(\.machine.deadline) + [
                machine.deadline, wait, heldUntil, givesUpAt, pausedUntil, world.machine.deadline,
            ]
        let next = times.compactMap(\.self).filter { $0 > world.now }.min() ?? 0
        return min(50, max(1, next - min(next, world.now)))
    }

    private func carryOutEffects(_ kept: inout [String]) {
        while let effect = machine.nextEffect() { carryOut(effect, &kept) }
    }

    private func carryOut(_ effect: ClientMachine.Effect, _ kept: inout [String]) {
        switch effect {
        case .connect:
            wire = awkwardness.wire()
            received = []
            reader = FrameReader(limit: Int(Int32.max))
            let end = AwkwardEnd(self)
            stream = end
            connection = world.machine.accepted(end, at: world.time)
            id = awkwardness.judge.connected(now: world.now)
            (heldUntil, givesUpAt, wasHeld) = (nil, nil, false)
            broken?.connected()
            machine.connected(now: world.now)
        case .send(let bytes):
            if let message = try? bytes.dropFirst(UInt64(bytes.count).varintSize).withUnsafeBytes({ try UpMessage($0) })
            {
                trace.append("> \(message)")
            }
            if stream != nil { put(broken?.outgoing(bytes) ?? bytes) }
        case .disconnect: lose("the client leaves", isKnown: true)
        case .list(_, .changed(_, let update)):
            for notice in update.notices {
                switch notice {
                case .rejected(_, let delta, _):
                    let text = delta.insertedItems.first?.content.text
                    kept.removeAll { $0 == text }
                case .diverged(let revision): problem = "diverged at \(revision)"
                default: break
                }
            }
        case .warning(let code, _): meet("\(code)")
        case .list(_, .refused(let code, let text)): problem = "\(code): \(text)"
        case .list(_, .editsWait(let text)): problem = text
        default: break
        }
    }

    /// Brings the client's frames to the server's end.
    private func put(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { bytes in
            awkwardness.judge.received(bytes, on: id, now: world.now)
            received += wire.received(bytes)
        }
    }

    private func advance() {
        guard let stream, let connection, givesUpAt == nil else { return }
        if let heldUntil, world.now < heldUntil {
            for ping in received where ping.isPing {
                ping.bytes.withUnsafeBytes { world.machine.received($0, from: connection, at: world.time) }
            }
            return received.removeAll(where: \.isPing)
        }
        while !stream.isStopped, self.stream === stream, !received.isEmpty {
            if received[0].list != nil, !wasHeld, let quiet = awkwardness.judge.quiet(on: id) {
                (heldUntil, wasHeld) = (world.now + quiet, true)
                return
            }
            if let name = received[0].wanted { awkwardness.enter(name) }
            if received[0].rounds > 0 {
                received[0].rounds -= 1
                return awkwardness.editFirst(received[0])
            }
            received.removeFirst().bytes.withUnsafeBytes {
                world.machine.received($0, from: connection, at: world.time)
            }
        }
    }

    fileprivate func written(_ runs: [FrameRun]) {
        for run in runs { wire.send(run.bytes, on: id, of: awkwardness) }
    }

    private func deliver() {
        guard stream != nil, world.now >= pausedUntil else { return }
        switch wire.next() {
        case .bytes(let bytes, let pause):
            if bytes.isEmpty { pausedUntil = world.now + pause }
            note(bytes)
            bytes.withUnsafeBytes { awkwardness.judge.sent($0, on: id, now: world.now) }
            let changed = broken?.incoming(bytes) ?? (up: [], down: bytes, hangsUp: false)
            changed.down.withUnsafeBytes { machine.received($0, now: world.now) }
            if !changed.up.isEmpty { put(changed.up) }
            if changed.hangsUp { lose("the client hangs up", isKnown: false, isLeft: true) }
        case .end: lose("ended", isKnown: false)
        case .cut:
            meet("cut")
            lose("cut", isKnown: false)
        case .open: givesUpAt = world.now + 10_000
        case nil where givesUpAt == world.now: lose("given up", isKnown: false)
        case nil:
            guard let connection, stream?.isWriting == true else { return }
            stream?.isWriting = false
            world.machine.drained(connection, at: world.time)
        }
    }

    private func lose(_ reason: String, isKnown: Bool, isLeft: Bool = false) {
        guard let connection else { return }
        self.connection = nil
        stream = nil
        awkwardness.judge.ended(id, isLeft: isLeft || isKnown, now: world.now)
        world.machine.ended(connection, reason: reason, at: world.time)
        if !isKnown { machine.disconnected(reason: reason, now: world.now) }
    }

    /// Records what the client receives.
    private func note(_ bytes: [UInt8]) {
        var count = 0
        let replica = machine.subscriptions["list"]?.replica
        bytes.withUnsafeBytes { all in
            try? reader.read(all) { (body) throws(WireError) -> Bool in
                count += 1
                let message = try DownMessage(body)
                if case .presence = message {} else { trace.append("< \(message)") }
                switch message {
                case .stale: meet("stale")
                case .rejected: meet("rejected")
                case .presence: meet("presence")
                case .subscribed(let subscribed):
                    let isAgain = machine.subscriptions["list"]?.list != nil
                    if case .resumed = subscribed.start {
                        meet("resumed")
                    } else if isAgain {
                        meet("lag snapshot")
                    } else if hasSubscribed {
                        meet("resumed by snapshot")
                    }
                    hasSubscribed = true
                case .acknowledged(_, let sequence, let revision):
                    if replica?.inFlight?.sequence == sequence, replica?.revision ?? 0 < revision {
                        meet("acknowledged before its commit")
                    }
                case .commit(_, let commit): if commit.author != machine.author { meet("others’ commits") }
                case .error(let code, 0, _, let wait, _): if wait > 0, code != .slowedDown { meet("\(code)") }
                default: break
                }
                return true
            }
        }
        if count > 1 { meet("several frames") }
        if count == 0 { meet("half a frame") }
    }

    private func check(_ kept: [String]) {
        guard let replica = machine.subscriptions["list"]?.replica else { return }
        let mine = replica.confirmed.map(\.content.text).filter { Int($0) != nil }
        if mine.sorted() != kept.sorted() { problem = "expected \(kept.sorted()), found \(mine.sorted())" }
        let durable = world.machine.durable("list")
        if durable?.revision == replica.revision, durable?.hand.digest != replica.confirmed.digest {
            problem = "another list than the server's"
        }
    }
}

/// The server's end of the client's connection.
private final class AwkwardEnd: ByteStream {
    private unowned let play: AwkwardPlay
    private(set) var isStopped = false

    init(_ play: AwkwardPlay) {
        self.play = play
    }

    let peerDescription = "an awkward client"
    /// As with a socket, writing ends when the server is told.
    var isWriting = false

    func write(_ runs: [FrameRun]) -> Bool {
        isWriting = true
        play.written(runs)
        return false
    }

    func stopReading() { isStopped = true }
    func resumeReading() { isStopped = false }
    func shutdown(because code: ErrorCode) {}
    func close() {}
}
