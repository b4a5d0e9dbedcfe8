import HandScreens
import Testing

@Suite struct KeyMapTests {
    /// The default keys have no conflicts, and each is a valid key.
    @Test func theStandardKeysAreConsistent() throws {
        _ = try KeyMap([:])
        for action in Action.allCases {
            #expect(!action.manual.keys.isEmpty, "\(action.rawValue) has no key")
            #expect(KeyMap.standard.keys(for: action) == action.manual.keys)
            #expect(!action.manual.long.isEmpty)
        }
    }

    @Test func everyActionIsAvailableSomewhere() {
        let done = Set(ScreenKind.allCases.flatMap(\.actions))
        #expect(done == Set(Action.allCases))
    }

    @Test func theFileChangesKeys() throws {
        let keys = try KeyMap(["delete": ["f f", "f8"]])
        var stage = Stage(["things": Notation.hand("a b c").hand], rows: 12, keys: keys)
        stage.press("d")
        #expect(stage.hand().count == 3)
        stage.press("f")
        #expect(stage.hand().count == 3)
        stage.press("f f8")
        #expect(stage.hand().count == 1)
        stage.wait(5_000)
        #expect(stage.lines[10].contains("ff delete"))
    }

    static let faults: [([String: [String]], String)] = [
        (["remove": ["d"]], "'remove' is not an action"), (["delete": ["hyper-d"]], "'hyper-d' is not a key"),
        (["delete": ["u"]], "'u' would be both delete and undo"), (["delete": ["?"]], "would be both"),
        (["delete": ["z z"]], "'z' is fold, so 'z z' cannot be delete on the screen 'list'"),
        (["delete": ["g"]], "'g' is delete, so 'g g' cannot be top on the screen 'list'"),
        (["top": ["f9"], "undo": ["f9 u"]], "'f9' is top, so 'f9 u' cannot be undo on the screen"),
        (["delete": [""]], "delete:"), (["delete": ["ctrl-i"]], "ctrl-i"),
    ]

    @Test(arguments: faults)
    func errorsAreExplained(_ settings: [String: [String]], _ words: String) {
        #expect { try KeyMap(settings) } throws: { "\($0)".contains(words) }
    }
}
