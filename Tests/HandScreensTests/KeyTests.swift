import HandCore
import HandScreens
import Testing

/// Before, keys, after: the effect of every key on a list.
@Suite struct KeyTests {
    struct Row: CustomStringConvertible {
        let before: String
        let keys: String
        let after: String

        init(_ before: String, _ keys: String, _ after: String) {
            self.before = before
            self.keys = keys
            self.after = after
        }

        var description: String { "\(before) │ \(keys) │ \(after)" }
    }

    static let moving = [
        Row(">a b c", "j", "a >b c"), Row(">a b c", "down", "a >b c"), Row(">a b c", "ctrl-n", "a >b c"),
        Row("a >b c", "k", ">a b c"), Row("a >b c", "up", ">a b c"), Row("a >b c", "ctrl-p", ">a b c"),
        Row(">a b c", "k", ">a b c"), Row("a b >c", "j", "a b >c"),
        Row(">a b c d", "2 j", "a b >c d"), Row("a b c >d", "3 k", ">a b c d"), Row(">a b c", "9 9 j", "a b >c"),
        Row(">a b c", "G", "a b >c"), Row(">a b c", "end", "a b >c"), Row(">a b c", "2 G", "a >b c"),
        Row("a b >c", "g g", ">a b c"), Row("a b >c", "home", ">a b c"), Row("a b >c", "2 g g", "a >b c"),
        Row(">a b c", "pgdn", "a b >c"), Row(">a b c", "ctrl-f", "a b >c"), Row("a b >c", "pgup", ">a b c"),
        Row("a b >c", "ctrl-b", ">a b c"), Row(">a b c", "ctrl-d", "a >b c"), Row("a b >c", "ctrl-u", "a >b c"),
        Row(">a b c", "@ esc", ">a b c"), Row(">a b c", "T T T", ">a b c"), Row(">a b c", "n", ">a b c"),
        Row("a b >c", "N", "a b >c"),
        Row(">a b c", "g j", "a >b c"), Row(">a b c", ": '3' enter", "a b >c"), Row(">a b c", ": '3' esc", ">a b c"),
    ]

    static let adding = [
        Row("a >b c", "o 'x' enter esc", "a b >x c"), Row("a >b c", "ins 'x' enter esc", "a b >x c"),
        Row("a >b c", "O 'x' enter esc", "a >x b c"), Row("a >b c", "A 'x' enter esc", ">x a b c"),
        Row("a >b c", "a 'x' enter esc", "a b c >x"), Row("a >b c", "o 'x' enter 'y' enter enter", "a b x >y c"),
        Row("a >b c", "A 'x' enter 'y' enter esc", "x >y a b c"),
        Row("a >b c", "a 'x' enter 'y' enter esc", "a b c x >y"),
        Row("a >b c", "O 'x' enter 'y' enter esc", "a x >y b c"), Row("a >b c", "o 'x' esc", "a >b c"),
        Row("a >b c", "o enter", "a >b c"), Row("", "o 'x' enter esc", ">x"),
        Row(">a", "o '# x' enter esc", "a >#x"), Row(">a", "o '## x' enter esc", "a >#x"),
        Row(">a", "o '[x] y' enter esc", "a >+y"),
        Row(">a", "o 'https://x' enter esc", "a >@https://x"), Row(">a", "o tab 'x' enter esc", "a >!x"),
        Row(">a", "o tab tab 'x' enter esc", "a >#x"), Row(">a", "o shift-tab shift-tab 'x' enter esc", "a >#x"),
    ]

    static let editing = [
        Row("a >b c", "e 'x' enter", "a >bx c"), Row("a >b c", "i 'x' enter", "a >bx c"),
        Row("a >b c", "f2 ctrl-u 'x' enter", "a >x c"), Row("a >b c", "e 'x' esc", "a >b c"),
        Row("a >b c", "e ctrl-u enter esc", "a >b c"), Row("a >b c", "e ctrl-u enter 'x' enter", "a >x c"),
        Row("a >b c", "d", "a >c"), Row("a >b c", "del", "a >c"), Row("a b >c", "d", "a >b"), Row(">a", "d", ""),
        Row("a >b c", "space", "a >+b c"), Row("a >+b c", "space", "a >b c"), Row(">#a b", "space", ">#a b"),
        Row("a >b c", "K", ">b a c"), Row("a >b c", "alt-up", ">b a c"), Row("a >b c", "ctrl-up", ">b a c"),
        Row("a >b c", "J", "a c >b"), Row("a >b c", "alt-down", "a c >b"), Row("a >b c", "ctrl-down", "a c >b"),
        Row(">a b c", "K", ">a b c"), Row("a b >c", "J", "a b >c"), Row(">a b c d", "2 J", "b c >a d"),
        Row("a b >c", "t", ">c a b"), Row(">a b c", "b", "b c >a"),
        Row("a >b c", "x p", "a c >b"), Row("a >b c", "x k p", "a >b c"), Row("a >b c", "y p", "a b >b c"),
        Row("a >b c", "y g g P", ">b a b c"), Row("a >b c", "x P", "a >b c"),
        Row("a >b c", "d u", "a >b c"), Row("a >b c", "d u U", "a >c"), Row("a >b c", "d u ctrl-r", "a >c"),
        Row("a >b c", "d d u u", "a >b c"), Row("a >b", "o 'x' enter esc u", "a >b"),
    ]

