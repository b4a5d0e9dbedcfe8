import HandCore
import HandSync
import HandWire

/// Everything that can happen to the model.
package enum Event: Sendable {
    case input(Input)
    /// The deadline that the model named has come.
    case tick
    /// There is time for work that was begun.
    case continueWork
    case connection(ClientMachine.Status)
    /// Milliseconds that the server took to answer.
    case latency(UInt64)
    /// The server says something that answers nothing.
    case told(String)
    case list(String, ListNews)
    case lists([DownMessage.ListEntry])
    /// Lists that are kept on this machine.
    case kept([String])
    case history(list: String, [Commit], people: [UInt64: String])
    case state(list: String, revision: Int, Hand)
    /// What was asked did not come to be.
    case failed(Command, String)
    case done(Command)
}

/// What happens to a list that is followed.
package enum ListNews: Sendable {
    /// The view is another, by an edit of one's own or by others.
    case changed(Hand, Delta, by: Replica.Origin)
    /// Where it stands with the server.
    case standing(Standing)
    case progress(items: Int, of: Int)
    case presence([DownMessage.Presence])
    case notice(Replica.Notice)
    /// It is called that from now on.
    case renamed(to: String)
    case refused(String)

    package struct Standing: Equatable, Sendable {
        package var revision: Int
        package var isLive: Bool
        /// Whether anything of the list is known.
        package var isLoaded: Bool
        /// Edits of one's own that are not confirmed, as they were made.
        package var unconfirmed: Int
        package var canUndo: Bool
        package var canRedo: Bool
        package var author: UInt64?
        /// Items that edits of an earlier run, not confirmed yet, have touched; only said once.
        package var pendingItems: Set<ItemID>

        package init(
            revision: Int = 0, isLive: Bool = false, isLoaded: Bool = false, unconfirmed: Int = 0,
            canUndo: Bool = false, canRedo: Bool = false, author: UInt64? = nil, pendingItems: Set<ItemID> = []
        ) {
            self.revision = revision
            self.isLive = isLive
            self.isLoaded = isLoaded
            self.unconfirmed = unconfirmed
            self.canUndo = canUndo
            self.canRedo = canRedo
            self.author = author
            self.pendingItems = pendingItems
        }
    }
}
