import CLibpq
import Foundation

/// What became of a transaction.
package enum PostgresOutcome: Sendable {
    /// It is done: what each statement gave back, and what the server said besides.
    case done([PostgresRows], notices: [PostgresError])
    /// It is undone.
    case failed(PostgresError)
    /// Nobody knows: the connection was lost, or the answer did not come in time.
    case unknown(PostgresError)
}

extension PostgresConnection {
    /// Runs transactions one behind the other, without waiting for an answer in between. Those behind one that failed are run all
    /// the same.
    ///
    /// - Parameter transactions: the statements of each: all of them or none. With `BEGIN` as the first, it goes on until `COMMIT`.
    /// - Returns: what became of each.
    package func run(_ transactions: [[PostgresCall]], by deadline: Deadline) -> [PostgresOutcome] {
        start(transactions)
        return finish(by: deadline)
    }

    /// Sends transactions, as far as there is room on the way; `finish` does the rest. In between others can be started on other
    /// connections.
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
    /// - Returns: what became of each.
    package func finish(by deadline: Deadline) -> [PostgresOutcome] {
        var outcomes: [PostgresOutcome] = []
        let underWay = underWay
        do throws(PostgresError) {
            if let complaint = underWay.complaint { throw complaint }
            if underWay.prepared > 0 { try finishPreparing(underWay.prepared, by: deadline) }
            for count in underWay.counts { outcomes.append(try outcome(count, by: deadline)) }
            // There is none; libpq is idle when it has said so.
            if let result = PQgetResult(handle) { PQclear(result) }
        } catch {
            isAbandoned = true
            while outcomes.count < underWay.counts.count { outcomes.append(.unknown(error)) }
        }
        return outcomes
    }

    /// Runs statements as one transaction.
    ///
    /// - Throws: `PostgresError`. After one that `isAboutConnection`, it may have been done all the same.
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

    /// Has the server prepare what it does not know yet, before anything that might fail.
    ///
    /// - Returns: how many statements were sent for that.
    private func prepare(_ transactions: [[PostgresCall]]) throws(PostgresError) -> Int {
        let known = prepared.count
        for call in transactions.joined() where call.isKept && prepared[call.sql] == nil {
            let name = "s\(prepared.count)"
            guard PQsendPrepare(handle, name, call.sql, 0, nil) == 1 else { throw failure() }
            // Where that fails, the connection is not used again.
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
    /// - Throws: if nobody knows what became of it.
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
                    // A server that takes no writes any more is not asked again.
                    if complaint.isAboutConnection { isAbandoned = true }
                    return .failed(complaint)
                }
                guard rows.count == count else { throw .lost("\(host) answered \(rows.count) of \(count) statements") }
                return .done(rows, notices: notices)
            case PGRES_FATAL_ERROR, PGRES_BAD_RESPONSE:
                // The first says what is wrong.
                if complaint == nil { complaint = PostgresError(result: result) }
                PQclear(result)
            case PGRES_PIPELINE_ABORTED: PQclear(result)
            default: rows.append(PostgresRows(owning: result))
            }
        }
    }

    /// The next result; nil between two statements.
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
