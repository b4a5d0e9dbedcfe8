import HandCore
import HandWire

/// What lists are called: deleting a list takes its name away, and bringing it back gives it one.
extension Service {
    func delete(_ name: String, _ connection: Connection, _ request: UInt64) {
        let (person, time, access) = (connection.person, world.wallClock, connection.access)
        writeNames(connection, request) { store in
            let list = try store.list(named: name, for: access)
            try store.delete(list, by: person, at: time)
            return list.logID
        } then: { [unowned self] logID in
            storeSize.isStale = true
            world.called(logID, nil)
            world.note(.deleted(list: name, by: connection))
            if let hosted = names[name].flatMap({ hostedLists[$0] }), LogID.isSameList(hosted.list.logID, logID) {
                letGo(of: hosted, .listDeleted, "the list '\(name)' was deleted")
            }
            accessChanged()
            if retention.deleted == 0 { sweepDeleted(isDue: true) }
        }
    }

    /// Those who follow the list go on following it, with their roles. Who comes by the old name finds no
    /// list, or a new one; by its log id the list is found.
    func rename(_ name: String, to new: String, _ connection: Connection, _ request: UInt64) {
        guard mayName(new, by: "rename", connection, request) else { return }
        guard name != new else { return refuse(connection, request, .listExists(name)) }
        let access = connection.access
        writeNames(connection, request) { store in
            let list = try store.list(named: name, for: access)
            try store.rename(list, to: new)
            return list.logID
        } then: { [unowned self] logID in
            world.called(logID, new)
            if let hosted = names[name].flatMap({ hostedLists[$0] }), LogID.isSameList(hosted.list.logID, logID) {
                rename(hosted, to: new)
            }
            world.note(.renamed(list: name, to: new, by: connection))
            accessChanged()
        }
    }

    /// Tells those who follow the list.
    func rename(_ hosted: HostedList, to new: String) {
        forgetName(of: hosted)
        hosted.list.name = new
        names[new] = hosted.list.number
        for connection in hosted.subscribers {
            send(.renamed(list: hosted.list.number, name: new), to: connection)
        }
    }

    /// Has a list in memory no longer.
    func unload(_ hosted: HostedList) {
        hostedLists[hosted.list.number] = nil
        exchange.unloaded(hosted.list.number)
        forgetName(of: hosted)
    }

    /// Its name may by now be another list's.
    private func forgetName(of hosted: HostedList) {
        if names[hosted.list.name] == hosted.list.number { names[hosted.list.name] = nil }
    }

    func undelete(
        _ name: String, _ deletion: UInt64?, as new: String, _ connection: Connection, _ request: UInt64
    ) {
        guard name == new || mayName(new, by: "undelete", connection, request) else { return }
        let (oldest, mine) = (forgottenUntil, connection.access.bringableBack)
        // Who may bring back nothing does not hold up those who write.
        if mine?.isEmpty == true { return refuse(connection, request, .notDeleted(name)) }
        writeNames(connection, request) { store in
            let newest = try store.deletedLists(
                before: deletion.map { $0 &+ 1 } ?? .max, limit: 1, named: name, among: mine)
            guard let found = newest.first, found.time > oldest, deletion ?? found.deletion == found.deletion else {
                throw StoreError.notDeleted(name)
            }
            try store.undelete(found.deletion, as: new)
            return found.list.logID
        } then: { [unowned self] logID in
            world.called(logID, new)
            world.note(.undeleted(list: name, as: new, by: connection))
            accessChanged()
        }
    }

    func deletedLists(before: UInt64?, _ connection: Connection, _ request: UInt64) {
        let (page, oldest, keep) = (limits.listsPage, forgottenUntil, retention.deleted)
        let mine = connection.access.bringableBack
        if mine?.isEmpty == true { return send(.deletedLists(request: request, [], hasMore: false), to: connection) }
        begin(connection)
        ask { store in
            try store.deletedLists(before: before ?? .max, limit: page + 1, named: nil, among: mine)
        } then: { [unowned self] result in
            defer { end(connection) }
            switch result {
            case .failure(let error): refuse(connection, request, error)
            case .success(let lists):
                charge(connection, work: lists.count * Price.list)
                // Those that are not kept any longer were deleted before the others.
                let entries = lists.prefix(page).filter { $0.time > oldest }.map { deleted in
                    DownMessage.DeletedEntry(
                        deletion: deleted.deletion,
                        list: DownMessage.ListEntry(
                            name: deleted.list.name, count: deleted.list.count, revision: deleted.list.revision,
                            rules: deleted.list.rules),
                        person: deleted.person, time: deleted.time, keptUntil: deleted.time + keep)
                }
                let hasMore = lists.count > page && !entries.isEmpty
                send(.deletedLists(request: request, entries, hasMore: hasMore), to: connection)
            }
        }
    }

