import HandCore
import HandFormats
import HandScreens
import HandSync
import HandWire
import Testing

/// The screens know what the user may do, and say so before anything is typed.
@Suite struct RightsTests {
    private static let places: [Route] = [
        .lists, .list("things"), .item(list: "things", id: id.description), .revision(list: "things", 4),
    ]
    private static let hand = Notation.hand("a +b @c").hand
    private static let id = hand[2].id

    /// The actions that each role may carry out, from the words of the manual.
    private static let least: [Action: Role] = [
        .addBelow: .append, .addAbove: .append, .addTop: .append, .addEnd: .append, .pasteBelow: .append,
        .pasteAbove: .append, .edit: .write, .editAddress: .write, .tick: .write, .delete: .write, .cut: .write,
        .moveUp: .write, .moveDown: .write, .moveTop: .write, .moveEnd: .write, .clearTicked: .write, .restore: .write,
        .sort: .write, .untickAll: .write, .moveToList: .write,
        .newList: .write, .deleteList: .admin,
    ]

    private static func stage(at place: Route, _ role: Role, everywhere: Role = .none) -> Stage {
        var stage = Stage(["things": hand], opening: place)
        stage.send(.lists([.init(name: "things", count: 3, revision: 5, rules: Rules())]))
        stage.send(.state(list: "things", revision: 4, Notation.hand("x").hand))
        stage.send(
            .granted(.init(person: "ada", everywhere: everywhere, lists: [.init(name: "things", role: role)])))
        if place == .list("things") { stage.press("G y") }
        return stage
    }

    /// Each key of an action that needs a higher role is refused when it is pressed, whatever the screen, and has no
    /// hint.
    @Test(arguments: [Role.read, .append, .write, .admin], places)
    func actionsAreRefusedAtTheKeyPress(_ role: Role, _ place: Route) throws {
        for action in place.kind.actions {
            guard let needed = Self.least[action], let key = KeyMap.standard.keys(for: action).first else { continue }
            var stage = Self.stage(at: place, role, everywhere: place == .lists ? role : .none)
            let (before, commands) = (stage.hand(), stage.commands.count)
            stage.press(key)
            let isRefused = stage.lines.contains { $0.contains("your role on ") && $0.contains("needs \(needed)") }
            #expect(isRefused == (role < needed), "\(role): \(action) \(stage.lines)")
            if role < needed {
                #expect(stage.app.router.top.typing == nil && stage.hand().map(\.id) == before.map(\.id))
                #expect(stage.commands.dropFirst(commands).allSatisfy { $0 == .bell })
            }
        }
    }

