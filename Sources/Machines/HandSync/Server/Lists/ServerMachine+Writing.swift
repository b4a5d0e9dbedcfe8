import HandCore
import HandWire

extension ServerMachine {
    /// Hands what waits over to the store, unless a write is under way.
    func write() {
        switch writer.next(now: now) {
        case nil: break
        case .job(let job):
            if job.question is ChangeName { lists.beginNaming() }
            start(.job(job))
        case .batches(let batches):
            start(.append(AppendBatches(batches: batches, newcomers: admission.newcomers.authors(of: batches))))
        }
    }

    /// The batches that were handed over are durable, or lost.
    func appended(_ batches: [CommitBatch], _ result: Result<[Appended], StoreError>) {
        writer.endBatches()
        defer { writer.forgetWritten() }
        switch result {
        case .success(let outcomes):
            figures.writes += 1
            upkeep.storeChanged()
            var spent: [Authority.Spent] = []
            // By index, so that nothing is copied.
            for index in batches.indices {
                let hosted = writer.written[index]
                if hosted.phase.isGone { continue }
                switch outcomes[index] {
                case .taken: if let large = wrote(batches[index], in: hosted) { spent.append(large) }
                case .conflict(let frames): conflicted(frames, in: hosted)
                case .unknown(let error): unsettled(batches[index], of: hosted, error)
                case .refused(let error): refused(error, [(hosted, batches[index])])
                case .gone: vanished(hosted)
                }
            }
            if !spent.isEmpty { discard((spent, batches)) }
        case .failure(let error):
            refused(error, Array(zip(writer.written, batches)))
        }
    }

    /// The store has not appended batches. The error does not say whether an earlier attempt at one succeeded.
    private func refused(_ error: StoreError, _ batches: [(hosted: ListMachine, batch: CommitBatch)]) {
        let again = batches.filter { $0.hosted.isHandedOverAgain }
        for (hosted, batch) in again { unsettled(batch, of: hosted, error) }
        let first = batches.map(\.hosted).filter { !$0.isHandedOverAgain }
        if !first.isEmpty { failed(error, first) }
    }

    /// Shows commits that have become durable. Returns the values that are no longer needed, if freeing them takes
    /// long.
    private func wrote(_ batch: CommitBatch, in hosted: ListMachine) -> Authority.Spent? {
        figures.commits += batch.entries.count
        // The authors share the work of telling everybody.
        let share = hosted.subscriberCount * Price.delivery / max(1, hosted.authority.inWriting)
        budgets.count(share * hosted.authority.inWriting, isSubmission: true)
        // By index, so that nothing is copied.
        for index in 0..<hosted.authority.inWriting {
            if let author = connections[hosted.authority.pending[index].origin.connection] {
                author.submissionEnded()
                chargeUser(of: author, Budgets.Cost(work: share))
            }
            if !admission.newcomers.isEmpty { admission.stored(hosted.authority.pending[index].mark.author) }
        }
        let spent = hosted.wrote()
        if hosted.phase.isDue { writer.add(hosted) }
        delivery.publish(hosted)
        goOn(with: hosted)
        if let save = hosted.beginSaving(limits) { writer.add(StoreTask(save) { $0.saved($1, $2) }) }
        if !upkeep.retention.keepsEverything { trim(hosted, limits) }
        return spent
    }

    /// Rejects all submissions of a failed write.
    private func failed(_ error: StoreError, _ written: [ListMachine]) {
        note(.writeFailed(error))
        figures.failedWrites += 1
        for hosted in written {
            for origin in loseCommits(of: hosted) {
                guard let connection = connections[origin.connection] else { continue }
                reject(.notStored, list: hosted.list.number, origin.submission.sequence, to: connection)
            }
            hosted.failed()
            goOn(with: hosted)
        }
    }

    /// Undoes all commits that are not durable. Returns their submissions.
    func loseCommits(of hosted: ListMachine) -> [Authority.Origin] {
        let lost = hosted.takeBackPending()
        lost.forEach(lostCommit)
        return lost
    }

    func lostCommit(_ origin: Authority.Origin) {
        connections[origin.connection]?.submissionEnded()
        admission.newcomers.release(origin.author.number)
    }

    /// Continues everything that has waited for a list, in order. Each item may wait again.
    func goOn(with hosted: ListMachine) {
        for next in hosted.takeWaiting() {
            switch next {
            case .enter(let subscribe, let connection): enter(hosted, subscribe, connection)
            case .edit(let edit): make(edit, in: hosted)
            case .submit(let submission, let id):
                guard let connection = connections[id] else { continue }
                connection.setBusy(false)
                take(.again(submission), isNext: true, from: connection)
            case .catchUp(let revision, let frames, let next):
                catchUp(hosted.reference, to: revision, frames, then: next)
            }
        }
    }
}
