import FaultyNetwork
import HandCore

/// Causes faults at random moments, one after the other, each for a while.
struct FaultSchedule {
    private enum Event: CaseIterable {
        case good, far, resets, partition, deaf, mute, jam, cut, kill, restart, newClient
    }

    let proxy: FaultyProxy
    let server: SoakServer
    let ledger: SoakLedger
    let workers: Int
    private var random: SplitMix64

    init(_ proxy: FaultyProxy, _ server: SoakServer, _ ledger: SoakLedger, workers: Int, seed: UInt64) {
        self.proxy = proxy
        self.server = server
        self.ledger = ledger
        self.workers = workers
        random = SplitMix64(seed: seed)
    }

    /// Causes a fault. Returns the milliseconds that it lasts.
    ///
    /// - Parameter mayRestart: whether the server may be restarted, too.
    mutating func change(mayRestart: Bool) throws -> Int {
        let event = Event.allCases[random.next(below: Event.allCases.count)]
        var faults = Faults()
        switch event {
        case .good: break
        case .far:
            let latency = UInt64(random.next(below: 300))
            faults.bothWays {
                $0.latency = latency
                $0.jitter = 50
                $0.pieceBytes = 1...1_400
                $0.bytesPerSecond = 300_000
            }
        case .resets:
            faults.resetsPerSecond = 0.05
            faults.halfOpenShare = 0.5
            faults.bothWays {
                $0.resetsPerPiece = 0.002
                $0.jitter = 20
                $0.pieceBytes = 1...500
            }
        case .partition: faults.isPartitioned = true
        case .deaf: faults.down.isSilent = true
        case .mute: faults.up.isSilent = true
        case .jam: faults.bothWays { $0.takesNothing = true }
        case .cut: proxy.resetAll()
        case .kill, .restart:
            if mayRestart { proxy.forward(to: try server.restart(kill: event == .kill)) }
        case .newClient: ledger.replaceClient(of: random.next(below: workers))
        }
        proxy.change { $0 = faults }
        return 200 + random.next(below: faults == Faults() ? 3_000 : 5_000)
    }
}
