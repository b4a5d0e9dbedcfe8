import HandCore
import HandWire

/// What happens to a list that a client follows.
public enum ListEvent: Sendable {
    /// The list stands there now. The update says how the view has changed since the event before, and what became of one's own
    /// edits. The first that is seen of a list comes without a change.
    case changed(ListState, Replica.Update)
    /// Who is here, as far as it changed; everybody at first.
    case presence([DownMessage.Presence])
    /// The connection.
    case status(ClientMachine.Status)
    /// So many items of a snapshot have arrived, or so many of the commits that were missed, if they are many.
    case progress(items: Int, of: Int)
    /// The list has that name from now on. Events go on; to do more with it, it is opened under the new name.
    case renamed(to: String)
    /// The list cannot be followed (any longer).
    case refused(ErrorCode, String)
}

/// Where a list stands.
public struct ListState: Equatable, Sendable {
    public package(set) var view = Hand()
    /// The last confirmed revision.
    public package(set) var revision = 0
    public package(set) var logID: UInt64 = 0
    /// Whether anything is known of the list.
    public package(set) var isLoaded = false
    /// Whether the view is the server's present, but for edits on the way.
    public package(set) var isLive = false
    /// Edits that the server has not confirmed, as they were made.
    public package(set) var pendingCount = 0
    public package(set) var canUndo = false
    public package(set) var canRedo = false
    /// This client's number on the server; nil as long as it has not been there.
    public package(set) var author: UInt64?
    /// Items that edits of an earlier run have touched, if some were not confirmed when the list was opened.
    package var keptItems: Set<ItemID> = []

    package init() {}

    package init(_ replica: Replica, isLoaded: Bool, isLive: Bool, keptItems: Set<ItemID> = []) {
        (view, revision, logID, author) = (replica.view, replica.revision, replica.logID, replica.author)
        (pendingCount, canUndo, canRedo) = (replica.unconfirmedCount, replica.canUndo, replica.canRedo)
        (self.isLoaded, self.isLive, self.keptItems) = (isLoaded, isLive, keptItems)
    }
}

extension ClientMachine.Subscription {
    package var state: ListState { ListState(replica, isLoaded: isLoaded, isLive: isLive, keptItems: keptItems) }
}
