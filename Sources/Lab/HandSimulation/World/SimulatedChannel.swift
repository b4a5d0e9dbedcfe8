import HandCore

/// One direction of a connection: bytes in order, delivered late and in pieces of any size.
final class SimulatedChannel {
    private let scheduler: Scheduler
    private var random: SplitMix64
    private var bytes: [UInt8] = []
    private var isScheduled = false
    private var isBroken = false
    private var hasEnded = false
    private var isEnding = false

    /// Minimum latency from one end to the other in milliseconds, and the maximum that chance adds.
    let latency: UInt64
    let jitter: UInt64
    /// Bytes under way above which the writer should pause.
    let capacity: Int
    /// Nothing arrives before this time.
    var stalledUntil: UInt64 = 0
    /// Whether bytes are lost on the way without either end being notified.
    var isVanished = false
    var isPaused = false {
        didSet { if !isPaused { schedule() } }
    }
    private(set) var isFull = false

    var onBytes: (UnsafeRawBufferPointer) -> Void = { _ in }
    var onEnd: () -> Void = {}
    var onDrain: () -> Void = {}

    init(_ scheduler: Scheduler, seed: UInt64, latency: UInt64, jitter: UInt64, capacity: Int) {
        self.scheduler = scheduler
        self.latency = latency
        self.jitter = jitter
        self.capacity = capacity
        random = SplitMix64(seed: seed)
    }

    func write(_ new: UnsafeRawBufferPointer) {
        guard !isBroken, !isEnding else { return }
        bytes += new
        if bytes.count > capacity { isFull = true }
        schedule()
    }

    /// Ends the stream after the last byte.
    func end() {
        isEnding = true
        schedule()
    }

    /// Drops everything, including the bytes under way.
    func breakOff() {
        isBroken = true
        bytes = []
        isFull = false
    }

    private func schedule() {
        guard !isScheduled, !isBroken, !isPaused, !hasEnded, !bytes.isEmpty || isEnding else { return }
        isScheduled = true
        let delay = latency + (jitter == 0 ? 0 : UInt64(random.next(below: Int(jitter) + 1)))
        let stall = stalledUntil > scheduler.now ? stalledUntil - scheduler.now : 0
        scheduler.after(max(delay, stall)) { [self] in
            isScheduled = false
            deliver()
        }
    }

    private func deliver() {
        guard !isBroken, !isPaused else { return }
        if scheduler.now < stalledUntil { return schedule() }
        if isVanished {
            // The writer's system buffers the unacknowledged bytes until it is full.
            return
        }
        let count = random.next(below: 3) == 0 ? 1 + random.next(below: max(1, bytes.count)) : bytes.count
        let piece = Array(bytes.prefix(count))
        bytes.removeFirst(min(count, bytes.count))
        if !piece.isEmpty { piece.withUnsafeBytes { onBytes($0) } }
        guard !isBroken else { return }
        if isFull, bytes.count <= capacity / 2 {
            isFull = false
            onDrain()
        }
        if bytes.isEmpty, isEnding, !hasEnded {
            hasEnded = true
            onEnd()
        }
        schedule()
    }
}
