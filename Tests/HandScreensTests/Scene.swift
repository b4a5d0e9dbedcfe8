import HandCore
import HandFormats
import HandScreens
import HandSync
import HandWire

/// A state of the client, and the events that lead to it.
struct Scene: CustomStringConvertible, Sendable {
    let name: String
    let play: @Sendable (Size, Bool) -> Stage

    var description: String { name }

    private init(
        _ name: String, _ text: String = mixed, opening route: Route = .list("things"), rules: Rules = Rules(),
        server: HandAddress.Server = .tcp(host: "host", port: 7777), isOnline: Bool = true, isKnown: Bool = true,
        _ body: @escaping @Sendable (inout Stage) -> Void = { _ in }
    ) {
        self.name = name
        play = { size, hasColors in
            var stage = Stage(
                isKnown ? ["things": Notation.hand(text, rules: rules).hand] : [:], opening: route, rows: size.rows,
                columns: size.columns, hasColors: hasColors, isOnline: isOnline, server: server)
            body(&stage)
            return stage
        }
    }

    private static let mixed =
        "#Today milk +bread !The-baker-closes-at-six-on-Saturdays-and-whoever-passes-by-first-takes-two-loaves-home "
        + "@soup #Later 漢字 🍊 ?Q♠"

    private static let commits = [
        Commit(
            revision: 4, author: Stage.bob, sequence: 1, base: 3, time: 1_795_000_000_000, count: 2, digest: 0,
            delta: Delta.inserting(
                [Item(id: ItemID(rawValue: 77), content: .task("eggs", done: false))], at: 0, .after
            )),
        Commit(
            revision: 5, author: Stage.me, sequence: 2, base: 4, time: 1_795_000_123_000, count: 2, digest: 0,
            delta: Delta.editing(at: 1, Change(done: true))),
    ]
    private static let names: [AuthorID: String] = [Stage.bob: "Bob", Stage.me: "ada"]
    private static let id = Notation.hand(mixed).hand[1].id

    static let all: [Scene] = lists + list + together + others

    private static let lists: [Scene] = [
        Scene("lists-loading", opening: .lists, isKnown: false),
        Scene("lists-empty", opening: .lists, isKnown: false) { $0.send(.lists([])) },
        Scene("lists", opening: .lists, isKnown: false) {
            $0.send(
                .lists([
                    DownMessage.ListEntry(name: "groceries", count: 12, revision: 812, rules: Rules()),
                    DownMessage.ListEntry(name: "poker", count: 1, revision: 3, rules: .fiveCards),
                ]))
            $0.press("j")
        },
        Scene("lists-news", opening: .lists, isKnown: false) {
            $0.send(.seen(["groceries": Seen(logID: 9, revision: 3), "trip": Seen(logID: 8, revision: 7)]))
            $0.send(
                .lists([
                    DownMessage.ListEntry(name: "books", count: 1, revision: 3, rules: Rules()),
                    DownMessage.ListEntry(name: "groceries", count: 12, revision: 5, rules: Rules()),
                    DownMessage.ListEntry(name: "trip", count: 40, revision: 7, rules: Rules()),
                ]))
            var news = NewsOfCommits(of: "groceries", since: 3, for: "ada")
            news.take(.history(commits, people: names.map { .init(author: $0.key, name: $0.value) }))
            $0.send(.news(list: "groceries", since: 3, news))
            $0.press("s g g")
        },
        Scene("lists-filter", opening: .lists, isKnown: false) {
            $0.send(
                .lists(
                    ["garden", "groceries", "trip"].map {
                        DownMessage.ListEntry(name: $0, count: 12, revision: 812, rules: Rules())
                    }))
            $0.press("/ 'gr'")
        },
        Scene("lists-new", opening: .lists, isKnown: false) {
            $0.send(.lists([]))
            $0.press("n 'five cards'")
        },
        Scene("lists-delete", opening: .lists, isKnown: false) {
            $0.send(.lists([DownMessage.ListEntry(name: "groceries", count: 12, revision: 812, rules: Rules())]))
            $0.press("D")
        },
        Scene("lists-offline", opening: .lists, isOnline: false, isKnown: false) {
            $0.send(.kept(["groceries"]))
            $0.goOffline()
        },
        Scene("lists-token", opening: .lists, isOnline: false, isKnown: false) {
            let reason = "the token is not valid, or no longer"
            $0.send(.connection(.offline(reason: reason, retryIn: nil), refused: .notAuthenticated))
            $0.wait(4_000)
        },
        Scene("lists-unreachable", opening: .lists, isOnline: false, isKnown: false) { $0.goOffline() },
    ]

