import HandCore
import HandWire

/// The lists in memory with their names, and the requests that wait for a list.
///
/// While a name is being changed in the store, no list is loaded, so that none is in memory twice.
struct ListDirectory {
    private var hosted: [ListNumber: ListMachine] = [:]
    private var names: [String: ListNumber] = [:]
    /// Lists that are being loaded or brought up to date, by name.
    private var loading: [String: Loading] = [:]
    /// The number of loads so far.
    private var loads: UInt64 = 0
    /// The number of name changes so far.
    private(set) var namings = 0
    /// The items of all lists that were removed from memory so far.
    private(set) var removedItems = 0
    private var isNaming = false
    /// The loads that wait for the end of the name change.
    private var whenNamed: [Load] = []

    /// A list to load, and the connection to charge for it.
    struct Load {
        let name: String
        let connection: ConnectionID
    }

    /// Requests that wait until a list is loaded, or brought up to date.
    private struct Loading {
        var waiting: [ListRequest]
        /// Requests that came later, for which the store is asked once more.
        var next: [ListRequest] = []
    }

    // MARK: Finding

    var count: Int { hosted.count }
    var isEmpty: Bool { hosted.isEmpty }
    var all: Dictionary<ListNumber, ListMachine>.Values { hosted.values }
    /// In ascending order.
    var numbers: [ListNumber] { hosted.keys.sorted() }

    subscript(number: ListNumber) -> ListMachine? { hosted[number] }
    subscript(name: String) -> ListMachine? { names[name].flatMap { hosted[$0] } }

    /// The list in memory; nil if it was evicted, even if it was loaded again since.
    subscript(reference: ListMachine.Reference) -> ListMachine? {
        guard let found = hosted[reference.number], found.load == reference.load else { return nil }
        return found
    }

    // MARK: Loading

    /// Lets a request wait for the list of a name.
    ///
    /// - Parameter isShared: whether other servers write to the store. The client may then know commits of those
    ///   servers that are newer than the list that is being read.
    /// - Returns: whether the list is to be loaded for this request.
    mutating func wait(for name: String, _ request: ListRequest, isShared: Bool) -> Bool {
        if loading[name] == nil {
            loading[name] = Loading(waiting: [request])
            return true
        }
        if isShared { loading[name]?.next.append(request) } else { loading[name]?.waiting.append(request) }
        return false
    }

    /// Returns the requests that have waited for the list of a name. If some requests came too late, the list is to be
    /// loaded again for `next`.
    mutating func endLoading(_ name: String) -> (waiting: [ListRequest], next: Load?) {
        guard let done = loading.removeValue(forKey: name) else { return ([], nil) }
        guard let first = done.next.first else { return (done.waiting, nil) }
        loading[name] = Loading(waiting: done.next)
        return (done.waiting, Load(name: name, connection: first.connection))
    }

    mutating func add(_ list: StoredList, _ authority: Authority, snapshot: Int, now: UInt64) -> ListMachine {
        loads += 1
        let added = ListMachine(list, authority, snapshot: snapshot, load: loads, now: now)
        hosted[list.number] = added
        names[list.name] = list.number
        return added
    }

    /// Forgets a list.
    mutating func remove(_ gone: ListMachine) {
        removedItems += gone.authority.count
        gone.evicted()
        hosted[gone.list.number] = nil
        forgetName(of: gone)
    }

    // MARK: Names

    /// Gives a list in memory another name.
    mutating func rename(_ renamed: ListMachine, to new: String) {
        forgetName(of: renamed)
        renamed.rename(to: new)
        names[new] = renamed.list.number
    }

    /// Forgets the name of a list, unless another list has the name by now.
    private mutating func forgetName(of former: ListMachine) {
        if names[former.list.name] == former.list.number { names[former.list.name] = nil }
    }

    /// A name is being changed from now on.
    mutating func beginNaming() {
        namings += 1
        isNaming = true
    }

    /// Lets a load wait if a name is being changed. Returns whether it waits.
    mutating func waitsForNaming(_ load: Load) -> Bool {
        if isNaming { whenNamed.append(load) }
        return isNaming
    }

    /// The name is changed. Returns the loads that have waited.
    mutating func endNaming() -> [Load] {
        isNaming = false
        return exchange(&whenNamed, with: [])
    }
}
