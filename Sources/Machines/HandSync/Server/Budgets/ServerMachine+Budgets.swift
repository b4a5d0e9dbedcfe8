import HandWire

extension ServerMachine {
    /// The work for all clients together, as it is charged.
    package var workDone: Int { budgets.workDone }
    /// The most work that was charged at once, apart from submissions.
    package var heaviest: Int { budgets.heaviest }

    // MARK: Charging

    /// Charges a connection's user. See `Budgets.charge`.
    func charge(
        _ connection: Connection, requests: Int = 0, bytes: Int = 0, work: Int = 0, isSubmission: Bool = false
    ) {
        budgets.count(work, isSubmission: isSubmission)
        chargeUser(of: connection, Budgets.Cost(requests: requests, bytes: bytes, work: work))
    }

    /// Charges work for a connection that may have gone meanwhile.
    func charge(_ connection: ConnectionID, work: Int, isSubmission: Bool = false) {
        if let connection = connections[connection] {
            return charge(connection, work: work, isSubmission: isSubmission)
        }
        budgets.count(work, isSubmission: isSubmission)
        budgets.charge(departed: connection, work: work, now: now)
    }

    /// Charges work that the caller counts.
    func chargeUser(of connection: Connection, _ cost: Budgets.Cost) {
        switch budgets.charge(connection, cost, now: now) {
        case .goesOn: break
        case .slowed: figures.slowings += 1
        case .warned(let text):
            figures.slowings += 1
            refuse(connection, 0, .slowedDown, text)
        case .closed(let text): fail(connection, .tooFast, text, retryAfter: 10_000)
        }
    }

    func countUnfinished(of connection: Connection) {
        if let text = budgets.countUnfinished(of: connection) {
            fail(connection, .tooFast, text, retryAfter: 10_000)
        }
    }

    // MARK: Time

    /// Resumes reading from connections whose users have budget again.
    func releaseSlowed() {
        for account in budgets.released(now: now) {
            while let connection = account.dequeue() { release(connection) }
        }
        budgets.endRelease(now: now)
    }

    private func release(_ connection: Connection) {
        let pace = connection.pace
        connection.setPace(.free)
        if case .holding(let hello) = pace { return identify(hello, connection) }
        handleWaiting(of: connection)
        // The lists on their way to the connection have waited, too.
        mark(connection)
    }
}
