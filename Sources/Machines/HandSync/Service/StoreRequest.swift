import HandCore
import HandWire

/// What a service asks its store. A request runs on another thread, so it has values only: connections by their ids,
/// lists by `HostedList.Reference`. What has gone when the reply comes is then not found.
///
/// All cases but that of commits are indirect, so that a request and its reply are small.
package enum StoreRequest: Sendable {
    indirect case loadList(LoadList)
    indirect case readHead(ReadHead)
    indirect case readHeads(ReadHeads)
    indirect case findName(FindName)
    indirect case readFrames(ReadFrames)
    indirect case readRevision(ReadRevision)
    indirect case findClients(FindClients)
    indirect case findAuthor(FindAuthor)
    indirect case readLists(ReadLists)
    indirect case readDeleted(ReadDeleted)
    indirect case readHistory(ReadHistory)
    case measure
    indirect case exchangePresence(ExchangePresence)
    case append(AppendBatches)
    indirect case job(WriteJob)

    /// Whether it must not run beside another write. Writes do not wait for requests that only read, of which several
    /// run at a time.
    package var isWrite: Bool {
        switch self {
        case .append, .job: true
        default: false
        }
    }

    /// Asks the store, and returns its reply. It may block for as long as a disk takes.
    ///
    /// - Parameter store: a failure is the reply of a store that cannot be asked.
    package func run(on store: Result<any CommitStore, StoreError>) -> StoreReply {
        do { return try reply(store) } catch { return .ended(error) }
    }

    private func reply(_ store: Result<any CommitStore, StoreError>) throws(StoreError) -> StoreReply {
        switch self {
        case .loadList(let load): .loadedList(load, try store.ask(load.run))
        case .readHead(let read): .head(read, try store.ask(read.run))
        case .readHeads(let read): .heads(read, try store.ask(read.run))
        case .findName(let find): .name(find, try store.ask(find.run))
        case .readFrames(let read): .frames(read, try store.ask(read.run))
        case .readRevision(let read): .revision(read, try store.ask(read.run))
        case .findClients(let find): .clients(find, try store.ask(find.run))
        case .findAuthor(let find): .author(find, try store.ask(find.run))
        case .readLists(let read): .lists(read, try store.ask(read.run))
        case .readDeleted(let read): .deletedLists(read, try store.ask(read.run))
        case .readHistory(let read): .history(read, try store.ask(read.run))
        case .measure: .measured(try store.ask { try $0.size() })
        case .exchangePresence(let exchange): .presence(exchange, try store.ask(exchange.run))
        case .append(let append): .appended(append, try store.ask(append.run))
        case .job(let job): .wrote(try job.reply(store))
        }
    }
}

/// A write other than that of commits. It must not run beside a transaction on the same lists.
package enum WriteJob: Sendable {
    case create(CreateList)
    case changeName(ChangeName)
    case saveSnapshot(SaveSnapshot)
    case trim(Trim)
    case sweep(SweepDeleted)
    case compact(Compact)

    fileprivate func reply(_ store: Result<any CommitStore, StoreError>) throws(StoreError) -> StoreReply.Wrote {
        switch self {
        case .create(let create): .created(create, try store.ask(create.run))
        case .changeName(let change): .changedName(change, try store.ask(change.run))
        case .saveSnapshot(let save): .savedSnapshot(save, try store.ask(save.run))
        case .trim(let trim): .trimmed(trim, try store.ask(trim.run))
        case .sweep(let sweep): .swept(sweep, try store.ask(sweep.run))
        case .compact(let compact): .compacted(try store.ask(compact.run))
        }
    }
}

/// The store's reply to a request, together with the request.
package enum StoreReply: Sendable {
    indirect case loadedList(LoadList, Result<LoadList.Answer, StoreError>)
    indirect case head(ReadHead, Result<(StoredHead?, [StoredFrame]), StoreError>)
    indirect case heads(ReadHeads, Result<[StoredHead], StoreError>)
    indirect case name(FindName, Result<String?, StoreError>)
    indirect case frames(ReadFrames, Result<[StoredFrame], StoreError>)
    indirect case revision(ReadRevision, Result<Hand, StoreError>)
    indirect case clients(FindClients, Result<[UInt64: UInt64], StoreError>)
    indirect case author(FindAuthor, Result<(author: Author, isNew: Bool), StoreError>)
    indirect case lists(ReadLists, Result<ReadLists.Answer, StoreError>)
    indirect case deletedLists(ReadDeleted, Result<[DeletedList], StoreError>)
    indirect case history(ReadHistory, Result<ReadHistory.Answer, StoreError>)
    indirect case measured(Result<Int, StoreError>)
    indirect case presence(ExchangePresence, Result<[PresenceNews], StoreError>)
    case appended(AppendBatches, Result<[Appended], StoreError>)
    indirect case wrote(Wrote)
    /// The disk did not confirm a flush, or the files are gone: nobody knows what the disk holds.
    indirect case ended(StoreError)

    package enum Wrote: Sendable {
        /// The answer says why there is no room for the list; nil if it was made.
        case created(CreateList, Result<String?, StoreError>)
        /// The answer is the log id of the list.
        case changedName(ChangeName, Result<UInt64, StoreError>)
        case savedSnapshot(SaveSnapshot, Result<Void, StoreError>)
        case trimmed(Trim, Result<Trimmed, StoreError>)
        /// The answer says whether there is more to remove.
        case swept(SweepDeleted, Result<Bool, StoreError>)
        case compacted(Result<Compaction, StoreError>)
    }
}

extension Result where Success == any CommitStore, Failure == StoreError {
    /// - Throws: an error after which nobody knows what the disk holds.
    fileprivate func ask<Answer>(
        _ body: (any CommitStore) throws -> Answer
    ) throws(StoreError) -> Result<Answer, StoreError> {
        let answer = StoreError.catching { try body(get()) }
        if case .failure(let error) = answer, error.isFinal { throw error }
        return answer
    }
}

extension Service {
    func start(_ request: StoreRequest) { environment.start(request, for: self) }

    /// Call this when a request that was started has its reply. The reply is an event like those of connections.
    package func finished(_ reply: StoreReply) {
        switch reply {
        case .loadedList(let load, let answer): loaded(load, answer)
        case .head(let read, let answer): self.read(read, answer)
        case .heads(let read, let answer): self.read(read, answer)
        case .name(let find, let answer): found(find, answer)
        case .frames(let read, let answer): self.read(read, answer)
        case .revision(let read, let answer): self.read(read, answer)
        case .clients(let find, let answer): found(find, answer)
        case .author(let find, let answer): found(find, answer)
        case .lists(let read, let answer): self.read(read, answer)
        case .deletedLists(let read, let answer): self.read(read, answer)
        case .history(let read, let answer): self.read(read, answer)
        case .measured(let answer): measured(answer)
        case .presence(let exchange, let answer): exchanged(exchange, answer)
        case .appended(let append, let answer): appended(append.batches, answer)
        case .wrote(let reply):
            writer.isWriting = false
            wrote(reply)
        case .ended(let error):
            // The server starts again from what is there.
            environment.note(.writeFailed(error))
            environment.end(error)
        }
    }

    private func wrote(_ reply: StoreReply.Wrote) {
        switch reply {
        case .created(let create, let answer): created(create, answer)
        case .changedName(let change, let answer): changed(change, answer)
        case .savedSnapshot(let save, let answer): saved(save, answer)
        case .trimmed(let trim, let answer): trimmed(trim, answer)
        case .swept(let sweep, let answer): swept(sweep, answer)
        case .compacted(let answer): compacted(answer)
        }
    }
}
