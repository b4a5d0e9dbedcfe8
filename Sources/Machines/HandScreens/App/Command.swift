import HandCore
import HandWire

/// What a screen wants done. The model carries out the first four itself. The program around it carries out the others.
package enum Command: Equatable, Sendable {
    case open(Route)
    case back
    /// Replaces the topmost screen by that of another place.
    case replace(Route)
    case say(String)

    case quit, suspend, redraw, reconnect, bell
    case follow(String)
    /// An edit of a list, made on the view that the model has.
    case edit(list: String, Delta)
    case undo(String)
    case redo(String)
    case presence(list: String, Focus?)
    case fetchLists
    case create(list: String, Rules)
    case deleteList(String)
    /// A page of commits, `limit` from a revision on.
    case fetchHistory(list: String, from: Int, limit: Int)
    case fetchState(list: String, revision: Int)
    /// An address for the system to open.
    case openAddress(String)
    /// A text for the user's own editor, which gets the terminal, in a file of that name.
    case editOutside(String, named: String)
    /// A place on another server.
    case visit(Location)
    /// Send `continueWork` after the events that wait already.
    case workOn
}