    static let selecting = [
        Row("a >b c d", "v j", "a *b >*c d"), Row("a >b c d", "V j j", "a *b *c >*d"),
        Row("a >b c d", "v j v", "a b >c d"),
        Row("a >b c d", "v j esc", "a b >c d"), Row("a >b c d", "shift-down", "a *b >*c d"),
        Row("a b >c d", "shift-up", "a >*b *c d"), Row("a >b c", "ctrl-a", "*a *b >*c"),
        Row("a >b c d", "v j d", "a >d"), Row("a >b c d", "v j x g g P", ">b c a d"),
        Row(">a b c", "v j y G p", "a b c >a b"),
        Row("a >b c d", "v j space", "a +b >+c d"), Row("a >+b c d", "v j space", "a +b >+c d"),
        Row("a >+b +c d", "v j space", "a b >c d"), Row("a >b c d", "v j J", "a d *b >*c"),
        Row("a >b c d", "v j K", "*b >*c a d"), Row("a b >c d", "v j t", "*c >*d a b"),
        Row(">a b c d", "v j b", "c d *a >*b"),
        Row("a >b c d", "v j d u", "a >b c d"),
    ]

    static let ticked = [Row(">a +b c", "s j d s", ">a +b"), Row("+a >b +c", "S", ">b")]

    static let filtering = [
        Row(">ab b cb d", "/ 'b' enter j d", "ab >cb d"), Row(">ab b cb d", "/ 'b' enter v G d", ">d"),
        Row(">ab x b", "/ 'b' enter J", "x b >ab"), Row(">ab b cb d", "/ 'zz' enter esc", ">ab b cb d"),
        Row(">ab b cb d", "/ 'cb' enter esc", "ab b >cb d"), Row(">ab b cb d", "/ 'cb' esc", ">ab b cb d"),
        Row("a b1 b2 >b3", "/ 'b' enter", "a b1 b2 >b3"), Row("a b1 c >b2 d b3", "/ 'b' enter esc", "a b1 c >b2 d b3"),
        Row("a b1 c b2 >d b3", "/ 'b' enter", "a b1 c b2 d >b3"), Row("a b1 c b2 >d", "/ 'b' enter", "a b1 c >b2 d"),
        Row("a b1 >b2 bx", "/ 'bx' backspace enter", "a b1 >b2 bx"),
        Row("a b1 >b2 b3", "/ 'b' enter k / backspace 'a' esc", "a >b1 b2 b3"),
        Row(">ab x cb", "/ 'b' enter j space", "ab x >+cb"), Row(">ab x cb", "/ 'b' enter j : '2' enter", "ab >x cb"),
    ]

    @Test(arguments: moving + adding + editing + selecting + filtering + ticked)
    func keysOnAListFollowTheTable(_ row: Row) {
        var stage = Self.stage(row.before)
        stage.press(row.keys)
        // Items that the filter hides are shown again, so that the whole list can be compared.
        if row.keys.contains("/"), Notation.text(stage) != row.after { stage.press("esc") }
        #expect(Notation.text(stage) == row.after)
    }

    static func stage(_ before: String, rules: Rules = Rules(), rows: Int = 12, columns: Int = 80) -> Stage {
        let (hand, cursor) = Notation.hand(before, rules: rules)
        var stage = Stage(["things": hand], rows: rows, columns: columns)
        if cursor > 0 { stage.press("\(String(cursor + 1).map { "\($0)" }.joined(separator: " ")) G") }
        return stage
    }

    /// Keys that lead elsewhere, and the place that they lead to.
    static let leading: [(String, Route)] = [
        ("enter", .item(list: "things", id: "0000000400000")), ("right", .item(list: "things", id: "0000000400000")),
        ("l", .item(list: "things", id: "0000000400000")), ("H", .history("things")), ("w", .people("things")),
        ("L", .share("things")),
        ("?", .help), ("f1", .help), ("C", .connection), ("esc", .lists), ("q", .lists), ("left", .lists),
        ("h", .lists),
        ("? esc", .list("things")), ("H H", .history("things")),
        ("enter H q", .list("things")),
    ]

    @Test(arguments: leading)
    func keysLeadToTheirPlaces(_ keys: String, to route: Route) {
        var stage = Self.stage(">a b")
        stage.press(keys)
        #expect(stage.top == route || stage.top.path.hasPrefix(route.path.prefix(14)), "\(stage.top.path)")
    }

    static let commanding: [(String, Command)] = [
        ("Q", .quit), ("ctrl-c", .quit), ("ctrl-z", .suspend), ("ctrl-l", .redraw), ("q q", .quit),
        ("j ctrl-o", .openAddress("https://b")), ("C r", .bell),
    ]

    @Test(arguments: commanding)
    func keysSendTheirCommands(_ keys: String, _ command: Command) {
        var stage = Self.stage(">a @b")
        stage.press(keys)
        #expect(stage.commands.contains(command))
    }

    /// A planted fault: an action of the list screen that no row above presses must be noticed.
    @Test func everyKeyOfTheListIsTried() throws {
        let rows = Self.moving + Self.adding + Self.editing + Self.selecting + Self.filtering + Self.ticked
        let pressed =
            rows.map(\.keys) + Self.leading.map(\.0) + Self.commanding.map(\.0)
            + LevelKeysTests.rows.map(\.1) + FoldTests.rows.map(\.1) + OrderKeysTests.rows.map(\.1)
            + TickedLastTests.lastRows.map(\.1) + OrderKeysTests.sending.map(\.0)
        let elsewhere: Set<Action> = [.deal, .retrieve, .notices, .editAddress]
        for action in ScreenKind.list.actions where !elsewhere.contains(action) {
            for key in KeyMap.standard.keys(for: action) {
                #expect(
                    pressed.contains { " \($0) ".contains(" \(key) ") }, "no row presses \(key) (\(action.rawValue))")
            }
        }
    }
}