    private static let list: [Scene] = [
        Scene("list"), Scene("list-empty", ""), Scene("list-loading", isKnown: false),
        Scene("list-progress", isKnown: false) { $0.send(.list("things", .progress(items: 345_000, of: 1_000_000))) },
        Scene("list-unknown", isKnown: false) {
            $0.send(.lists([DownMessage.ListEntry(name: "groceries", count: 2, revision: 2, rules: Rules())]))
            $0.send(.list("things", .refused(.noSuchList, "there is no list 'things'")))
        },
        Scene("list-unreachable", isOnline: false, isKnown: false) { $0.goOffline() },
        Scene("list-offline", isOnline: false) {
            $0.goOffline()
            $0.press("o 'later' enter esc")
        },
        Scene("list-adding") { $0.press("j o 'new' enter 'more'") },
        Scene("list-editing") { $0.press("j e ' 2 l'") },
        Scene("list-editing-lines") {
            $0.press("j j j e '!' alt-enter 'And the bread of the day before, if there is any left, for 漢字.' up")
        },
        Scene("list-selecting") { $0.press("j v j j") },
        Scene("list-filter") { $0.press("/ 'b'") },
        Scene("list-filter-nothing") { $0.press("/ 'zz' enter") },
        Scene("list-jump") { $0.press(": '5'") },
        Scene("list-sorting") { $0.press("j v j =") },
        Scene("list-ticked-last") {
            $0.press("j space B")
            $0.wait(5_000)
        },
        Scene("list-moving") {
            $0.send(
                .lists(
                    ["home", "things", "trip", "work"].map {
                        DownMessage.ListEntry(name: $0, count: 2, revision: 2, rules: Rules())
                    }))
            $0.press("j m 't' tab")
        },
        Scene("list-refusal") { $0.press("p") },
        Scene("list-full", "?A♣ ?2♦ ?3♥", rules: Rules(maximumCount: 3, allowedKinds: [.card], hasDeck: true)) {
            $0.press("c")
        },
        Scene("list-deck", "", rules: .fiveCards),
        Scene("list-reading") {
            $0.send(.granted(.init(person: "ada", everywhere: .none, lists: [.init(name: "things", role: .read)])))
            $0.wait(5_000)
        },
        Scene("list-silence") {
            $0.press("space")
            $0.send(.awaiting(since: $0.now))
            $0.wait(7_000)
        },
        Scene("list-folded") {
            $0.edit(.changing([1..<5, 6..<8], Change(level: 1)))
            $0.confirm()
            $0.presence("Bob", on: id)
            $0.press("Z")
            $0.wait(5_000)
        },
        Scene("list-dragging") {
            $0.mouse(.press, row: 3)
            $0.mouse(.drag, row: 5)
        },
    ]

