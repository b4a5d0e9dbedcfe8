import HandCore
import HandWire

/// What a server asks its store. A request runs on another thread, so it has values only: connections by their ids,
/// lists by `ListMachine.Reference`. A connection or a list that has gone when the reply comes is not found then.
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

    /// Whether the request must not run beside another write. Writes do not wait for requests that only read; several
    /// of those run at a time.
    package var isWrite: Bool {
        switch self {
        case .append, .job: true
        default: false
        }
    }

    /// Whether roles that were given for a name become roles on the list that has the name, before the request is run.
    package var changesName: Bool { if case .job(.changeName) = self { true } else { false } }

    /// Asks the store, and returns its reply. It may block for as long as a disk takes.
    ///
    /// - Parameter bindRoles: called before a name changes; if it throws, no name changes. Returns the names that roles
    ///   wait for.
    package func run(on store: any CommitStore, bindRoles: () throws -> Set<String> = { [] }) -> StoreReply {
        do { return try reply(of: store, bindRoles) } catch { return .ended(error) }
    }

    private func reply(
        of store: any CommitStore, _ bindRoles: () throws -> Set<String>
    ) throws(StoreError) -> StoreReply {
        switch self {
        case .loadList(let load): .loadedList(load, try answer { try load.run(on: store) })
        case .readHead(let read): .head(read, try answer { try read.run(on: store) })
        case .readHeads(let read): .heads(read, try answer { try read.run(on: store) })
        case .findName(let find): .name(find, try answer { try find.run(on: store) })
        case .readFrames(let read): .frames(read, try answer { try read.run(on: store) })
        case .readRevision(let read): .revision(read, try answer { try read.run(on: store) })
        case .findClients(let find): .clients(find, try answer { try find.run(on: store) })
        case .findAuthor(let find): .author(find, try answer { try find.run(on: store) })
        case .readLists(let read): .lists(read, try answer { try read.run(on: store) })
        case .readDeleted(let read): .deletedLists(read, try answer { try read.run(on: store) })
        case .readHistory(let read): .history(read, try answer { try read.run(on: store) })
        case .measure: .measured(try answer { try store.size() })
        case .exchangePresence(let exchange): .presence(exchange, try answer { try exchange.run(on: store) })
        case .append(let append): .appended(append, try answer { try append.run(on: store) })
        case .job(let job): .wrote(try job.reply(of: store, bindRoles))
        }
    }
}

/// A write other than appending commits. A job must not run beside a transaction on the same lists.
package enum WriteJob: Sendable {
    case create(CreateList)
    case changeName(ChangeName)
    case saveSnapshot(SaveSnapshot)
    case trim(Trim)
    case sweep(SweepDeleted)
    case compact(Compact)

    fileprivate func reply(
        of store: any CommitStore, _ bindRoles: () throws -> Set<String>
    ) throws(StoreError) -> StoreReply.Wrote {
        switch self {
        case .create(let create): .created(create, try answer { try create.run(on: store) })
        case .changeName(let change): .changedName(change, try answer { try change.run(on: store, bindRoles) })
        case .saveSnapshot(let save): .savedSnapshot(save, try answer { try save.run(on: store) })
        case .trim(let trim): .trimmed(trim, try answer { try trim.run(on: store) })
        case .sweep(let sweep): .swept(sweep, try answer { try sweep.run(on: store) })
        case .compact(let compact): .compacted(try answer { try compact.run(on: store) })
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
    indirect case clients(FindClients, Result<[AuthorID: AuthorID], StoreError>)
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

/// - Throws: an error after which nobody knows what the disk holds.
private func answer<Answer>(_ body: () throws -> Answer) throws(StoreError) -> Result<Answer, StoreError> {
    let answer = StoreError.catching(body)
    if case .failure(let error) = answer, error.isFinal { throw error }
    return answer
}

extension ServerMachine {
    func start(_ request: StoreRequest) { emit(.ask(request)) }

    /// Call this when a request that was started has its reply. The reply is an event like those of connections.
    package func finished(_ reply: StoreReply, at time: Moment) {
        self.time = time
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
            writer.endJob()
            wrote(reply)
        case .ended(let error):
            // The server starts again from what the disk holds.
            note(.writeFailed(error))
            stage = .ended
            emit(.end(error))
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
