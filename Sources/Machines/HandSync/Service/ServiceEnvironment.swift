import HandCore
import HandWire

/// What a `Service` needs of the world. The shell gives it sockets, clocks and threads; the simulation a virtual network,
/// time and disk. Nothing here calls the service back before the call has returned.
package protocol ServiceEnvironment: AnyObject {
    /// Milliseconds that only grow.
    var now: UInt64 { get }
    /// Milliseconds since 1970, for stamping commits: the only clock that people see.
    var wallClock: UInt64 { get }

    /// Whether other servers write to the store, too.
    var isShared: Bool { get }
    /// What other servers know this one by: another number each time that it starts.
    var serverID: UInt64 { get }

    /// Has other servers hear of something, as far as that gets through. Does not wait.
    func tell(_ hint: StoreHint)

    /// Runs a task where blocking harms nobody, then calls `Service.finished` in a later event. Writes are started one at a time.
    func start(_ task: some ServiceTask, for service: Service)
    /// Runs a computation where it delays nobody, then calls `Service.finished` in a later event.
    func start(_ computation: some ServiceComputation, for service: Service)

    /// Who a client is that says hello with a token, or with none, over a stream; nil if it is not let in.
    func grant(to client: ClientID, token: String?, from stream: any ByteStream) -> Grant?
    /// What one may now who was let in before, with the id of the grant that they got then; nil if they may stay no longer.
    func access(again id: String?, from stream: any ByteStream) -> Access?

    /// Lists are about to be called otherwise: roles that were given for a name are to be kept as roles on the list that has it.
    /// Returns what asks the store so before a name changes; if it throws, none does.
    func bindRoles() -> @Sendable () throws -> Void
    /// The list of that log id is called so from now on; nil: it is deleted. Roles on it go with it.
    func called(_ logID: UInt64, _ name: String?)

    /// Something that an operator may want to know.
    func note(_ note: ServiceNote)

    /// Nobody knows what the disk holds: the process must end here and now, and start anew from the disk.
    func end(_ error: StoreError)
}

extension ByteStream {
    package var origin: String? { nil }
}

extension ServiceEnvironment {
    package var isShared: Bool { false }
    package var serverID: UInt64 { 0 }
    package func tell(_ hint: StoreHint) {}

    package func grant(to client: ClientID, token: String?, from stream: any ByteStream) -> Grant? {
        Grant(id: nil, access: .everything, client: client)
    }

    package func access(again id: String?, from stream: any ByteStream) -> Access? { .everything }

    package func bindRoles() -> @Sendable () throws -> Void { {} }

    package func called(_ logID: UInt64, _ name: String?) {}
}

/// Bytes in order, in both directions, to one client.
package protocol ByteStream: AnyObject {
    /// The other end, for people.
    var peerDescription: String { get }
    /// The address that limits go by; nil for somebody on this machine.
    var origin: String? { get }
    /// Whether bytes wait for the client; `Service.drained` is called when none do any longer.
    var isWriting: Bool { get }
    /// Writes the runs after all that was written before. Returns whether the system has taken everything at once.
    func write(_ runs: [FrameRun]) -> Bool
    /// Lets the client wait with what it sends; after a time it notices.
    func stopReading()
    func resumeReading()
    /// Ends this direction once everything is written. The other one stays open.
    func shutdown()
    func close()
}

/// Who made a request, for logs. The connection may have gone when the request is carried out.
package struct Requester: Sendable {
    /// The other end of the connection, for people.
    package let peer: String
    /// Empty before the hello.
    package let person: String
    /// The id of the access grant; nil if there is none.
    package let grantID: String?
}

/// What happens in a service, for its log.
package enum ServiceNote {
    case connected(Connection)
    case disconnected(Connection, reason: String)
    case closing(Connection, ErrorCode)
    /// Somebody said who they are, and may come in.
    case letIn(Connection)
    /// Somebody said who they are, and may not.
    case turnedAway(Connection, reason: String)
    /// Somebody wanted what their role does not cover: a message's name, and the list that it was about.
    case denied(Connection, what: String, list: String?)
    case created(list: String, by: Requester)
    case deleted(list: String, by: Requester)
    case renamed(list: String, to: String, by: Requester)
    case undeleted(list: String, as: String, by: Requester)
    case loaded(list: String, revision: Int)
    case unloaded(list: String)
    case stopping(connections: Int)
    /// So many commits have a number and are to be written, as of this turn.
    case numbered(commits: Int)
    /// A transaction is handed to the store, with all that were numbered before.
    case writing
    /// It is durable.
    case written
    /// A request could not be answered.
    case storeFailed(StoreError)
    /// The store could not say whether commits were written; it is asked again.
    case unsettled(StoredList)
    /// A list in memory is not what the store has: it is loaded anew.
    case reloaded(StoredList, StoreError)
    /// A list in memory is not in the store any more: another server deleted it, or the history went back behind its beginning.
    case vanished(StoredList)
    /// Commits were not written, and nothing of them is acknowledged.
    case writeFailed(StoreError)
    /// The history is whole without it.
    case snapshotFailed(StoreError)
    /// More of the history is kept than need be.
    case trimFailed(StoreError)
    /// More of deleted lists is kept than need be.
    case sweepFailed(StoreError)
    /// `Service.compact` has ended.
    case compacted(Result<Compaction, StoreError>)
}