    private static let together: [Scene] = [
        Scene("together-people") {
            $0.presence("Bob", on: id)
            $0.presence("Cleo with a very long name indeed", on: id, author: 3)
        },
        Scene("together-editors") {
            $0.presence("Bob", on: id)
            $0.presence("Cleo", on: id, isEditing: true, author: 3)
            $0.presence("Dan with a very long name indeed", on: id, isEditing: true, author: 4)
        },
        Scene("together-flash") { $0.remote($0.hand().rewording(1, "milk, two")) },
        Scene("together-pending") { $0.press("j space o 'mine' enter esc") },
        Scene("together-overridden") {
            $0.presence("Bob", on: nil)
            $0.press("j e 'X' enter")
            $0.confirm()
            $0.presence("Bob", on: nil)
            $0.remoteBefore($0.hand().rewording(1, "Bob's"))
        },
        Scene("together-deleted") {
            $0.presence("Cat", on: nil)
            $0.press("j j j space k e ' and crisps, the salted ones, from the shop at the corner' enter")
            $0.confirm()
            $0.presence("Cat", on: nil)
            $0.remoteBefore(.deleting(2..<3))
        },
        Scene("together-elsewhere") {
            $0.press("o 'mine' enter esc")
            $0.reject(.notStored)
            $0.press("H")
        },
        Scene("together-rejected") {
            $0.press("o 'mine' enter esc")
            $0.reject(.notStored)
        },
        Scene("together-notices") {
            $0.press("o 'mine' enter esc")
            $0.reject(.notStored)
            $0.press("!")
        },
    ]

    private static let others: [Scene] = [
        Scene("item-task", opening: .item(list: "things", id: id.description)) {
            $0.presence("Bob", on: id)
            $0.presence("Cleo", on: id, isEditing: true, author: 3)
        },
        Scene("item-link") { $0.press("5 G enter") },
        Scene("item-card") { $0.press("G enter") },
        Scene("item-editing", opening: .item(list: "things", id: id.description)) { $0.press("e ', fresh'") },
        Scene("item-gone", opening: .item(list: "things", id: id.description)) { $0.remote(.deleting(1..<2)) },
        Scene("item-unknown", opening: .item(list: "things", id: "zzzz")),
        Scene("history-loading", opening: .history("things")),
        Scene("history", opening: .history("things")) { $0.send(.history(list: "things", commits, people: names)) },
        Scene("history-mine", opening: .history("things")) {
            $0.send(.history(list: "things", commits, people: names))
            $0.press("tab")
        },
        Scene("history-offline", opening: .history("things"), isOnline: false) { $0.goOffline() },
        Scene("revision-loading", opening: .revision(list: "things", 5)),
        Scene("revision", opening: .revision(list: "things", 5)) {
            $0.send(.history(list: "things", commits, people: names))
            $0.send(.state(list: "things", revision: 5, Notation.hand("eggs +milk").hand))
        },
        Scene("revision-restore", opening: .revision(list: "things", 5)) {
            $0.send(.state(list: "things", revision: 5, Notation.hand("eggs +milk").hand))
            $0.press("R")
        },
        Scene("people", opening: .people("things")) {
            $0.presence("Bob", on: id)
            $0.presence("Cleo", on: id, isEditing: true, author: 4)
            $0.presence("Eve\u{1B}[31m\u{202E}", on: nil, author: 3)
        },
        Scene("notices-none", opening: .notices("things")), Scene("share", opening: .share("things")),
        Scene("share-here", opening: .share("Wocheneinkauf"), server: HandAddress.local.server),
        Scene("lists-duplicate", opening: .lists, isKnown: false) {
            $0.send(.lists([DownMessage.ListEntry(name: "groceries", count: 12, revision: 812, rules: Rules())]))
            $0.press("y")
        },
        Scene("help-list") { $0.press("?") }, Scene("help", opening: .help), Scene("connection", opening: .connection),
        Scene("connection-offline", opening: .connection) {
            $0.press("C")
            $0.goOffline()
        },
        Scene("nowhere", opening: .nowhere("/things/nonsense")) {
            $0.send(.lists([DownMessage.ListEntry(name: "groceries", count: 2, revision: 2, rules: Rules())]))
        },
    ]
}
