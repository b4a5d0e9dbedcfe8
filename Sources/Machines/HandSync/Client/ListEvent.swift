import HandCore
import HandWire

/// An event of a list that a client follows.
public enum ListEvent: Sendable {
    /// The list's new state. The update contains the change of the view since the previous event, and the outcome of
    /// the user's own edits. The first event of a list has no change.
    case changed(ListState, Replica.Update)
    /// The people whose presence changed; everybody at first.
    case presence([DownMessage.Presence])
    /// The status of the connection.
    case status(ClientMachine.Status)
    /// The number of items of a snapshot that have arrived, or of missed commits, if there are many.
    case progress(items: Int, of: Int)
    /// The list has a new name. Events continue; to do more with the list, open it under the new name.
    case renamed(to: String)
    /// The client cannot follow the list, or no longer can.
    case refused(ErrorCode, String)
    /// The client cannot follow the list, as its user has pending edits for the list that had this name before. The
    /// edits stay in the journal until that list has its name back, or until they are discarded.
    case editsWait(String)
}

/// The state of a list.
public struct ListState: Equatable, Sendable {
    public package(set) var view = Hand()
    /// The last confirmed revision.
    public package(set) var revision = 0
    public package(set) var logID: UInt64 = 0
    /// Whether anything is known about the list.
    public package(set) var isLoaded = false
    /// Whether the view is the server's newest revision, apart from edits on the way.
    public package(set) var isLive = false
    /// The number of edits that the server has not confirmed, counted as the user made them.
    public package(set) var pendingCount = 0
    public package(set) var canUndo = false
    public package(set) var canRedo = false
    /// This client's author number on the server; nil before its first connection.
    public package(set) var author: AuthorID?
    /// Items touched by edits of an earlier run that were not confirmed when the list was opened.
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
