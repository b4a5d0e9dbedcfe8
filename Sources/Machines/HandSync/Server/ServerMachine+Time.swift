import HandCore
import HandWire

/// Deadlines, and the end.
extension ServerMachine {
    /// Milliseconds between two looks at deadlines.
    static let sweepInterval: UInt64 = 1_000

    /// When `timeout` is to be called.
    package var deadline: UInt64 {
        // Two at a time: with more, `min` makes an array.
        let soon = min(delivery.presenceDue ?? .max, budgets.due ?? .max)
        let later = min(nextSweep, writer.deadline)
        return min(min(soon, later), peers?.due ?? .max)
    }

    /// To be called at the deadline.
    package func timeout(at time: Moment) {
        self.time = time
        if let due = delivery.presenceDue, now >= due { sendPresence() }
        if let due = budgets.due, now >= due { releaseSlowed() }
        if let peers, now >= peers.due { exchangePresence() }
        guard now >= nextSweep else { return }
        nextSweep = now + Self.sweepInterval
        upkeep.look(at: time)
        admission.limiter.sweep(now: now)
        budgets.sweep(now: now)
        measureStore()
        trimIfFull()
        pollHeads()
        sweepDeleted()
        closeStalled()
        for connection in Array(connections) {
            if connection.isUnheard { connection.session.excuse(now: now) }
            carryOut(connection.session.timeout(now: now), for: connection)
            if let deadline = connection.closeDeadline, now >= deadline { drop(connection) }
        }
        for hosted in lists.all where hosted.isIdle(for: limits.unloadDelay, now: now) {
            unload(hosted)
            note(.unloaded(list: hosted.list.name))
        }
    }

    // MARK: Stopping

    /// Takes no more work. Numbered commits are still written. Then all clients are told, and closed after a while.
    package func stop(at time: Moment) {
        guard stage < .stopping else { return }
        self.time = time
        stage = .stopping
        note(.stopping(connections: connections.count))
        for connection in connections { connection.stopHandling() }
    }

    /// Whether the server takes no new connections, and has lost the last one.
    package var hasDrained: Bool { stage == .draining && connections.isEmpty }

    /// Whether the server was stopped, everything is written, and all connections are closed.
    package var hasStopped: Bool { stage == .stopping && isEverythingWritten && connections.isEmpty }

    /// Whether nothing waits to be written. Batches whose outcome the store cannot tell do not count while the store
    /// cannot be reached: their authors were told nothing, and submit them again elsewhere.
    private var isEverythingWritten: Bool { writer.isIdle || isCutOff && writer.isUnsettledOnly }

    /// Once everything is written, a server that stops tells the clients that were not told yet. Returns whether there
    /// were any.
    func sayGoodbye() -> Bool {
        guard isEverythingWritten else { return false }
        let unaware = connections.filter { !$0.session.isClosed }
        for connection in unaware {
            fail(connection, .shuttingDown, "the server is stopping", retryAfter: 200)
        }
        return !unaware.isEmpty
    }
}
