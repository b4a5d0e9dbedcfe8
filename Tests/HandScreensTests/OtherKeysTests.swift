import HandCore
import HandScreens
import HandWire
import Testing

/// Before, keys, after: the effect of every key on the screens other than the list.
@Suite struct OtherKeysTests {
    struct Row: CustomStringConvertible, Sendable {
        let place: Route
        let keys: String
        /// The path of the top screen afterwards.
        let path: String
        /// The command that must be sent.
        let command: Command?
        /// The words that must be visible.
        let words: String

        init(_ place: Route, _ keys: String, _ path: String, _ command: Command? = nil, sees words: String = "") {
            (self.place, self.keys, self.path, self.command, self.words) = (place, keys, path, command, words)
        }

        var description: String { "\(place.path) │ \(keys) │ \(path)" }
    }

    private static let hand = Notation.hand("a +b @c").hand
    private static func item(_ index: Int) -> Route { .item(list: "things", id: hand[index].id.description) }
    private static let rename = Command.edit(
        list: "things", Delta.editing(at: 0, Change(text: "a", to: "ax")))

    static let lists: [Row] = [
        Row(.lists, "j", "/", sees: "▸ things"), Row(.lists, "j k", "/", sees: "▸ others"),
        Row(.lists, "G", "/", sees: "▸ things"),
        Row(.lists, "enter", "/others", .follow("others")), Row(.lists, "j l", "/things"),
        Row(.lists, "right", "/others"),
        Row(.lists, "a 'new' enter", "/", .create(list: "new", Rules())),
        Row(.lists, "n 'new / cards max 5' enter", "/", .create(list: "new", .fiveCards)),
        Row(.lists, "a 'new / max x' enter", "/", sees: "expected 'cards' or 'max NUMBER'"),
        Row(.lists, "a '..' enter", "/", sees: "must not be"),
        // The question stays, so that what is typed next is no key.
        Row(.lists, "a 'things' enter 'q'", "/", sees: "there is already a list 'things'"),
        Row(.lists, "e ctrl-u 'things' enter", "/", sees: "there is already a list 'things'"),
        Row(.lists, "y ctrl-u 'things' enter", "/", sees: "there is already a list 'things'"),
        Row(.lists, "a 'new' esc", "/", sees: "▸ others"),
        Row(.lists, "D 'others' enter", "/", .deleteList("others")),
        Row(.lists, "D 'y' enter", "/", sees: "nothing was deleted"),
        Row(.lists, "e ' too' enter", "/", .renameList("others", to: "others too")),
        Row(.lists, "f2 ctrl-u '  a  b ' enter", "/", .renameList("others", to: "a b")),
        Row(.lists, "e enter", "/", sees: "▸ others"), Row(.lists, "e ' too' esc", "/", sees: "▸ others"),
        Row(.lists, "e '/x' enter", "/", sees: "must not"),
        Row(.lists, "u 'gone' enter", "/", .undeleteList("gone")), Row(.lists, "u esc", "/", sees: "▸ others"),
        Row(.lists, "D 'others' esc", "/", sees: "▸ others"),
        Row(.lists, "y enter", "/", .create(list: "others copy", Rules())),
        Row(.lists, "y ctrl-u 'new' enter", "/", .create(list: "new", Rules())),
        Row(.lists, "y '/x' enter", "/", sees: "must not"), Row(.lists, "y esc", "/", sees: "▸ others"),
        Row(.lists, "L", "/others/share", sees: "hand open hand://host:7777/others"),
        Row(.lists, "s", "/", sees: "what is new comes first"), Row(.lists, "s s", "/", sees: "order of their names"),
        Row(.lists, "r", "/", .reconnect), Row(.lists, "f5", "/", .fetchLists), Row(.lists, "q", "/", .quit),
        Row(.lists, "/ 'thin' enter", "/", sees: "▸ things"), Row(.lists, "/ 'thin' enter esc", "/", sees: "others"),
        Row(.lists, "a 'new' ctrl-z", "/", .suspend), Row(.lists, "/ 'thin' ctrl-z 'gs' enter", "/", sees: "▸ things"),
        Row(.lists, "esc", "/"), Row(.lists, "?", "/-/help"), Row(.lists, "C", "/-/connection"),
    ]

