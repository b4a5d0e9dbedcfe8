import HandCore
import HandWire

/// A request that waits for a list.
enum ListRequest {
    case subscribe(UpMessage.Subscribe, connection: ConnectionID)
    case state(StateRequest)

    var connection: ConnectionID {
        switch self {
        case .subscribe(_, let connection): connection
        case .state(let request): request.id.connection
        }
    }
}

extension ServerMachine {
    /// Continues a request as soon as the list is in memory. The first connection that asks is charged for loading it.
    func whenLoaded(_ name: String, _ request: ListRequest) {
        charge(request.connection, work: Price.list)
        if lists.wait(for: name, request, isShared: isShared) { load(name, for: request.connection) }
    }

    func load(_ name: String, for connection: ConnectionID) {
        // The list is in memory, perhaps under this name since a moment ago.
        if let hosted = lists[name] { return refresh(hosted, then: .load(name, for: connection)) }
        if lists.waitsForNaming(.init(name: name, connection: connection)) { return }
        let task = LoadList(name: name, connection: connection, limits: limits, namings: lists.namings)
        start(task) { $0.loaded($1, $2) }
    }

    func loaded(_ task: LoadList, _ result: Result<LoadList.Answer, StoreError>) {
        let name = task.name
        // By now another list may have the name, or none.
        if task.namings != lists.namings { return load(name, for: task.connection) }
        switch result {
        case .failure(let error): loaded(name, .failure(error))
        case .success(let (list, authority, snapshot)):
            let commits = authority.revision - snapshot
            charge(task.connection, work: Price.replay(authority.count, commits: commits))
            // Another server has renamed the list, which is in memory here under its former name.
            if let hosted = lists[list.number] {
                rename(hosted, to: name)
                return load(name, for: task.connection)
            }
            let hosted = lists.add(list, authority, snapshot: snapshot, now: now)
            note(.loaded(list: name, revision: authority.revision))
            loaded(name, .success(hosted))
        }
    }

    /// Goes on with the requests that have waited for a list.
    func loaded(_ name: String, _ hosted: Result<ListMachine, StoreError>) {
        let (waiting, next) = lists.endLoading(name)
        if let next { load(next.name, for: next.connection) }
        for request in waiting {
            switch request {
            case .subscribe(let subscribe, let connection): loaded(hosted, for: subscribe, connection)
            case .state(let request): loaded(hosted, for: request)
            }
        }
    }
}

package struct LoadList: StoreQuestion {
    package typealias Answer = (list: StoredList, authority: Authority, snapshot: Int)

    let name: String
    let connection: ConnectionID
    let limits: Limits
    /// `ListDirectory.namings` when the reading began. A list that was being read during a name change is read again.
    let namings: Int

    func run(on store: any CommitStore) throws -> Answer {
        guard let list = try store.list(named: name) else { throw StoreError.noSuchList(name) }
        let start = try store.load(list.number)
        // The authority is made here, because finding all ids of a long list takes long.
        return (list, Authority(start, limits: limits), start.snapshotRevision)
    }
}
