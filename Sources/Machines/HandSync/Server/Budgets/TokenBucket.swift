/// A budget that grows at a fixed rate, up to the amount of several seconds.
///
/// Spending more than there is makes a debt, and its owner waits until the debt is paid: input is never thrown away.
/// All amounts are whole numbers of thousandths, because time is in milliseconds.
package struct TokenBucket {
    /// The amount per second.
    let rate: Int
    private let capacity: Int
    private var level: Int
    private var filledAt: UInt64

    /// How many seconds' worth may be spent at once.
    private static let burst = 10
    /// More than anybody spends, and small enough to be multiplied.
    private static let maxAmount = 1 << 40
    /// A waiting owner continues when this many milliseconds' worth is there, so that not every message needs a timer.
    private static let quantum = 20

    package init(rate: Int, now: UInt64) {
        self.rate = min(max(1, rate), Self.maxAmount)
        capacity = self.rate * 1_000 * Self.burst
        level = capacity
        filledAt = now
    }

    package mutating func spend(_ amount: Int, now: UInt64) {
        fill(now: now)
        level -= min(amount, Self.maxAmount) * 1_000
    }

    package mutating func fill(now: UInt64) {
        // More time than it takes to fill the bucket makes no difference, and must not overflow.
        let elapsed = Int(min(now - filledAt, UInt64((capacity - level) / rate + 1)))
        filledAt = now
        level = min(capacity, level + rate * elapsed)
    }

    package var isOverdrawn: Bool { level < 0 }
    /// Whether less than one is left.
    var isEmpty: Bool { level < 1_000 }
    var isHalfFull: Bool { level >= capacity / 2 }
    var isFull: Bool { level >= capacity }

    /// Milliseconds until a waiting owner may go on.
    var wait: UInt64 {
        let goal = rate * Self.quantum
        return level >= goal ? 0 : UInt64((goal - level + rate - 1) / rate)
    }
}