    static let items: [Row] = [
        Row(item(0), "e 'x' enter", item(0).path, rename, sees: "ax"),
        Row(item(0), "i 'x' enter", item(0).path, rename),
        Row(item(0), "f2 'x' enter", item(0).path, rename), Row(item(0), "e 'x' esc", item(0).path, sees: "a"),
        Row(
            item(0), "space", item(0).path,
            .edit(list: "things", Delta.editing(at: 0, Change(done: true))), sees: "[x] done"),
        Row(item(1), "space", item(1).path, sees: "[ ] to do"),
        Row(item(0), "d", "/things", .edit(list: "things", .deleting([0..<1]))),
        Row(item(0), "del", "/things"), Row(item(0), "space u", item(0).path, .undo("things"), sees: "[ ] to do"),
        Row(item(0), "space u U", item(0).path, .redo("things"), sees: "[x] done"),
        Row(item(0), "space u ctrl-r", item(0).path, sees: "[x] done"),
        Row(item(0), "H", item(0).path, .fetchItemHistory(list: "things", hand[0].id, limit: .max)),
        Row(item(2), "ctrl-o", item(2).path, .openAddress("https://c")),
        Row(item(0), "ctrl-o", item(0).path, sees: "leads nowhere"),
        Row(item(2), "E ctrl-u 'https://d' enter", item(2).path, sees: "https://d"),
        Row(item(0), "j k ctrl-d ctrl-u", item(0).path),
        Row(item(0), "q", "/things"), Row(item(0), "esc", "/things"), Row(item(0), "left", "/things"),
        Row(item(0), "h", "/things"),
    ]

    private static let history = Route.history("things")
    private static let revision = Route.revision(list: "things", 4)
    static let past: [Row] = [
        Row(history, "enter", "/things/history/5", .fetchState(list: "things", revision: 5)),
        Row(history, "j enter", "/things/history/4"), Row(history, "tab", "/things/history", sees: "by me"),
        Row(history, "tab tab", "/things/history", sees: "by others"),
        Row(history, "tab tab tab", "/things/history", sees: "by everybody"),
        Row(history, "r", "/things/history"), Row(history, "q", "/things"),
        Row(revision, "[", "/things/history/3", .fetchState(list: "things", revision: 3)),
        Row(revision, "p", "/things/history/3"),
        Row(revision, "]", "/things/history/5"), Row(revision, "n", "/things/history/5"),
        Row(revision, "9 [", "/things/history/0"),
        Row(revision, "] ]", "/things/history/5", sees: "this is the newest revision"),
        Row(revision, "R y", "/things", .edit(list: "things", .deleting([2..<3]))), Row(revision, "R n", revision.path),
        Row(revision, "q", "/things/history"), Row(revision, "j", revision.path, sees: "▸ 2 [x] b"),
    ]

    static let rest: [Row] = [
        Row(.people("things"), "j enter", item(1).path),
        Row(.people("things"), "enter", "/things/people", sees: "on no item"),
        Row(.people("things"), "q", "/things"), Row(.notices("things"), "R", "/things/notices", .bell),
        Row(.notices("things"), "esc", "/things"),
        Row(.help, "j", "/-/help"), Row(.help, "G", "/-/help", sees: "scroll"), Row(.help, "q", "/"),
        Row(.help, "?", "/-/help"),
        Row(.connection, "r", "/-/connection", .bell), Row(.connection, "q", "/"),
        Row(.connection, "Q", "/-/connection", .quit),
        Row(.nowhere("/a/b"), "q", "/"), Row(.nowhere("/a/b"), "?", "/-/help"),
    ]

    @Test(arguments: lists + items + past + rest)
    func keysOnOtherScreensFollowTheTable(_ row: Row) {
        var stage = Self.stage(row.place)
        stage.press(row.keys)
        #expect(stage.top.path == row.path)
        if let command = row.command { #expect(stage.commands.contains(command)) }
        if !row.words.isEmpty { #expect(stage.lines.contains { $0.contains(row.words) }, "\(stage.lines)") }
    }

    private static func stage(_ place: Route) -> Stage {
        var stage = Stage(["things": hand], opening: place, rows: 14)
        stage.send(
            .lists(["others", "things"].map { DownMessage.ListEntry(name: $0, count: 3, revision: 5, rules: Rules()) }))
        let commits = [4, 5].map { revision in
            Commit(
                revision: revision, author: AuthorID(revision - 3), sequence: 1, base: revision - 1, time: 0, count: 3,
                digest: 0, delta: Delta.editing(at: 0, Change(done: true)))
        }
        stage.send(.history(list: "things", commits, people: [1: "ada", 2: "Bob"]))
        stage.send(.state(list: "things", revision: 4, Notation.hand("a +b").hand))
        stage.presence("Bob", on: hand[1].id)
        return stage
    }

    /// A planted fault: a key that no row presses must be noticed.
    @Test func everyKeyIsTried() {
        let rows = Self.lists + Self.items + Self.past + Self.rest
        let tablesAndLists = Set(ScreenKind.list.actions).subtracting([
            .open, .edit, .editAddress, .tick, .delete, .undo, .redo, .follow,
        ])
        for kind in ScreenKind.allCases where kind != .list {
            let pressed = rows.filter { Self.stage($0.place).app.router.top.route.kind == kind }.map(\.keys)
            // Actions that all tables and all screens share are tried on the list.
            for action in kind.actions where !tablesAndLists.contains(action) {
                let keys = KeyMap.standard.keys(for: action)
                #expect(
                    keys.contains { key in pressed.contains { " \($0) ".contains(" \(key) ") } },
                    "no row presses \(action.rawValue) on \(kind.rawValue)")
            }
        }
    }
}
