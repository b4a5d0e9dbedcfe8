import HandCore
import HandScreens
import HandTestSupport
import HandWire
import Testing

/// Any keys, any edits by others, any answers of the server, in any order and on screens of any size: nothing traps,
/// and the model's list is the replica's.
@Suite struct MonkeyTests {
    private static let keys = Set(
        Action.allCases.flatMap { KeyMap.standard.keys(for: $0) }
            + ["x", "9", "2", "0", "ctrl-w", "ctrl-_", "backspace", "shift-tab", "alt-enter", "y", "n"]
    ).subtracting(["Q", "ctrl-c"]).sorted()

    @Test(arguments: 0..<12)
    func nothingTraps(_ round: Int) {
        var random = SplitMix64(seed: testSeed(4600 + UInt64(round), "monkey"))
        let rules: Rules = round % 4 == 3 ? .fiveCards : Rules(maximumCount: round % 4 == 2 ? 12 : Rules.unlimitedCount)
        let text = round % 4 == 3 ? "?Q♠ ?2♥" : "a +b #c @d !e f 漢 g"
        var stage = Stage(
            ["things": Notation.hand(text, rules: rules).hand, "others": Notation.hand("x y").hand], rows: 12)
        for _ in 0..<600 {
            switch random.next(below: 12) {
            case 0: remote(&stage, &random)
            case 1: stage.confirm(random.next(below: 3) == 0 ? "others" : "things")
            case 2: if random.next(below: 4) == 0 { stage.reject(.notStored) }
            case 3: stage.presence("Bob", on: stage.hand().randomElement(using: &random)?.id)
            case 4: stage.wait(UInt64(random.next(below: 2_000)))
            case 5: happen(&stage, &random)
            case 6:
                let acts: [Mouse.Act] = [.press, .drag, .release, .wheelUp, .wheelDown]
                stage.mouse(acts[random.next(below: 5)], row: random.next(below: 16))
            default: stage.press(Self.keys[random.next(below: Self.keys.count)])
            }
            let canvas = stage.app.view()
            #expect(canvas.rows.count == stage.app.state.size.rows)
            for list in ["things", "others"] { #expect(stage.app.state.list(list).hand == stage.hand(list)) }
        }
    }

    private func remote(_ stage: inout Stage, _ random: inout SplitMix64) {
        // Others see the confirmed list.
        let list = stage.replicas["things"]?.confirmed ?? Hand()
        let place = list.isEmpty ? 0 : random.next(below: list.count)
        let item = Item(id: .random(using: &random), content: .note("by Bob"))
        switch list.isEmpty ? 0 : random.next(below: 4) {
        case 0: stage.remote(.inserting([item], at: place, .before))
        case 1: stage.remote(.deleting(place..<place + 1))
        case 2: stage.remote(.moving(place..<place + 1, to: random.next(below: list.count + 1), .after))
        default:
            guard list[place].content.kind.fields.contains(.text) else { return }
            stage.remote(list.rewording(place, "Bob's"))
        }
    }

    private func happen(_ stage: inout Stage, _ random: inout SplitMix64) {
        switch random.next(below: 6) {
        case 0: stage.goOffline()
        case 1: stage.send(.connection(.online))
        case 2: stage.send(.input(.resize(Size(rows: random.next(below: 20), columns: random.next(below: 60)))))
        case 3: stage.send(.input(.paste("one\ntwo e\u{301}\u{20DD}\u{1160}\nthree")))
        case 4:
            let entries = ["things", "others"].map {
                DownMessage.ListEntry(name: $0, count: 2, revision: 5, rules: Rules())
            }
            stage.send(random.next(below: 2) == 0 ? .lists(entries) : .lists([]))
            stage.arrivals = random.next(below: 2) == 0 ? [:] : nil
        default: stage.send(.state(list: "things", revision: 4, stage.hand()))
        }
    }
}
