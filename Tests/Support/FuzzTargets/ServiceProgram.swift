import HandCore
import HandSync
import HandWire

/// A server, its environment and a few clients. An input is a program of events for them.
final class ServiceProgram {
    private struct Peer {
        let stream: FuzzStream
        let connection: Connection
        var isOver = false
    }

    private let world = FuzzWorld(limits: ServiceProgram.limits)
    private var machine: ServerMachine { world.machine }
    private var peers: [Peer] = []
    private var input: Input

    /// Small limits, so that every one of them is reached.
    private static var limits: Limits {
        var limits = Limits()
        limits.connections = 5
        limits.frameBytes = 64 << 10
        limits.lists = 4
        limits.subscriptions = 2
        limits.userRequests = 1
        limits.userBytes = 100
        limits.userUnfinishedBytes = 1_000
        limits.userSubscriptions = 3
        limits.userLists = 2
        limits.storeBytes = 4_000
        limits.pendingSubmissions = 3
        limits.windowBytes = 2_000
        limits.snapshotCommits = 4
        limits.historyCommits = 3
        limits.chunkBytes = 400
        limits.listsPage = 2
        limits.listItems = 500
        return limits
    }

    static func run(_ bytes: [UInt8]) throws {
        let program = ServiceProgram(bytes)
        for _ in 0..<500 where !program.input.isAtEnd && !program.world.hasEnded && !program.machine.hasStopped {
            try program.step()
        }
        try program.settle()
    }

    private init(_ bytes: [UInt8]) {
        input = Input(bytes)
    }

    // MARK: Events

    private func step() throws {
        let event = input.byte()
        switch event % 32 {
        case 0, 1: accept()
        case 2, 3: send(ServiceMessages.hello(&input).frame)
        case 4: send(input.bytes(input.below(80)))
        case 5: sendMany()
        case 6: end()
        case 7: letTimePass()
        case 8: read(input.flag())
        case 9, 10, 11: world.work(on: input.below(8))
        case 12, 13, 14: world.answer(input.below(8))
        case 15:
            world.work(on: input.below(8), failingWith: input.below(16) == 15 ? .syncFailed(path: "x") : .failed("x"))
        case 16: if input.byte() == 77 { machine.stop(at: world.time) }
        case 17, 18, 19: try answerAll()
        default: send(message())
        }
        if event < 224 { turn() }
        try check()
    }

    private func accept() {
        guard peers.count < 8 else { return }
        let stream = FuzzStream()
        peers.append(Peer(stream: stream, connection: machine.accepted(stream, at: world.time)))
    }

    private func peer() -> Int? { peers.isEmpty ? nil : input.below(peers.count) }

    private func message() -> [UInt8] {
        guard let index = peers.indices.last else { return [] }
        let chosen = min(index, input.below(4))
        return ServiceMessages.any(&input, peers[chosen].stream).frame
    }

    /// Sends the same message many times.
    private func sendMany() {
        let frame = message()
        let count = [2, 20, 100, 400][input.below(4)]
        send(Array(repeatElement(frame, count: min(count, 1 + (60 << 10) / max(1, frame.count))).joined()))
    }

    /// Sends bytes from one client; perhaps not all of them arrive yet.
    private func send(_ bytes: [UInt8]) {
        guard let index = peer() else { return }
        peers[index].stream.incoming += bytes
        let late = input.byte()
        deliver(index, most: late < 230 ? .max : Int(late - 229))
    }

    private func deliver(_ index: Int, most: Int = .max) {
        let stream = peers[index].stream
        var left = most
        while isReadable(peers[index]), left > 0 {
            let piece = Array(stream.incoming.prefix(min(left, 64 << 10)))
            stream.incoming.removeFirst(piece.count)
            left -= piece.count
            piece.withUnsafeBytes { machine.received($0, from: peers[index].connection, at: world.time) }
        }
    }

    private func isReadable(_ peer: Peer) -> Bool {
        peer.stream.isReading && !peer.stream.isClosed && !peer.isOver && !peer.stream.incoming.isEmpty
    }

    private func end() {
        guard let index = peer() else { return }
        end(index)
        if input.flag() { peers.remove(at: index) }
    }

    private func end(_ index: Int) {
        guard !peers[index].isOver, !peers[index].stream.isClosed else { return }
        peers[index].isOver = true
        machine.ended(peers[index].connection, reason: "ended", at: world.time)
    }

    private func letTimePass() {
        let steps: [UInt64] = [1, 99, 100, 1_000, 3_000, 10_000, 45_000, 60_000]
        world.now += steps[input.below(steps.count)]
        if world.now >= machine.deadline { machine.timeout(at: world.time) }
    }

    private func read(_ takes: Bool) {
        guard let index = peer() else { return }
        read(takes, index)
    }

    private func read(_ takes: Bool, _ index: Int) {
        let peer = peers[index]
        guard peer.stream.setTakes(takes), !peer.isOver, !peer.stream.isClosed else { return }
        machine.drained(peer.connection, at: world.time)
    }

    @discardableResult private func turn() -> Bool {
        for index in peers.indices { deliver(index) }
        let hasMore = world.endTurn()
        return hasMore || peers.contains { isReadable($0) }
    }

    private func answerAll() throws {
        var turns = 0
        while !world.isIdle, !world.hasEnded {
            world.work(on: 0)
            world.answer(0)
            turn()
            turns += 1
            try FuzzTargets.check(turns < 5_000, "the server never ends asking the store")
        }
    }

    // MARK: Laws

    private func check() throws {
        if let problem = machine.brokenInvariant() { throw Fault(description: problem) }
        for peer in peers {
            if let fault = peer.stream.fault { throw Fault(description: fault) }
            let held = peer.connection.held
            try FuzzTargets.check(
                held.answerBytes < 2 << 20, "\(held.answerBytes) bytes of answers wait for one client")
            try FuzzTargets.check(held.transfers <= 64, "\(held.transfers) lists wait for one client")
            let isTaken = peer.isOver || peer.stream.isClosed || !peer.stream.isReading
            try FuzzTargets.check(isTaken || held.messages == 0, "\(held.messages) messages wait, and more are read")
        }
    }

    /// Checks that nothing waits forever once everybody reads and the store has answered everything.
    private func settle() throws {
        for index in peers.indices { read(true, index) }
        var turns = 0
        var continues = true
        while continues, !world.hasEnded {
            try answerAll()
            continues = turn() || !world.isIdle
            // Clients that were too fast continue after a while.
            if !continues, machine.load.slowed > 0 {
                world.now = max(world.now, machine.deadline)
                machine.timeout(at: world.time)
                continues = true
            }
            turns += 1
            try FuzzTargets.check(turns < 20_000, "the server never comes to rest")
        }
        try check()
        guard !world.hasEnded, machine.stage < .stopping else { return }
        for peer in peers where !peer.isOver && !peer.stream.isClosed {
            // What comes after the end waits for the deadline.
            let isHeard = peer.stream.isReading || peer.stream.isShutDown
            try FuzzTargets.check(isHeard, "a connection waits for nothing, and is not read from")
        }
        for index in peers.indices { end(index) }
        try answerAll()
        try check()
    }
}
