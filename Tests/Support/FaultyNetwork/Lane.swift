import EventLoop
import HandCore

/// One direction of one connection: reads bytes from one stream, and passes them to another when and as the faults say.
final class Lane {
    /// The number of held bytes at which reading stops. One last read may exceed it.
    static let limit = 256 << 10

    private struct ThreadTransfer {
        /// Nil is the orderly end.
        let bytes: [UInt8]?
        let due: UInt64
    }

    private let source: Stream
    private let target: Stream
    private let timer: Timer
    private var random: SplitMix64
    private var packets: [ThreadTransfer] = []
    private var next = 0
    /// Bytes that were read but not yet passed on.
    private(set) var heldBytes = 0
    /// When the last packet is due, and when the line will have carried it.
    private var lastDue: UInt64 = 0
    private var lineIsFree = 0.0
    private(set) var sourceHasEnded = false
    private(set) var isFinished = false

    var faults: Faults.Direction {
        didSet {
            deliver()
            throttle()
        }
    }
    /// The number of bytes passed on.
    private var handedOn = 0
    private var isStruck = false
    /// Called when the connection reaches the byte at which its faults strike.
    var onStrike: () -> Void = {}
    /// Called when a reset hits a piece.
    var onReset: () -> Void = {}
    /// Called when the end of the source has reached the target.
    var onFinished: () -> Void = {}
    var onDelivered: (Int) -> Void = { _ in }

    init(from source: Stream, to target: Stream, _ faults: Faults.Direction, seed: UInt64) {
        self.source = source
        self.target = target
        self.faults = faults
        timer = Timer(source.loop)
        random = SplitMix64(seed: seed)
    }

    /// Starts to carry bytes.
    ///
    /// - Parameters:
    ///   - onDrain: called when the source has taken what it was given: the other lane may go on.
    ///   - onFailure: called when the source has failed.
    func start(onDrain: @escaping () -> Void, onFailure: @escaping () -> Void) {
        faults.greeting.withUnsafeBytes(take)
        source.open { [weak self] bytes in
            self?.take(bytes)
        } onDrain: {
            onDrain()
        } onEnd: { [weak self] end in
            if end == .eof { self?.takeEnd() } else { onFailure() }
        }
        throttle()
    }

    /// Drops what is under way. The streams stay open.
    func stop() {
        isFinished = true
        timer.close()
        packets = []
        next = 0
        heldBytes = 0
    }

    // MARK: Reading

    private func take(_ bytes: UnsafeRawBufferPointer) {
        guard !isFinished else { return }
        heldBytes += bytes.count
        var start = 0
        while start < bytes.count {
            let size = min(bytes.count - start, pieceSize ?? bytes.count)
            packets.append(ThreadTransfer(bytes: Array(bytes[start..<start + size]), due: dueTime(of: size)))
            start += size
        }
        deliver()
        throttle()
    }

    private func takeEnd() {
        guard !isFinished else { return }
        sourceHasEnded = true
        packets.append(ThreadTransfer(bytes: nil, due: dueTime(of: 0)))
        deliver()
    }

    private var pieceSize: Int? {
        faults.pieceBytes.map { max(1, $0.lowerBound + random.next(below: $0.count)) }
    }

    private func dueTime(of size: Int) -> UInt64 {
        let jitter = faults.jitter == 0 ? 0 : UInt64(random.next(below: Int(faults.jitter) + 1))
        var leaves = Double(source.loop.now)
        if let speed = faults.bytesPerSecond {
            lineIsFree = max(lineIsFree, leaves) + Double(size) * 1000 / Double(speed)
            leaves = lineIsFree
        }
        lastDue = max(lastDue, UInt64(leaves) + faults.latency + jitter)
        return lastDue
    }

    /// Reads only while there is room.
    private func throttle() {
        guard !isFinished else { return }
        if faults.takesNothing || heldBytes >= Self.limit {
            source.stopReading()
        } else {
            source.resumeReading()
        }
    }

    // MARK: Passing on

    func deliver() {
        guard !isFinished, !faults.isSilent, !isStruck else { return }
        // What the target does not accept stays here, and counts as held.
        while next < packets.count, !target.isWriting {
            let packet = packets[next]
            let now = source.loop.now
            guard packet.due <= now else {
                timer.start(after: packet.due - now) { [weak self] in self?.deliver() }
                break
            }
            next += 1
            guard let bytes = packet.bytes else { return finish() }
            if random.chance(faults.resetsPerPiece) { return onReset() }
            heldBytes -= bytes.count
            if let strike = faults.strike, handedOn + bytes.count >= strike.bytes {
                let count = max(0, strike.bytes - handedOn)
                hand(on: Array(bytes.prefix(count)))
                return meet(strike, ThreadTransfer(bytes: Array(bytes.dropFirst(count)), due: packet.due))
            }
            hand(on: bytes)
        }
        // Not done for each packet, so that the cost of one does not depend on the number of packets.
        if next * 2 >= packets.count {
            packets.removeFirst(next)
            next = 0
        }
        throttle()
    }

    private func hand(on bytes: [UInt8]) {
        var bytes = bytes
        for (old, new) in faults.replaced { bytes.replace(old, with: new) }
        handedOn += bytes.count
        onDelivered(bytes.count)
        target.write([OutputBuffer(bytes)])
    }

    private func meet(_ strike: Faults.Strike, _ rest: ThreadTransfer) {
        if case .hold = strike {
            faults.isSilent = true
            next -= 1
            packets[next] = rest
            heldBytes += rest.bytes?.count ?? 0
        } else {
            isStruck = true
        }
        onStrike()
        if case .reset = strike { onReset() }
    }

    private func finish() {
        isFinished = true
        timer.close()
        target.shutdown()
        onFinished()
    }
}

extension SplitMix64 {
    /// Whether an event of that probability happens now.
    mutating func chance(_ probability: Double) -> Bool {
        probability > 0 && Double(next() >> 11) * 0x1p-53 < probability
    }
}