    @Test func hintsShowOnlyWhatOneMayDo() {
        let reading = Self.stage(at: .list("things"), .read)
        var stage = reading
        stage.wait(5_000)
        #expect(
            !["add", "edit", "tick", "delete"].contains { stage.lines[22].contains(" \($0)") }, "\(stage.lines[22])")
        #expect(stage.lines[22].contains("/ filter"))
        #expect(stage.lines[23].contains("read only"))
        stage = Self.stage(at: .list("things"), .append)
        stage.wait(5_000)
        #expect(stage.lines[22].contains("o add") && !stage.lines[22].contains("edit"))
        #expect(stage.lines[23].contains("may only add"))
        stage = Self.stage(at: .list("things"), .write)
        #expect(!stage.lines[23].contains("only"))
        // Pasting and clicking a box are edits, too.
        stage = reading
        stage.send(.input(.paste("x\ny")))
        stage.mouse(.press, row: 1, column: 5)
        stage.mouse(.release, row: 1, column: 5)
        #expect(stage.hand().map(\.content) == Self.hand.map(\.content))
    }

    /// Who may only read is not told how to add.
    @Test(arguments: [Role.read, .append])
    func anEmptyListOffersWhatTheRoleAllows(_ role: Role) {
        var stage = Stage(["things": Hand()])
        stage.send(.granted(.init(person: "ada", everywhere: .none, lists: [.init(name: "things", role: role)])))
        #expect(stage.lines.contains { $0.contains("The list is empty.") })
        #expect(stage.lines.contains { $0.contains("a adds an item; ? shows all keys.") } == (role == .append))
        #expect(stage.lines.contains { $0.contains("? shows all keys.") })
    }

    /// A role that is lowered while somebody types leaves the text in its field; a raised one takes it.
    @Test func aRoleChangesWhileSomebodyTypes() {
        var stage = Self.stage(at: .list("things"), .write)
        stage.press("o 'my words'")
        stage.send(.granted(.init(person: "ada", everywhere: .none, lists: [.init(name: "things", role: .read)])))
        stage.press("enter")
        #expect(stage.lines.contains { $0.contains("your role on 'things' is read; adding needs append") })
        #expect(stage.app.unkeptDrafts.map(\.text) == ["my words"])
        stage.send(.granted(.init(person: "ada", everywhere: .append, lists: [])))
        stage.press("enter")
        #expect(stage.hand().last?.content.text == "my words")
        #expect(stage.app.unkeptDrafts.isEmpty)
    }

    /// Without the server's word, everything may be tried.
    @Test func anUnknownRoleAllowsEverything() {
        var stage = Stage(["things": Self.hand], opening: .list("things"))
        stage.press("o 'x' enter")
        #expect(stage.hand().count == 4)
    }

    @Test func theNameIsTheServers() {
        var stage = Stage(["things": Self.hand], opening: .people("things"))
        stage.send(.granted(.init(person: "Rita\u{1B}[1m", everywhere: .read, lists: [])))
        #expect(stage.lines.contains { $0.contains("Rita�[1m  (you)") })
        stage.press("C")
        #expect(stage.lines.contains { $0.contains("you      Rita�[1m, role read on all lists") })
    }

    @Test(arguments: [
        (Role.none, [], "no role"), (.none, ["a"], "role write on 'a'"),
        (.append, ["a"], "role append on all lists, write on 'a'"),
        (.none, ["a", "b", "c", "d"], "role write on 'a', write on 'b', write on 'c', …"),
    ])
    func theConnectionTellsTheRoles(everywhere: Role, lists: [String], words: String) {
        var stage = Stage(["things": Self.hand], opening: .connection)
        stage.send(
            .granted(.init(person: "ada", everywhere: everywhere, lists: lists.map { .init(name: $0, role: .write) })))
        #expect(stage.lines.contains { $0.hasSuffix("you      ada, \(words)") }, "\(stage.lines)")
    }

    // MARK: The connection

    /// Each state of the connection has its own words.
    @Test(arguments: [
        (ErrorCode.notAuthenticated as ErrorCode?, "your token is not valid any longer", "token not valid"),
        (.versionNotSupported, "update the older of the two", "version refused"),
        (.closedByOperator, "closed by the operator", "refused"),
        (nil, "TLS: the certificate is not trusted: self-signed certificate", "no trust (TLS)"),
        (nil, "nosuchhost: unknown node or service", "host not found"), (nil, "connection refused", "offline"),
    ]) func everyStateHasItsWords(_ code: ErrorCode?, _ reason: String, _ words: String) {
        for place in [Route.list("things"), .lists, .connection] {
            var stage = Stage(isOnline: false)
            stage = Stage(opening: place, isOnline: false)
            stage.send(.connection(.offline(reason: reason, retryIn: code == nil ? 3_000 : nil), refused: code))
            stage.wait(5_000)
            #expect(stage.lines[23].contains(words), "\(stage.lines[23])")
            #expect(stage.lines.contains { $0.contains(reason.prefix(20)) })
            // Only where nothing answers may it help to start a server.
            #expect(!stage.lines.contains { $0.contains("Start one") })
            stage.send(.connection(.online))
            #expect(!stage.lines[23].contains(words))
        }
    }

    @Test func whereNothingAnswersOnThisMachineAServerCanBeStarted() {
        for (host, isOffered) in [("localhost", true), ("host", false)] {
            var stage = Stage(opening: .lists, isOnline: false, server: .tcp(host: host, port: 7777))
            stage.goOffline()
            #expect(stage.lines.contains { $0.contains("Start one: hand serve") } == isOffered)
        }
    }

    /// With a token that is not valid any longer, nothing more is queued: it could not be sent.
    @Test func arevokedTokenQueuesNothing() {
        var stage = Stage(["things": Self.hand], opening: .list("things"))
        stage.press("o 'before' enter 'typed'")
        stage.send(
            .connection(
                .offline(reason: "your token is not valid any longer", retryIn: nil), refused: .notAuthenticated))
        stage.press("enter")
        #expect(stage.hand().count == 4)
        #expect(stage.app.unkeptDrafts.map(\.text) == ["typed"])
        #expect(stage.lines[23].contains("token not valid, 1 not sent"))
        stage.press("esc d")
        #expect(stage.hand().count == 4 && stage.lines.contains { $0.contains("your token is not valid") })
    }

    /// The seconds without an answer are counted from the fifth on, in every state that waits for one.
    @Test(arguments: [ClientMachine.Status.online, .connecting(to: nil)])
    func theSecondsWithoutAnAnswerAreCounted(_ status: ClientMachine.Status) {
        var stage = Stage(["things": Self.hand], opening: .list("things"))
        if status != .online { stage = Stage(opening: .list("things"), isOnline: false) }
        stage.send(.connection(status))
        stage.send(.awaiting(since: stage.now))
        let start = stage.now
        for second in 1...8 {
            while stage.now < start + UInt64(second) * 1_000 {
                let due = stage.app.deadline ?? .max
                stage.wait(min(due, start + UInt64(second) * 1_000) - stage.now)
            }
            #expect(stage.lines[23].contains("no answer for \(second) s") == (second >= 5), "\(stage.lines[23])")
            #expect(stage.lines[23].contains("synced") == (second < 5 && status == .online))
        }
        // It counts again after an answer.
        stage.send(.awaiting(since: nil))
        #expect(!stage.lines[23].contains("no answer"))
        stage.send(.awaiting(since: stage.now))
        stage.wait(4_999)
        #expect(!stage.lines[23].contains("no answer"))
        stage.wait(1)
        #expect(stage.lines[23].contains("no answer for 5 s"))
    }

    /// Who comes for the first time, or gets another name from the server, is told the name.
    @Test func theNameThatOthersSeeIsTold() {
        func said(as name: String, seen: [String: Seen]) -> String {
            var stage = Stage(["things": Notation.hand("a").hand], seen: seen)
            stage.send(.granted(.init(person: name, everywhere: .write, lists: [])))
            return stage.lines[22]
        }
        #expect(said(as: "ada", seen: [:]) == "others see you as ada")
        #expect(said(as: "Ada L", seen: ["x": Seen(logID: 1, revision: 1)]) == "others see you as Ada L")
        #expect(said(as: "ada", seen: ["x": Seen(logID: 1, revision: 1)]).contains("? help"))
    }
}
