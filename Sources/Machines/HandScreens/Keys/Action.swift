/// Everything that a key can do. The configuration file uses the raw names.
package enum Action: String, CaseIterable, Sendable {
    // Everywhere.
    case back, quit, help, connection, suspend, redraw
    // Tables.
    case up, down, halfPageUp, halfPageDown, pageUp, pageDown, top, end, open
    // Editing a list.
    case addBelow, addAbove, addTop, addEnd, edit, editAddress, tick, deal, delete, deleteBranch
    case cut, copy, pasteBelow, pasteAbove
    case moveUp, moveDown, moveTop, moveEnd, indent, outdent
    case sort, untickAll, moveToList, copyToList
    case fold, foldAll
    case range, selectUp, selectDown, selectAll
    case undo, redo, retrieve
    // Looking around.
    case filter, hideTicked, tickedLast, clearTicked, mine, due, jump, nextNew, previousNew, follow, history, people,
        notices, share
    // The lists of a server.
    case newList, deleteList, rename, duplicate, undelete, newFirst, showAll, refresh, leave
    // History.
    case whose, restore, older, newer

    /// What an action on a list's screen needs.
    struct Needs: OptionSet {
        let rawValue: Int
        /// A list that is loaded and not refused.
        static let list = Needs(rawValue: 1)
        static let item = Needs(rawValue: 2)
    }

    var needs: Needs {
        switch self {
        case .addBelow, .addAbove, .addTop, .addEnd, .deal, .pasteBelow, .pasteAbove, .undo, .redo, .clearTicked,
            .untickAll:
            .list
        case .open, .follow, .nextNew, .previousNew: .item
        case .edit, .editAddress, .tick, .delete, .deleteBranch, .cut, .copy, .moveUp, .moveDown, .moveTop, .moveEnd,
            .indent, .outdent, .sort, .moveToList, .copyToList, .fold, .foldAll, .range, .selectUp, .selectDown,
            .selectAll:
            [.list, .item]
        case .back, .quit, .help, .connection, .suspend, .redraw, .up, .down, .halfPageUp, .halfPageDown, .pageUp,
            .pageDown, .top, .end, .retrieve, .filter, .hideTicked, .mine, .due, .tickedLast, .jump, .history, .people,
            .notices, .share, .newList, .deleteList, .rename, .duplicate, .undelete, .newFirst, .showAll, .refresh,
            .leave, .whose, .restore, .older, .newer:
            []
        }
    }

    package struct Manual: Sendable {
        /// The text in the line of keys at the bottom.
        package let short: String
        package let long: String
        /// The keys of the action, unless the configuration file changes them. Each is one key or a sequence of keys.
        package let keys: [String]
    }

    /// The action's texts and standard keys.
    package var manual: Manual {
        switch self {
        case .back: Manual(short: "back", long: "go back; leave off what was begun", keys: ["esc", "q", "left", "h"])
        case .quit: Manual(short: "quit", long: "leave the program", keys: ["Q", "ctrl-c"])
        case .help: Manual(short: "help", long: "all keys", keys: ["?", "f1"])
        case .connection: Manual(short: "connection", long: "the connection and what waits for it", keys: ["C"])
        case .suspend: Manual(short: "suspend", long: "back to the shell; 'fg' returns", keys: ["ctrl-z"])
        case .redraw: Manual(short: "redraw", long: "draw the screen anew", keys: ["ctrl-l"])
        case .up: Manual(short: "up", long: "one up; with a number before it, so many", keys: ["k", "up", "ctrl-p"])
        case .down: Manual(short: "down", long: "one down", keys: ["j", "down", "ctrl-n"])
        case .halfPageUp: Manual(short: "half up", long: "half a screen up", keys: ["ctrl-u"])
        case .halfPageDown: Manual(short: "half down", long: "half a screen down", keys: ["ctrl-d"])
        case .pageUp: Manual(short: "page up", long: "a screen up", keys: ["pgup", "ctrl-b"])
        case .pageDown: Manual(short: "page down", long: "a screen down", keys: ["pgdn", "ctrl-f"])
        case .top: Manual(short: "top", long: "to the top", keys: ["g g", "home"])
        case .end: Manual(short: "end", long: "to the end; with a number before it, to that row", keys: ["G", "end"])
        case .open: Manual(short: "open", long: "open it", keys: ["enter", "right", "l"])
        case .filter: Manual(short: "filter", long: "show only what contains a text", keys: ["/"])
        case .hideTicked: Manual(short: "hide ticked", long: "hide ticked tasks, or show them again", keys: ["s"])
        case .mine: Manual(short: "mine", long: "show only tasks that name you, as @name", keys: ["@"])
        case .due: Manual(short: "due", long: "show only tasks due today, or this week: due:2026-12-01", keys: ["T"])
        case .tickedLast:
            Manual(short: "ticked last", long: "show ticked tasks last, or in their places", keys: ["B"])
        case .clearTicked: Manual(short: "clear ticked", long: "delete all ticked tasks", keys: ["S"])
        case .jump: Manual(short: "jump", long: "to a number, an id or a person", keys: [":"])
        case .nextNew: Manual(short: "next new", long: "to the next item that others have changed", keys: ["n"])
        case .previousNew:
            Manual(short: "previous new", long: "to the previous item that others have changed", keys: ["N"])
        case .follow: Manual(short: "open link", long: "open a link's address", keys: ["ctrl-o"])
        case .history: Manual(short: "history", long: "who changed what, and when", keys: ["H"])
        case .people: Manual(short: "people", long: "who is here", keys: ["w"])
        case .notices: Manual(short: "notices", long: "what was overridden or rejected", keys: ["!"])
        case .share: Manual(short: "share", long: "the list's address for others, also as a QR code", keys: ["L"])
        case .newList: Manual(short: "new", long: "make a list", keys: ["a", "n"])
        case .deleteList: Manual(short: "delete", long: "delete a list for everybody", keys: ["D"])
        case .rename: Manual(short: "rename", long: "give a list another name", keys: ["e", "f2"])
        case .duplicate: Manual(short: "duplicate", long: "make a list with the same items", keys: ["y"])
        case .undelete: Manual(short: "bring back", long: "bring back a list that was deleted", keys: ["u"])
        case .newFirst: Manual(short: "new first", long: "lists with something new first, or by name", keys: ["s"])
        case .showAll: Manual(short: "show all", long: "show all lists again", keys: ["esc"])
        case .refresh: Manual(short: "refresh", long: "ask the server again; connect now", keys: ["r", "f5"])
        case .leave: Manual(short: "leave", long: "leave the program", keys: ["q"])
        case .whose: Manual(short: "whose", long: "show everybody's edits, only mine, or only others'", keys: ["tab"])
        case .restore: Manual(short: "restore", long: "restore the list to this revision", keys: ["R"])
        case .older: Manual(short: "older", long: "one revision back", keys: ["[", "p"])
        case .newer: Manual(short: "newer", long: "one revision forward", keys: ["]", "n"])
        case .addBelow: Manual(short: "add", long: "add items below", keys: ["o", "ins"])
        case .addAbove: Manual(short: "add above", long: "add items above", keys: ["O"])
        case .addTop: Manual(short: "add at top", long: "add items at the top", keys: ["A"])
        case .addEnd: Manual(short: "add at end", long: "add items at the end", keys: ["a"])
        case .edit: Manual(short: "edit", long: "edit the text; alt-enter breaks the line", keys: ["e", "i", "f2"])
        case .editAddress: Manual(short: "address", long: "edit a link's address", keys: ["E"])
        case .tick: Manual(short: "tick", long: "tick or untick tasks", keys: ["space"])
        case .deal: Manual(short: "deal", long: "deal a card from the deck", keys: ["c"])
        case .delete: Manual(short: "delete", long: "delete; what is folded goes, too", keys: ["d", "del"])
        case .deleteBranch: Manual(short: "delete all", long: "delete with sub-items", keys: ["D"])
        case .cut: Manual(short: "cut", long: "cut, to paste here or in another list", keys: ["x"])
        case .copy: Manual(short: "copy", long: "copy", keys: ["y"])
        case .pasteBelow: Manual(short: "paste", long: "paste below", keys: ["p"])
        case .pasteAbove: Manual(short: "paste above", long: "paste above", keys: ["P"])
        case .moveUp: Manual(short: "move up", long: "move one up", keys: ["K", "alt-up", "ctrl-up"])
        case .moveDown: Manual(short: "move down", long: "move one down", keys: ["J", "alt-down", "ctrl-down"])
        case .moveTop: Manual(short: "to top", long: "move to the top", keys: ["t"])
        case .moveEnd: Manual(short: "to end", long: "move to the end", keys: ["b"])
        case .indent: Manual(short: "indent", long: "one level further in, with sub-items", keys: ["tab", ">"])
        case .outdent: Manual(short: "outdent", long: "one level further out", keys: ["shift-tab", "<"])
        case .sort: Manual(short: "sort", long: "sort by text, ticked, due or newest", keys: ["="])
        case .untickAll: Manual(short: "untick all", long: "untick all ticked tasks", keys: ["X"])
        case .moveToList: Manual(short: "to a list", long: "move to another list", keys: ["m"])
        case .copyToList: Manual(short: "copy to a list", long: "copy to another list", keys: ["M"])
        case .fold: Manual(short: "fold", long: "fold or unfold the sub-items", keys: ["z"])
        case .foldAll: Manual(short: "fold all", long: "fold everything, or unfold everything", keys: ["Z"])
        case .range: Manual(short: "select", long: "start or end selecting a range", keys: ["v", "V"])
        case .selectUp: Manual(short: "select up", long: "select upwards", keys: ["shift-up"])
        case .selectDown: Manual(short: "select down", long: "select downwards", keys: ["shift-down"])
        case .selectAll: Manual(short: "all", long: "select everything", keys: ["ctrl-a"])
        case .undo: Manual(short: "undo", long: "undo your last edit", keys: ["u"])
        case .redo: Manual(short: "redo", long: "redo what was undone", keys: ["U", "ctrl-r"])
        case .retrieve: Manual(short: "get back", long: "get back what was overridden or rejected", keys: ["R"])
        }
    }
}
