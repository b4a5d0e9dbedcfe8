import HandCore
import HandWire

/// A client within the server's own process that edits lists concurrently with the tested client.
final class AwkwardGuest {
    let name: String
    private var machine: ClientMachine
    private var random: SplitMix64
    private var stream = GuestStream()
    private var connection: Connection?
    /// The messages that are waiting to be sent, in order.
    private var outgoing: [[UInt8]] = []
    private var hasStarted = false

    init(_ name: String, seed: UInt64) {
        self.name = name
        random = SplitMix64(seed: seed)
        machine = ClientMachine(
            client: .random(using: &random), person: name, program: "guest", seed: random.next())
    }

    func enter(_ list: String) {
        machine.open(list)
        guard !hasStarted else { return }
        hasStarted = true
        machine.start()
    }

    /// Edits the list for which `isMeant` returns true, given its name and its number.
    func edit(_ isMeant: (String, UInt64) -> Bool) {
        let meant = machine.subscriptions.first { name, subscription in
            subscription.isLive && isMeant(name, subscription.list ?? 0)
        }
        guard let name = meant?.key, let view = meant?.value.replica.view else { return }
        let item = view.isEmpty ? nil : view[random.next(below: view.count)].id
        machine.setPresence(name, item.map { Focus($0, isEditing: random.next(below: 2) == 0) })
        // Ignore edits that the list does not accept.
        try? machine.edit(name, change(of: view))
    }

    /// Returns an insertion, a move or a tick. It neither rewords nor deletes the items of others, so that none of
    /// theirs is missing at the end.
    private func change(of list: Hand) -> Delta {
        let sort = random.next(below: list.count < 4 ? 1 : list.count < 40 ? 6 : 3)
        let (index, gap) = (random.next(below: max(1, list.count)), random.next(below: list.count + 1))
        let side = random.next(below: 2) == 0 ? Side.after : .before
        switch sort {
        case 1: return Delta.moving(index..<index + 1, to: gap, side)
        case 2 where list[index].content.text.hasSuffix(Self.mark): return Delta.deleting(index..<index + 1)
        case 3 where list[index].content.text.hasSuffix(Self.mark):
            return Delta.editing(at: index, list[index].content.rewording(name + Self.mark))
        case 3: return Delta.editing(at: index, Change(done: true))
        default:
            let content: Content = list.rules.hasDeck ? .card(.faceDown) : .note(name + Self.mark)
            let item = Item(id: .random(using: &random), content: content)
            return Delta.inserting([item], at: gap, side)
        }
    }

    private static let mark = " was here"

    /// Carries out what is due, and handles what has arrived. Returns whether there was anything.
    func pump(_ service: Service) -> Bool {
        guard hasStarted else { return false }
        if service.stage == .stopping { return leave(service) }
        let now = service.environment.now
        if let deadline = machine.deadline, now >= deadline { machine.timer(now: now) }
        if stream.isOver, leave(service) {
            machine.disconnected(reason: "closed", now: now)
        }
        let bytes = stream.take()
        bytes.withUnsafeBytes { if !$0.isEmpty { machine.received($0, now: now) } }
        while let effect = machine.nextEffect() { carryOut(effect, service, now) }
        return send(service) || !bytes.isEmpty
    }

    /// Leaves for good: a guest that reconnects would keep the server from stopping.
    private func leave(_ service: Service) -> Bool {
        outgoing = []
        guard let connection else { return false }
        self.connection = nil
        service.ended(connection, reason: "a guest leaves")
        return true
    }

    private func carryOut(_ effect: ClientMachine.Effect, _ service: Service, _ now: UInt64) {
        switch effect {
        case .connect:
            stream = GuestStream()
            connection = service.accepted(stream)
            machine.connected(now: now)
        case .send(let bytes): outgoing.append(bytes)
        case .disconnect: _ = leave(service)
        default: break
        }
    }

    /// Sends messages, but not while the service does not read.
    private func send(_ service: Service) -> Bool {
        var hasSent = false
        while let connection, !stream.isStopped, !stream.isOver, !outgoing.isEmpty {
            outgoing.removeFirst().withUnsafeBytes { service.received($0, from: connection) }
            hasSent = true
        }
        return hasSent
    }
}

/// The server's end of a guest's connection.
package final class GuestStream: ByteStream {
    private var bytes: [UInt8] = []
    private(set) var isOver = false
    private(set) var isStopped = false

    package var peerDescription: String { "a guest of an awkward server" }
    package var isWriting: Bool { false }

    func take() -> [UInt8] {
        defer { bytes = [] }
        return bytes
    }

    package func write(_ runs: [FrameRun]) -> Bool {
        for run in runs { bytes += run.bytes }
        return true
    }

    package func stopReading() { isStopped = true }
    package func resumeReading() { isStopped = false }
    package func shutdown() { isOver = true }
    package func close() { isOver = true }
}
