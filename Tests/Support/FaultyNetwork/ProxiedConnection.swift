import EventLoop
import HandCore

/// One connection that was made to the proxy, and the proxy's connection to the server for it.
final class ProxiedConnection {
    /// The ends that notice a reset.
    enum Witness { case both, client, server }

    let number: UInt64
    private let client: TCP
    private var server: TCP?
    private var attempt: Cancellable?
    private var up: Lane?
    private var down: Lane?
    /// Whether the last bytes went to the server.
    private var wasUp = false
    private var faults: Faults
    private var random: SplitMix64
    private let relay: Relay

    init(_ number: UInt64, _ client: TCP, _ relay: Relay) {
        self.number = number
        self.client = client
        self.relay = relay
        faults = relay.faults
        // A generator of its own, so that this connection's faults do not depend on other connections.
        random = SplitMix64(seed: relay.seed &+ number &* 0x9E37_79B9_7F4A_7C15)
        connect()
    }

    var heldBytes: Int { (up?.heldBytes ?? 0) + (down?.heldBytes ?? 0) }

    func adopt(_ faults: Faults) {
        self.faults = faults
        up?.faults = faults.up
        down?.faults = faults.down
        connect()
    }

    /// Decides whether a reset happens in this interval.
    func tick(seconds: Double) {
        if random.chance(faults.resetsPerSecond * seconds) { reset() }
    }

    // MARK: Connecting

    /// During a partition no connection is made. It is made when the partition is over.
    private func connect() {
        guard server == nil, attempt == nil, !faults.up.isSilent, !faults.down.isSilent else { return }
        attempt = TCP.connect(client.loop, to: relay.target) { [weak self] result in
            guard let self else { return (try? result.get())?.close() ?? () }
            switch result {
            case .success(let server): join(server)
            case .failure:
                relay.count { $0.refused += 1 }
                end()
            }
        }
    }

    private func join(_ server: TCP) {
        self.server = server
        let up = Lane(from: client, to: server, faults.up, seed: random.next())
        let down = Lane(from: server, to: client, faults.down, seed: random.next())
        (self.up, self.down) = (up, down)
        for lane in [up, down] {
            lane.onStrike = { [weak self] in self?.relay.struck() }
            lane.onReset = { [weak self] in self?.reset() }
            lane.onFinished = { [weak self] in self?.finishIfDone() }
        }
        up.onDelivered = { [weak self] in self?.delivered($0, isUp: true) }
        down.onDelivered = { [weak self] in self?.delivered($0, isUp: false) }
        // If one stream fails, the other end sees a reset.
        for (lane, other) in [(up, down), (down, up)] {
            lane.start { [weak other] in
                other?.deliver()
            } onFailure: { [weak self] in
                self?.end()
            }
        }
    }

    private func delivered(_ bytes: Int, isUp: Bool) {
        let isAnswer = wasUp && !isUp
        wasUp = isUp
        relay.count { traffic in
            traffic.bytes += bytes
            if isAnswer { traffic.roundTrips += 1 }
        }
    }

    private func finishIfDone() {
        if up?.isFinished == true, down?.isFinished == true { end() }
    }

    // MARK: Ending

    func reset() {
        relay.count { $0.resets += 1 }
        let isHalfOpen = random.chance(faults.halfOpenShare)
        sever(isHalfOpen ? (random.next() & 1 == 0 ? .client : .server) : .both)
    }

    func end() { sever(.both) }

    private func sever(_ witness: Witness) {
        attempt?.cancel()
        for lane in [up, down] { lane?.stop() }
        if witness == .server { forget(client, hasEnded: up?.sourceHasEnded ?? true) } else { client.reset() }
        if let server {
            if witness == .client { forget(server, hasEnded: down?.sourceHasEnded ?? true) } else { server.reset() }
        }
        relay.remove(self)
    }

    /// Makes an end miss the loss: its connection stays open, leads nowhere, and ends when the end gives up.
    private func forget(_ stream: TCP, hasEnded: Bool) {
        if hasEnded { return stream.close() }
        stream.open { _ in
        } onEnd: { [unowned stream] _ in
            stream.close()
        }
    }
}
