import HandCore
import HandSync

/// The network between a server and a store that several servers share. A request takes time, and so does its answer.
/// If either is lost, the server gives up waiting. The request is executed or not, perhaps later than the server's next
/// request, perhaps after the server's process has ended.
extension SimulatedServer {
    func askShared(_ request: StoreRequest, for machine: ServerMachine) {
        if case .append(let append) = request { return write(append, for: machine) }
        let store = system.store
        self.request {
            request.run(on: store)
        } then: { [unowned self] in
            machine.finished(
                $0 ?? request.run(on: BrokenStore(SimulatedStore.noAnswer)), at: time)
        }
    }

    /// Commits each list in a transaction of its own, in any order.
    private func write(_ append: AppendBatches, for machine: ServerMachine) {
        let store = system.store
        let unknown = Appended.unknown(SimulatedStore.noAnswer)
        var outcomes = append.batches.map { _ in unknown }
        var left = append.batches.count
        for (index, batch) in append.batches.enumerated() {
            let sent = Result { try batch.sent() }
            request { [unowned self] () -> Appended? in
                // Now and then the database refuses everything for a moment, as without room.
                if now % 3_000 < 20 { return .refused(.failed("the simulated database has no room")) }
                let outcome = (try? store.append([sent.get()], by: append.newcomers))?.first
                switch outcome {
                case .conflict: system.reach.note(Reach.Store.missed)
                case .gone: system.reach.note(Reach.Store.gone)
                case .taken, .unknown, .refused, nil: break
                }
                if outcome == .taken, let revision = batch.entries.last?.mark.revision {
                    tell(.commits(list: batch.list, revision: revision))
                }
                return outcome
            } then: { [unowned self] outcome in
                outcomes[index] = (outcome ?? nil) ?? unknown
                left -= 1
                if left == 0 { machine.finished(.appended(append, .success(outcomes)), at: time) }
            }
        }
    }

    /// Asks the store to execute `body`. `then` gets the result, or nil if no answer came in time.
    private func request<Value>(_ body: @escaping () -> Value, then: @escaping (Value?) -> Void) {
        let (mine, faults, isCalm) = (process, system.schedule.storeFaults, system.isCalm)
        var isOver = false
        func end(_ value: Value?) {
            guard !isOver, process == mine, machine != nil else { return }
            isOver = true
            then(value)
            turn()
        }
        func trip() -> UInt64 { UInt64(random.next(below: faults.delay + 1)) }
        func happens(_ percentage: Int) -> Bool { random.next(below: 100) < percentage && !isCalm }
        let (isLost, isLate, isUnanswered) = (happens(faults.lost), happens(faults.late), happens(faults.unanswered))
        if isLost { system.reach.note(Reach.Store.requestLost) }
        if isLate { system.reach.note(Reach.Store.requestLate) }
        if isUnanswered { system.reach.note(Reach.Store.answerLost) }
        if isCutOff { system.reach.note(Reach.Store.cutOff) }
        let (there, back) = (trip() + diskDelay / 2, trip() + diskDelay / 2)
        let delay = isLate ? UInt64(StoreFaults.timeout + random.next(below: 3 * StoreFaults.timeout)) : 0
        if !isLost, !isCutOff {
            system.scheduler.after(there + delay) { [unowned self] in
                let value = body()
                if !isUnanswered, !isCutOff { system.scheduler.after(back) { end(value) } }
            }
        }
        system.scheduler.after(UInt64(StoreFaults.timeout)) { end(nil) }
    }

    /// Sends a hint to the other servers: late, twice or never.
    func tell(_ hint: StoreHint) {
        let faults = system.schedule.storeFaults
        for other in system.servers where other !== self {
            let draw = random.next(below: 100)
            let count = draw < faults.lostHints ? 0 : draw < 2 * faults.lostHints ? 2 : 1
            if count != 1 { system.reach.note(count == 0 ? Reach.Store.hintLost : .hintTwice) }
            for _ in 0..<count {
                system.scheduler.after(UInt64(random.next(below: faults.hintDelay + 1))) {
                    other.machine?.heard(hint, at: other.time)
                    other.turn()
                }
            }
        }
    }
}

extension CommitBatch {
    /// The batch as it is on the network: a late request arrives with its own bytes, although the server may have used
    /// their memory again.
    fileprivate func sent() throws -> CommitBatch {
        let frames = entries.map { StoredFrame(revision: $0.mark.revision, bytes: [UInt8]($0.frame.bytes)) }
        var batch = CommitBatch(list: list, expected: expected, commits: try frames.map { try $0.commit() })
        (batch.logID, batch.digest) = (logID, digest)
        return batch
    }
}
