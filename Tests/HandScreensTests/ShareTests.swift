import HandCore
import HandFormats
import HandScreens
import HandSync
import HandWire
import Testing

/// Lists for others, and copies of lists.
@Suite struct ShareTests {
    private static func lists(_ rules: Rules = Rules(), _ text: String = "#Today milk +bread") -> Stage {
        var stage = Stage(["things": Notation.hand(text, rules: rules).hand], opening: .lists)
        stage.send(
            .lists(
                [("old", Rules()), ("things", rules)].map {
                    DownMessage.ListEntry(name: $0.0, count: 3, revision: 5, rules: $0.1)
                }))
        stage.press("G")
        stage.createsLists = true
        return stage
    }

    @Test func aCopyHasTheItemsOfTheList() throws {
        var stage = Self.lists(Rules(maximumCount: 40))
        stage.edit(.changing([2..<3], Change(level: 1)))
        stage.press("y enter")
        #expect(stage.top == .list("things copy"))
        let (old, new) = (stage.hand(), stage.hand("things copy"))
        #expect(new.map(\.content) == old.map(\.content))
        #expect(new.map(\.level) == [0, 0, 1])
        #expect(new.rules == Rules(maximumCount: 40))
        #expect(Set(new.map(\.id)).isDisjoint(with: old.map(\.id)))
        #expect(!stage.lines.contains { $0.contains("copied") })
        stage.confirm("things copy")
        #expect(stage.lines[22].contains("3 items copied to 'things copy'"), "\(stage.lines)")
    }

    @Test func aListThatIsNotLoadedIsCopiedOnceItIs() throws {
        var stage = Self.lists()
        stage.press("g g y enter")
        #expect(stage.top == .list("old copy"))
        #expect(stage.hand("old copy").isEmpty)
        var replica = Replica(confirmed: Notation.hand("a b").hand, revision: 5, logID: 9, sequence: 0)
        replica.author = Stage.me
        stage.tell("old", replica)
        #expect(stage.hand("old copy").map(\.content.text) == ["a", "b"])
        // Once is enough.
        stage.tell("old", replica)
        #expect(stage.hand("old copy").count == 2)
    }

    /// Both the list and its copy may get other names before the list's items are there.
    @Test func aListThatIsRenamedMeanwhileIsCopied() throws {
        var stage = Self.lists()
        stage.press("g g y enter")
        stage.send(.list("old", .renamed(to: "older")))
        stage.send(.list("old copy", .renamed(to: "newer")))
        stage.tell("newer", try #require(stage.replicas["old copy"]))
        var replica = Replica(confirmed: Notation.hand("a b").hand, revision: 5, logID: 9, sequence: 0)
        replica.author = Stage.me
        stage.tell("older", replica)
        stage.tell("older", replica)
        #expect(stage.hand("newer").map(\.content.text) == ["a", "b"])
    }

    @Test func aListThatCannotBeReadIsNotCopied() {
        var stage = Self.lists()
        stage.press("g g y enter")
        stage.send(.list("old", .refused(.notAllowed, "you may not read 'old'")))
        #expect(stage.lines[22].contains("nothing was copied from 'old': you may not read 'old'"), "\(stage.lines)")
        var empty = Self.lists(Rules(), "")
        empty.press("y enter")
        #expect(empty.top == .list("things copy"))
    }

    @Test func aNameThatIsTakenCopiesNothing() {
        var stage = Self.lists()
        stage.createsLists = false
        stage.press("y ctrl-u 'taken' enter")
        stage.send(.failed(.create(list: "taken", Rules()), "there is a list 'taken' already"))
        #expect(stage.lines[22].contains("there is a list 'taken' already"))
        // A list of that name that somebody makes later stays as it is.
        stage.createsLists = true
        stage.press("n 'taken' enter")
        #expect(stage.hand("taken").isEmpty)
    }

    /// Each copy waits for its own list, whatever becomes of the others.
    @Test(arguments: [nil, "first", "new"])
    func severalListsAreCopiedAtOnce(_ refused: String?) {
        var stage = Self.lists()
        stage.createsLists = false
        stage.press("y ctrl-u 'first' enter y ctrl-u 'second' enter n 'new' enter")
        for name in ["first", "second", "new"] {
            if name == refused {
                stage.send(.failed(.create(list: name, Rules()), "no more lists"))
            } else {
                var replica = Replica(confirmed: Hand(), revision: 0, logID: 10, sequence: 0)
                replica.author = Stage.me
                stage.tell(name, replica)
                stage.send(.done(.create(list: name, Rules())))
            }
        }
        let items = stage.hand().map(\.content)
        #expect(stage.hand("first").map(\.content) == (refused == "first" ? [] : items))
        #expect(stage.hand("second").map(\.content) == items)
        #expect(stage.hand("new").isEmpty)
    }

    @Test func dealtCardsAreNotDuplicated() {
        var stage = Self.lists(.fiveCards, "?Q♠")
        stage.press("y")
        #expect(stage.lines[22].contains("nobody can duplicate them"), "\(stage.lines)")
    }

    @Test(arguments: [
        (HandAddress.Server.tcp(host: "host", port: 7777), nil),
        (.tcp(host: "localhost", port: 7777), "localhost is this machine"),
        (.unix(path: "/run/hand.sock"), "Only people who are logged in on this machine"),
    ])
    func whoCannotUseTheAddressIsSaid(_ server: HandAddress.Server, _ words: String?) {
        let stage = Stage(opening: .share("Summer trip"), server: server)
        #expect(stage.lines.contains { $0.contains("hand open \(server)/Summer%20trip") }, "\(stage.lines)")
        #expect(
            stage.lines.contains { $0.contains("this machine") && !$0.contains("hand share") && !$0.contains("token") }
                == (words != nil))
        if let words { #expect(stage.lines.contains { $0.contains(words) }, "\(stage.lines)") }
        #expect(stage.lines.contains { $0.contains("hand share 'Summer trip'") })
    }

    @Test func theCodeIsShownWhereThereIsRoom() {
        func isShown(_ rows: Int, _ columns: Int) -> Bool {
            let stage = Stage(opening: .share("things"), rows: rows, columns: columns)
            let isShown = stage.lines.contains { $0.contains("█") }
            #expect(stage.lines.contains { $0.contains("For a QR code") } != isShown, "\(stage.lines)")
            return isShown
        }
        #expect(isShown(24, 80) && isShown(50, 200) && isShown(23, 40))
        #expect(!isShown(12, 40) && !isShown(17, 80) && !isShown(24, 30))
    }

    /// The drawing, read back module by module.
    @Test func theDrawingIsTheCode() {
        let side = 21
        let modules = (0..<side * side).map { ($0 * 7 + $0 / side) % 3 == 0 }
        let lines = QRCode(side: side, modules: modules).lines(hasColors: false).map(\.text)
        #expect(lines.count == 13 && lines.allSatisfy { $0.count == 25 })
        for row in 0..<25 {
            for column in 0..<25 {
                let character = Array(lines[row / 2])[column]
                let isLight = character == "█" || character == (row % 2 == 0 ? "▀" : "▄")
                let isInside = (2..<23).contains(row) && (2..<23).contains(column)
                #expect(isLight == !(isInside && modules[(row - 2) * side + column - 2]), "\(row), \(column)")
            }
        }
    }
}
