import HandCore
import HandSync
import HandWire

/// A request of a screen. The model carries out the first five itself; the program around it carries out the others.
package enum Command: Equatable, Sendable {
    case open(Route)
    case back
    /// Replaces the topmost screen with the screen of another place.
    case replace(Route)
    case say(String)
    case transfer(ItemTransfer)

    case quit, suspend, redraw, reconnect, bell
    /// Tells a user who looks at another window.
    case notify(String)
    case follow(String)
    /// An edit of a list, based on the model's view of it.
    case edit(list: String, Delta)
    /// Remembers which items of a list are folded, for the next run.
    case keepFolds(list: String, [ItemID])
    /// Remembers what the user has seen of a list, for the next run.
    case keepSeen(list: String, Seen)
    /// What others have changed in a list since a revision.
    case fetchNews(list: String, since: Int)
    /// What happened to an item, in up to `limit` of the newest commits.
    case fetchItemHistory(list: String, ItemID, limit: Int)
    /// Makes a lost edit again, and forgets the loss if that is possible now.
    case retrieve(list: String, Delta, Loss)
    /// Forgets a lost edit of which nothing is lost.
    case forget(list: String, Loss)
    case undo(String)
    case redo(String)
    case presence(list: String, Focus?)
    case fetchLists
    case create(list: String, Rules)
    case deleteList(String)
    case renameList(String, to: String)
    case undeleteList(String)
    /// The texts that often came into a list.
    case fetchEarlierTexts(list: String)
    /// A page of up to `limit` commits, starting at a revision.
    case fetchHistory(list: String, from: Int, limit: Int)
    case fetchState(list: String, revision: Int)
    /// Find out at which revisions the items of a list came.
    case fetchArrivals(list: String)
    case openAddress(String)
    /// A text to open in the user's own editor, which takes over the terminal, in a file with the given name.
    case editOutside(String, named: String)
    /// Forget the text that was kept under a name.
    case forgetDraft(String)
    case visit(Location)
    /// Send `continueWork` after the events that are already waiting.
    case workOn
}

extension Command {
    /// Whether another screen is the topmost one after the command.
    var leadsElsewhere: Bool {
        switch self {
        case .open, .back, .replace: true
        default: false
        }
    }
}
