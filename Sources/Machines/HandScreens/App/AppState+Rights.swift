import HandFormats
import HandWire

// The user's rights, as far as the client knows them. The server decides; the screens name a missing right before the
// user types anything.

extension AppState {
    /// The user's name, as others see it.
    var me: String { granted.map { Printable.clean($0.person) } ?? settings.person }

    /// The user's role on a list; nil if the role is not known.
    func role(on list: String) -> Role? { granted?.role(on: list) }

    /// What the user may do with a list, in a word or two; nil if the user may edit the list, or if the role is not
    /// known.
    func restriction(on list: String) -> String? {
        switch role(on: list) {
        case nil, .write?, .admin?: nil
        case .append?: "may only add"
        case .read?, Role.none?: "read only"
        }
    }

    /// Why the user may not carry out an action on a list, or on the server if `list` is nil; nil if the user may.
    func refusal(of action: Action, on list: String?) -> String? {
        guard let needed = action.neededRole else { return nil }
        if Trouble(self) == .token { return "your token is not valid: nothing could be sent" }
        guard let granted else { return nil }
        let mine = list.map { granted.role(on: $0) } ?? granted.everywhere
        guard mine < needed else { return nil }
        let place = list.map { "on '\($0)'" } ?? "on this server"
        return "your role \(place) is \(mine); \(needed == .append ? "adding" : "that") needs \(needed)"
    }
}

extension Action {
    /// The least role that an action needs; nil if everybody may do it.
    var neededRole: Role? {
        switch self {
        case .addBelow, .addAbove, .addTop, .addEnd, .deal, .pasteBelow, .pasteAbove, .retrieve: .append
        case .edit, .editAddress, .tick, .delete, .deleteBranch, .indent, .outdent, .cut, .moveUp, .moveDown, .moveTop,
            .moveEnd, .sort, .untickAll, .moveToList, .undo, .redo, .clearTicked, .restore, .newList, .duplicate:
            .write
        case .deleteList, .rename, .undelete: .admin
        case .back, .quit, .help, .connection, .suspend, .redraw, .up, .down, .halfPageUp, .halfPageDown, .pageUp,
            .pageDown, .top, .end, .open, .copy, .copyToList, .range, .selectUp, .selectDown, .selectAll, .filter,
            .hideTicked, .mine, .due, .tickedLast, .jump, .nextNew, .previousNew, .newFirst, .fold, .foldAll, .follow,
            .history, .people, .notices, .share, .showAll, .refresh, .leave, .whose, .older, .newer:
            nil
        }
    }
}
