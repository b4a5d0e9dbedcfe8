import HandCore
import HandWire

/// Who made a request, for logs. The connection may have gone when the request is carried out.
package struct Requester: Sendable {
    /// The other end of the connection, for people.
    package let peer: String
    /// Empty before the hello.
    package let person: String
    /// The id of the requester's token; nil if there is none.
    package let tokenID: String?
}

/// An event in a server, for its log.
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
    /// A deleted list was removed: it cannot be restored any more.
    case removed(list: String)
    case loaded(list: String, revision: Int)
    case unloaded(list: String)
    case stopping(connections: Int)
    /// A request could not be answered.
    case storeFailed(StoreError)
    /// The store could not say whether commits were written. It is asked again.
    case unsettled(StoredList, StoreError)
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