    // MARK: Who may

    /// A new name is as good as a new list: it takes the role on all lists that making one takes.
    private func mayName(_ name: String, by what: String, _ connection: Connection, _ request: UInt64) -> Bool {
        if let problem = ListName.problem(withNew: name) {
            refuse(connection, request, .badListName, problem)
            return false
        }
        guard connection.access.everywhere < .write else { return true }
        world.note(.denied(connection, what: what, list: name))
        refuse(connection, request, .notAllowed, "a new name takes the role write on all lists, as a new list does")
        return false
    }

    /// What was deleted then or before is not brought back any more.
    var forgottenUntil: UInt64 { world.wallClock - min(world.wallClock, retention.deleted) }

    // MARK: Writing

    /// Has what a list is called changed, when nothing else is written; meanwhile no list is loaded. `body` says which list it is, by
    /// its log id.
    private func writeNames(
        _ connection: Connection, _ request: UInt64,
        _ body: @escaping @Sendable (any CommitStore) throws -> UInt64, then: @escaping (UInt64) -> Void
    ) {
        begin(connection)
        writer.jobs.append { [unowned self] in
            namings += 1
            isNaming = true
            let bindRoles = world.bindRoles()
            ask { store in
                try bindRoles()
                return try body(store)
            } then: { [unowned self] result in
                writer.isWriting = false
                isNaming = false
                defer { end(connection) }
                switch result {
                case .failure(let error): refuse(connection, request, error)
                case .success(let logID):
                    then(logID)
                    send(.done(request: request), to: connection)
                }
                let waiting = whenNamed
                whenNamed = []
                for body in waiting { body() }
            }
        }
    }

    // MARK: Removing

    /// Milliseconds between two looks at what was deleted long enough ago.
    private static let removalInterval: UInt64 = 60_000

    /// Removes what is left of lists that were deleted long enough ago, a part at a time. Where the store is full, the list that was
    /// deleted first goes too, and the next one if it is still full without that.
    func sweepDeleted(isDue: Bool = false) {
        let shallGiveUp = storeSize.isFull(limits) && storeSize.isNews && !removal.isMakingRoom
        guard isDue || shallGiveUp || world.now >= removal.nextLook, !removal.isRunning, !isStopping else { return }
        removal.isRunning = true
        if shallGiveUp { removal.isMakingRoom = true }
        removal.nextLook = world.now + Self.removalInterval
        let until = forgottenUntil
        writeAlone { store in
            if shallGiveUp { _ = try store.giveUpOldest(of: nil) }
            return try store.sweep(deletedBy: until)
        } then: { [unowned self] result in
            removal.isRunning = false
            switch result {
            case .success(let hasMore):
                if hasMore {
                    storeSize.isStale = true
                    sweepDeleted(isDue: true)
                } else if removal.isMakingRoom {
                    removal.isMakingRoom = false
                    storeSize.expectNews()
                    measureStore()
                }
            case .failure(let error): world.note(.sweepFailed(error))
            }
        }
    }
}

extension CommitStore {
    /// A list of which one is the administrator.
    fileprivate func list(named name: String, for access: Access) throws -> StoredList {
        // Another server may have given the name to a list on which one is not.
        guard let list = try list(named: name), access.role(on: list) >= .admin else {
            throw StoreError.noSuchList(name)
        }
        return list
    }
}

/// The removing of what is left of deleted lists.
struct Removal {
    var isRunning = false
    /// Whether a list was given up because the store is full, and is not gone yet.
    var isMakingRoom = false
    /// When it is looked whether there is something to remove.
    var nextLook: UInt64 = 0
}
