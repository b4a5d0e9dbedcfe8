import HandCore
import HandWire

/// Names of lists: deleting a list takes its name away, and undeleting a list gives it a name.
extension ServerMachine {
    func delete(_ name: String, _ connection: Connection, _ request: RequestNumber) {
        change(name, .delete(at: wallClock), connection, request)
    }

    /// Subscribers continue to follow the list, with their roles. Clients that ask for its former name find no list, or
    /// a new one; by its log id, they find the renamed list.
    func rename(_ name: String, to new: String, _ connection: Connection, _ request: RequestNumber) {
        guard mayName(new, by: "rename", of: name, connection, request) else { return }
        change(name, .rename(to: new), connection, request)
    }

    func undelete(
        _ name: String, _ deletion: UInt64?, as new: String, _ connection: Connection, _ request: RequestNumber
    ) {
        guard name == new || mayName(new, by: "undelete", of: name, connection, request) else { return }
        let mine = connection.access.restorableLists
        // A request that cannot succeed must not hold up writes.
        if mine?.isEmpty == true { return refuse(connection, request, .notDeleted(name)) }
        change(name, .undelete(deletion, as: new, kept: upkeep.retention.deleted, among: mine), connection, request)
    }

    private func change(_ name: String, _ change: ChangeName.Change, _ connection: Connection, _ request: RequestNumber)
    {
        charge(connection, work: Price.transaction)
        begin(connection)
        let task = ChangeName(
            id: RequestID(connection, request), name: name, change: change, access: connection.access,
            requester: connection.requester)
        writer.add(StoreTask(task) { $0.changed($1, $2) })
    }

    /// Giving a list a new name is like creating a list, and requires the same role on all lists.
    private func mayName(
        _ new: String, by what: String, of name: String, _ connection: Connection, _ request: RequestNumber
    ) -> Bool {
        if let problem = ListName.problem(with: new) {
            refuse(connection, request, .badListName, problem)
            return false
        }
        guard connection.access.everywhere < .write else { return true }
        note(.denied(connection, what: what, list: name))
        refuse(connection, request, .notAllowed, "a new name requires the role write on all lists, as a new list does")
        return false
    }

    func changed(_ task: ChangeName, _ result: Result<UInt64, StoreError>) {
        let waiting = lists.endNaming()
        switch result {
        case .failure(let error): refuse(task.id, error)
        case .success(let logID):
            changed(task, of: logID)
            send(.done(request: task.id.request), to: task.id.connection)
        }
        for waiting in waiting { load(waiting.name, for: waiting.connection) }
        end(task.id.connection)
    }

    /// Applies a name change that the store has made to the list with that log id.
    private func changed(_ task: ChangeName, of logID: UInt64) {
        let hosted = lists[task.name].flatMap { LogID.isSameList($0.list.logID, logID) ? $0 : nil }
        let told = (hosted?.subscriberCount ?? 0) * Price.delivery
        charge(task.id.connection, work: told + connections.count * Price.access)
        switch task.change {
        case .delete:
            upkeep.storeChanged()
            emit(.called(logID, nil))
            note(.deleted(list: task.name, by: task.requester))
            if let hosted { evict(hosted, .listDeleted, "the list '\(task.name)' was deleted") }
            if upkeep.retention.deleted == 0 { sweepDeleted(isDue: true) }
        case .rename(let new):
            emit(.called(logID, new))
            if let hosted { rename(hosted, to: new) }
            note(.renamed(list: task.name, to: new, by: task.requester))
        case .undelete(_, let new, _, _):
            emit(.called(logID, new))
            note(.undeleted(list: task.name, as: new, by: task.requester))
        }
    }

    // MARK: Names in memory

    /// Gives a list in memory another name, and tells its subscribers.
    func rename(_ hosted: ListMachine, to new: String) {
        lists.rename(hosted, to: new)
        for connection in hosted.subscribers {
            send(.renamed(list: hosted.list.number, name: new), to: connection)
        }
    }

    /// Removes a list from memory.
    func unload(_ hosted: ListMachine) {
        lists.remove(hosted)
        peers?.unloaded(hosted.list.number)
    }
}

/// Changes a list's name. Meanwhile nothing else is written, and no list is loaded.
package struct ChangeName: StoreQuestion {
    enum Change: Sendable {
        case delete(at: UInt64)
        case rename(to: String)
        /// Undoes a deletion: the newest one if nil is given. The age of the deletion must be below `kept`, and the
        /// deleted list must be one of the lists in `among` (by `LogID.list`; nil for any list).
        case undelete(UInt64?, as: String, kept: UInt64, among: [UInt32]?)
    }

    let id: RequestID
    let name: String
    let change: Change
    let access: Access
    let requester: Requester

    func run(on store: any CommitStore) throws -> UInt64 { try run(on: store) { [] } }

    /// Returns the log id of the list.
    ///
    /// - Parameter bindRoles: called before the name changes. Returns the names that roles wait for.
    func run(on store: any CommitStore, _ bindRoles: () throws -> Set<String>) throws -> UInt64 {
        let awaited = try bindRoles()
        if let newName, awaited.contains(newName) { throw StoreError.nameIsAwaited(newName) }
        switch change {
        case .delete(let time):
            let list = try mine(in: store)
            try store.delete(list, by: requester.person, at: time)
            return list.logID
        case .rename(let new):
            let list = try mine(in: store)
            try store.rename(list, to: new)
            return list.logID
        case .undelete(let deletion, let new, let kept, let lists):
            let newest = try store.deletedLists(
                before: deletion.map { $0 &+ 1 } ?? .max, limit: 1, named: name, among: lists)
            guard let found = newest.first, found.age < kept, deletion ?? found.deletion == found.deletion else {
                throw StoreError.notDeleted(name)
            }
            try store.undelete(found.deletion, as: new)
            return found.list.logID
        }
    }

    /// The name, if the list had another one.
    private var newName: String? {
        switch change {
        case .rename(let new): new
        case .undelete(_, let new, _, _) where new != name: new
        case .undelete, .delete: nil
        }
    }

    /// Returns the list if the requester is an administrator of it. Another server may have given its name to another
    /// list.
    private func mine(in store: any CommitStore) throws -> StoredList {
        guard let list = try store.list(named: name), access.role(on: list) >= .admin else {
            throw StoreError.noSuchList(name)
        }
        return list
    }
}
