import HandCore
import HandWire

/// What a `ServerMachine` needs from outside. The server implements it with sockets, clocks and threads; the
/// simulation, with
/// a virtual network, time and disk. No method calls the machine back before it has returned.
package protocol ServerEnvironment: AnyObject {
    /// Milliseconds on a clock that never goes back.
    var now: UInt64 { get }
    /// Milliseconds since 1970, for the times of commits.
    var wallClock: UInt64 { get }

    /// Whether other servers write to the store, too.
    var isShared: Bool { get }
    /// The number by which other servers know this one. After each start, the number is a different one.
    var serverID: UInt64 { get }

    /// Sends a hint to other servers. It may get lost. Does not wait.
    func tell(_ hint: StoreHint)

    /// Runs a request where blocking harms nobody, then calls `ServerMachine.finished` in a later event. Writes are
    /// started
    /// one at a time.
    func start(_ request: StoreRequest, for machine: ServerMachine)
    /// Runs a computation where it delays nobody, then calls `ServerMachine.finished` in a later event.
    func start(_ computation: Computation, for machine: ServerMachine)

    /// Identifies a client that says hello with a token, or without one; returns nil if it is not let in.
    func grant(to client: ClientID, token: String?, from stream: any ByteStream) -> Grant?
    /// Returns the present access of a client that was let in earlier, with the token of that id or without one; nil if
    /// the client may no longer stay.
    func access(again tokenID: String?, from stream: any ByteStream) -> Access?

    /// Prepares a change of names: roles that were given for a name become roles on the list that has the name. Returns
    /// a function that is called before a name changes; if it throws, no name changes.
    func bindRoles() -> @Sendable () throws -> Void
    /// The list of that log id has another name from now on; nil if it was deleted. Roles on the list stay with it.
    func called(_ logID: UInt64, _ name: String?)

    /// Notes an event for the operator.
    func note(_ note: ServerNote)
    /// Notes how far commits have come, for measuring.
    func note(_ stage: CommitStage)

    /// Ends the process, because nobody knows what the disk holds. It starts again from the disk.
    func end(_ error: StoreError)
}

extension ByteStream {
    package var origin: String? { nil }
}

extension ServerEnvironment {
    package var isShared: Bool { false }
    package var serverID: UInt64 { 0 }
    package func tell(_ hint: StoreHint) {}

    package func grant(to client: ClientID, token: String?, from stream: any ByteStream) -> Grant? {
        Grant(access: .everything, client: client)
    }

    package func access(again tokenID: String?, from stream: any ByteStream) -> Access? { .everything }

    package func bindRoles() -> @Sendable () throws -> Void { {} }

    package func called(_ logID: UInt64, _ name: String?) {}

    package func note(_ stage: CommitStage) {}
}

/// Bytes in order, in both directions, to one client.
package protocol ByteStream: AnyObject {
    /// The other end, for people.
    var peerDescription: String { get }
    /// The address for limits; nil for a client on this machine.
    var origin: String? { get }
    /// Whether bytes wait for the client. `ServerMachine.drained` is called when the kernel has taken them all.
    var isWriting: Bool { get }
    /// Writes the runs after all earlier ones. Returns whether the kernel has taken everything at once.
    func write(_ runs: [FrameRun]) -> Bool
    /// Stops reading, so that the client's bytes stay in the network.
    func stopReading()
    func resumeReading()
    /// Ends the direction to the client once everything is written. The other direction stays open.
    func shutdown()
    func close()
}

/// Who made a request, for logs. The connection may have gone when the request is carried out.
package struct Requester: Sendable {
    /// The other end of the connection, for people.
    package let peer: String
    /// Empty before the hello.
    package let person: String
    /// The id of the requester's token; nil if there is none.
    package let tokenID: String?
}

/// How far commits have come.
package enum CommitStage {
    /// This many commits were numbered in this turn.
    case numbered(Int)
    /// A transaction with all numbered commits is handed to the store.
    case writing
    /// The transaction is durable.
    case written
}

/// An event in a machine, for its log.
package enum ServerNote {
    case connected(Connection)
    case disconnected(Connection, reason: String)
    case closing(Connection, ErrorCode)
    /// A client was let in.
    case letIn(Connection)
    /// A client was turned away.
    case turnedAway(Connection, reason: String)
    /// A client sent a message that its role does not allow: the name of the message, and the list that it was about.
    case denied(Connection, what: String, list: String?)
    case created(list: String, by: Requester)
    case deleted(list: String, by: Requester)
    case renamed(list: String, to: String, by: Requester)
    case undeleted(list: String, as: String, by: Requester)
    case loaded(list: String, revision: Int)
    case unloaded(list: String)
    case stopping(connections: Int)
    /// A request could not be answered.
    case storeFailed(StoreError)
    /// The store could not say whether commits were written. It is asked again.
    case unsettled(StoredList)
    /// A list in memory is not what the store has. It is loaded anew.
    case reloaded(StoredList, StoreError)
    /// A list in memory is not in the store any more. Another server deleted it, or the history went back to before the
    /// list was created.
    case vanished(StoredList)
    /// Commits were not written, and none of them is acknowledged.
    case writeFailed(StoreError)
    /// A snapshot was not saved. The history is complete without it.
    case snapshotFailed(StoreError)
    /// Commits that need not be kept could not be forgotten.
    case trimFailed(StoreError)
    /// Deleted lists that need not be kept could not be removed.
    case sweepFailed(StoreError)
    /// `ServerMachine.compact` has ended.
    case compacted(Result<Compaction, StoreError>)
}
