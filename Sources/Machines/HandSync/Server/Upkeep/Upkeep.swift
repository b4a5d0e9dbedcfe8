import HandCore
import HandWire

/// What keeps the store small: its size, the removal of deleted lists, and the clock by which commits are forgotten.
struct Upkeep {
    let retention: Retention
    private let limits: Limits
    private var clock: ClockWatch

    init(_ retention: Retention, _ limits: Limits, at time: Moment) {
        (self.retention, self.limits) = (retention, limits)
        clock = ClockWatch(time)
    }

    /// Notes how the wall clock runs.
    mutating func look(at time: Moment) { clock.look(time) }

    /// The time by which the age of commits is counted; 0 while the clock may be wrong, so that no commit is forgotten
    /// for its age.
    func trimTime(_ time: Moment) -> UInt64 { clock.isSteady(now: time.now) ? time.wallClock : 0 }

    // MARK: The size of the store

    /// How large the store was when it was last asked. The store may grow above the limit for a second.
    private(set) var storeBytes = 0
    private var measurement = Measurement.stale
    /// How many more measurements to wait for before another list is given up because the store is full.
    private var measurementsToWait = 0

    private enum Measurement {
        case fresh
        /// Something was written or forgotten since the last measurement.
        case stale
        /// The store is being asked; `isStale` says whether something was written or forgotten since.
        case underWay(isStale: Bool)
    }

    var isFull: Bool { storeBytes >= limits.storeBytes }

    /// Something was written or forgotten.
    mutating func storeChanged() {
        switch measurement {
        case .fresh, .stale: measurement = .stale
        case .underWay: measurement = .underWay(isStale: true)
        }
    }

    /// Begins a measurement. Returns false if none is needed, or one is under way.
    mutating func beginMeasurement() -> Bool {
        guard case .stale = measurement else { return false }
        measurement = .underWay(isStale: false)
        return true
    }

    /// A measurement has ended; nil if it failed.
    mutating func endMeasurement(_ bytes: Int?) {
        let isStale = if case .underWay(true) = measurement { true } else { false }
        measurement = isStale || bytes == nil ? .stale : .fresh
        guard let bytes else { return }
        storeBytes = bytes
        measurementsToWait = max(0, measurementsToWait - 1)
    }

    // MARK: Deleted lists

    private var removal = Removal.none
    /// When to look again whether there is something to remove.
    private var nextRemoval: UInt64 = 0
    /// The time up to which the store has counted; nil before the first removal of this process.
    private var countedUntil: UInt64?

    private enum Removal {
        case none
        /// Deleted lists are being removed; `makesRoom` says whether one was given up because the store is full.
        case running(makesRoom: Bool)
        /// The list that was given up is not gone yet.
        case halfDone
    }

    /// What follows from a removal.
    enum AfterRemoval { case nothing, removeMore, measure }

    /// Milliseconds between two removals of lists that were deleted long enough ago.
    private static let removalInterval: UInt64 = 60_000
    /// The most passing time that is counted at once, in milliseconds.
    private static let countedInterval = removalInterval + ServerMachine.sweepInterval
    /// The age at which deleted lists are removed. Time is counted only at removals, so the counted age of a list may
    /// include up to a whole interval before its deletion.
    var removalAge: UInt64 { retention.deleted == 0 ? 0 : retention.deleted + Self.countedInterval }

    /// Begins to remove lists that were deleted long enough ago, a part at a time. If the store is full, the list that
    /// was deleted first goes too, and then the next one if the store is still full. Returns nil if nothing is due.
    mutating func beginRemoval(isDue: Bool, now: UInt64) -> SweepDeleted? {
        if case .running = removal { return nil }
        let isHalfDone = if case .halfDone = removal { true } else { false }
        let givesUpOldest = isFull && measurementsToWait == 0 && !isHalfDone
        guard isDue || givesUpOldest || now >= nextRemoval else { return nil }
        removal = .running(makesRoom: givesUpOldest || isHalfDone)
        nextRemoval = now + Self.removalInterval
        let passed = min(now - (countedUntil ?? now), Self.countedInterval)
        return SweepDeleted(kept: removalAge, passed: passed, now: now, givesUpOldest: givesUpOldest)
    }

    /// A removal has ended; `hasMore` is nil if it failed.
    mutating func endRemoval(_ task: SweepDeleted, hasMore: Bool?) -> AfterRemoval {
        let makesRoom = if case .running(true) = removal { true } else { false }
        removal = makesRoom && hasMore != false ? .halfDone : .none
        guard let hasMore else { return .nothing }
        countedUntil = task.now
        guard hasMore || makesRoom else { return .nothing }
        // A measurement that is under way may not show the space that was freed.
        if !hasMore, case .underWay = measurement { measurementsToWait = 2 } else if !hasMore { measurementsToWait = 1 }
        storeChanged()
        return hasMore ? .removeMore : .measure
    }
}

/// Watches whether the wall clock runs evenly. A clock that is wrong when the machine starts is usually set soon.
struct ClockWatch {
    /// Milliseconds from the monotonic clock to the wall clock; it may be negative.
    private var offset: Int64
    private var steadySince: UInt64

    /// A larger difference from one look to the next is a jump.
    private static let tolerance = 5_000
    /// After so many milliseconds without a jump the clock is trusted.
    private static let timeout: UInt64 = 3_600_000

    init(_ time: Moment) {
        offset = Self.offset(time)
        steadySince = time.now
    }

    private static func offset(_ time: Moment) -> Int64 {
        Int64(clamping: time.wallClock) - Int64(clamping: time.now)
    }

    mutating func look(_ time: Moment) {
        let found = Self.offset(time)
        if (found - offset).magnitude > Self.tolerance { steadySince = time.now }
        offset = found
    }

    func isSteady(now: UInt64) -> Bool { now - steadySince >= Self.timeout }
}
