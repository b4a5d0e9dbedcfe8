import CLibpq
import Glibc

package enum PostgresOutcome: Sendable {
    /// The transaction was committed: the rows of each statement, and the server's notices.
    case done([PostgresRows], notices: [PostgresError])
    case failed(PostgresError)
    /// The outcome is unknown: the connection was lost, or the answer did not come in time.
    case unknown(PostgresError)
}

extension PostgresConnection {
    /// Runs transactions one after another, without waiting for the answers in between. A failed transaction does not
    /// stop the later ones.
    ///
    /// - Parameter transactions: the statements of each transaction, of which all or none take effect. If the first
    ///   statement is `BEGIN`, the transaction stays open until `COMMIT`.
    /// - Returns: the outcome of each.
    package func run(_ transactions: [[PostgresCall]], by deadline: Deadline) -> [PostgresOutcome] {
        start(transactions)
        return finish(by: deadline)
    }

    /// Sends transactions as far as the socket takes them; `finish` does the rest. Between the two calls, the caller
    /// can start transactions on other connections.
    package func start(_ transactions: [[PostgresCall]]) {
        underWay = UnderWay(counts: transactions.map(\.count))
        do throws(PostgresError) {
            guard !isAbandoned, PQstatus(handle) == CONNECTION_OK else { throw failure() }
            _ = takeNotices()
            underWay.prepared = try prepare(transactions)
            for transaction in transactions { try send(transaction) }
            guard PQflush(handle) >= 0 else { throw failure() }
        } catch {
            underWay.complaint = error
        }
    }

    /// Waits for the transactions that were started.
    ///
    /// - Returns: the outcome of each.
    package func finish(by deadline: Deadline) -> [PostgresOutcome] {
        var outcomes: [PostgresOutcome] = []
        let underWay = underWay
        do throws(PostgresError) {
            if let complaint = underWay.complaint { throw complaint }
            if underWay.prepared > 0 { try finishPreparing(underWay.prepared, by: deadline) }
            for count in underWay.counts { outcomes.append(try outcome(count, by: deadline)) }
            // There is no further result, but libpq becomes idle only when it has returned nil.
            if let result = PQgetResult(handle) { PQclear(result) }
        } catch {
            isAbandoned = true
            while outcomes.count < underWay.counts.count { outcomes.append(.unknown(error)) }
        }
        return outcomes
    }

    /// Runs statements as one transaction.
    ///
    /// - Throws: `PostgresError`. If the error `isAboutConnection`, the transaction may have been committed all the
    ///   same.
    package func run(_ calls: [PostgresCall], by deadline: Deadline) throws(PostgresError) -> [PostgresRows] {
        switch run([calls], by: deadline)[0] {
        case .done(let rows, _): return rows
        case .failed(let error), .unknown(let error): throw error
        }
    }

    package func run(_ call: PostgresCall, by deadline: Deadline) throws(PostgresError) -> PostgresRows {
        try run([call], by: deadline)[0]
    }

    // MARK: Sending

    /// Makes the server prepare new statements, before anything that might fail.
    ///
    /// - Returns: how many statements were sent to be prepared.
    private func prepare(_ transactions: [[PostgresCall]]) throws(PostgresError) -> Int {
        let known = prepared.count
        for call in transactions.joined() where call.isKept && prepared[call.sql] == nil {
            let name = "s\(prepared.count)"
            guard PQsendPrepare(handle, name, call.sql, 0, nil) == 1 else { throw failure() }
            // If preparing fails, the connection is not used again.
            prepared[call.sql] = name
        }
        guard prepared.count > known else { return 0 }
        guard PQpipelineSync(handle) == 1 else { throw failure() }
        return prepared.count - known
    }

    private func send(_ transaction: [PostgresCall]) throws(PostgresError) {
        for call in transaction {
            let sent = call.withParameters { count, values, lengths, formats in
                if call.isKept, let name = prepared[call.sql] {
                    return PQsendQueryPrepared(handle, name, count, values, lengths, formats, 1)
                }
                return PQsendQueryParams(handle, call.sql, count, nil, values, lengths, formats, 1)
            }
            guard sent == 1 else { throw failure() }
        }
        guard PQpipelineSync(handle) == 1 else { throw failure() }
    }

    // MARK: Receiving

    private func finishPreparing(_ count: Int, by deadline: Deadline) throws(PostgresError) {
        switch try outcome(count, by: deadline) {
        case .done: break
        case .failed(let error), .unknown(let error): throw error
        }
    }

    /// Receives the answers of one transaction.
    ///
    /// - Throws: if the outcome is unknown.
    private func outcome(_ count: Int, by deadline: Deadline) throws(PostgresError) -> PostgresOutcome {
        var rows: [PostgresRows] = []
        var complaint: PostgresError?
        while true {
            guard let result = try nextResult(by: deadline, complaint) else { continue }
            switch PQresultStatus(result) {
            case PGRES_PIPELINE_SYNC:
                PQclear(result)
                let notices = takeNotices()
                if let complaint {
                    // A server that no longer accepts writes is not used again.
                    if complaint.isAboutConnection { isAbandoned = true }
                    return .failed(complaint)
                }
                guard rows.count == count else { throw .lost("\(host) answered \(rows.count) of \(count) statements") }
                return .done(rows, notices: notices)
            case PGRES_FATAL_ERROR, PGRES_BAD_RESPONSE:
                // The first error is the cause.
                if complaint == nil { complaint = PostgresError(result: result) }
                PQclear(result)
            case PGRES_PIPELINE_ABORTED: PQclear(result)
            default: rows.append(PostgresRows(owning: result))
            }
        }
    }

    /// Returns the next result; nil between two statements.
    private func nextResult(
        by deadline: Deadline, _ complaint: PostgresError?
    ) throws(PostgresError) -> OpaquePointer? {
        while PQisBusy(handle) == 1 {
            let isSent = PQflush(handle)
            guard isSent >= 0 else { throw complaint ?? failure() }
            guard wait(for: Int16(isSent == 0 ? POLLIN : POLLIN | POLLOUT), by: deadline) else {
                throw complaint ?? .lost("\(host) did not answer in time")
            }
            guard PQconsumeInput(handle) == 1 else { throw complaint ?? failure() }
        }
        guard let result = PQgetResult(handle) else {
            guard PQstatus(handle) == CONNECTION_OK else { throw complaint ?? failure() }
            return nil
        }
        return result
    }
}
