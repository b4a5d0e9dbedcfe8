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

/// Requests that wait until a list is loaded, or brought up to date.
struct Loading {
    var waiting: [ListRequest]
    /// Requests that came later, for which the store is asked once more.
    var next: [ListRequest] = []
}

extension Service {
    /// Continues a request as soon as the list is in memory. The first connection that asks is charged for loading it.
    func whenLoaded(_ name: String, _ request: ListRequest) {
        charge(request.connection, work: Price.list)
        if loading[name] == nil {
            loading[name] = Loading(waiting: [request])
            load(name, for: request.connection)
        } else if isShared {
            // Its client may know commits of other servers that are newer than what is being read.
            loading[name]?.next.append(request)
        } else {
            loading[name]?.waiting.append(request)
        }
    }

    func load(_ name: String, for connection: ConnectionID) {
        // The list is in memory, perhaps under this name since a moment ago.
        if let hosted = names[name].flatMap({ hostedLists[$0] }) {
            return refresh(hosted, then: .load(name, for: connection))
        }
        if isNaming { return whenNamed.append((name, connection)) }
        start(.loadList(LoadList(name: name, connection: connection, limits: limits, namings: namings)))
    }

    func loaded(_ task: LoadList, _ result: Result<LoadList.Answer, StoreError>) {
        let name = task.name
        // By now another list may have the name, or none.
        if task.namings != namings { return load(name, for: task.connection) }
        switch result {
        case .failure(let error): loaded(name, .failure(error))
        case .success(let (list, authority, snapshot)):
            let commits = authority.revision - snapshot
            charge(task.connection, work: Price.replay(authority.count, commits: commits))
            // Another server has renamed the list, which is in memory here under its former name.
            if let hosted = hostedLists[list.number] {
                rename(hosted, to: name)
                return load(name, for: task.connection)
            }
            loads += 1
            let hosted = HostedList(list, authority, snapshot: snapshot, load: loads, now: environment.now)
            hostedLists[list.number] = hosted
            names[name] = list.number
            environment.note(.loaded(list: name, revision: authority.revision))
            loaded(name, .success(hosted))
        }
    }

    /// Goes on with the requests that have waited for a list.
    func loaded(_ name: String, _ hosted: Result<HostedList, StoreError>) {
        guard let done = loading.removeValue(forKey: name) else { return }
        if let first = done.next.first {
            loading[name] = Loading(waiting: done.next)
            load(name, for: first.connection)
        }
        for request in done.waiting {
            switch request {
            case .subscribe(let subscribe, let connection): loaded(hosted, for: subscribe, connection)
            case .state(let request): loaded(hosted, for: request)
            }
        }
    }

    /// The list in memory; nil if it was let go of, even if it was loaded again since.
    func hosted(_ reference: HostedList.Reference) -> HostedList? {
        guard let hosted = hostedLists[reference.number], hosted.load == reference.load else { return nil }
        return hosted
    }
}

package struct LoadList: Sendable {
    package typealias Answer = (list: StoredList, authority: Authority, snapshot: Int)

    let name: String
    let connection: ConnectionID
    let limits: Limits
    /// `Service.namings` when the reading began.
    let namings: Int

    func run(on store: any CommitStore) throws -> Answer {
        guard let list = try store.list(named: name) else { throw StoreError.noSuchList(name) }
        let start = try store.load(list.number)
        // Made here, because finding all ids of a long list takes long.
        return (list, Authority(start, limits: limits), start.snapshotRevision)
    }
}
