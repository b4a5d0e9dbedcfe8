/// How fast somebody may go: so much a second on average, and the share of some seconds at once.
///
/// Who takes more than there is goes into debt and waits until it is paid: what has come is never thrown away. Whole numbers
/// only, in thousandths, as time is in milliseconds.
package struct TokenBucket {
    /// So much a second.
    let rate: Int
    private let capacity: Int
    private var level: Int
    private var filledAt: UInt64

    /// Seconds whose share may be taken at once.
    private static let burst = 10
    /// So much that nobody gets to it, and that it can be multiplied.
    private static let most = 1 << 40
    /// Milliseconds whose share is there again when somebody goes on: not each message takes a timer.
    private static let quantum = 20

    package init(rate: Int, now: UInt64) {
        self.rate = min(max(1, rate), Self.most)
        capacity = self.rate * 1_000 * Self.burst
        level = capacity
        filledAt = now
    }

    package mutating func spend(_ amount: Int, now: UInt64) {
        fill(now: now)
        level -= min(amount, Self.most) * 1_000
    }

    package mutating func fill(now: UInt64) {
        // Elapsed time beyond what fills it from the deepest debt need not be multiplied.
        let elapsed = Int(min(now - filledAt, UInt64((capacity - level) / rate + 1)))
        filledAt = now
        level = min(capacity, level + rate * elapsed)
    }

    package var isOverdrawn: Bool { level < 0 }
    /// Whether there is not even one left.
    var isEmpty: Bool { level < 1_000 }
    var isHalfFull: Bool { level >= capacity / 2 }
    var isFull: Bool { level >= capacity }

    /// Milliseconds until somebody who waits may go on.
    var wait: UInt64 {
        let goal = rate * Self.quantum
        return level >= goal ? 0 : UInt64((goal - level + rate - 1) / rate)
    }
}
