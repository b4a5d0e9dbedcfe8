import ArgumentParser
import HandFormats
import HandScreens

struct Keys: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys", abstract: "Print the keys of 'hand open', and their names in the configuration file.",
        discussion: """
            Change keys in ~/.config/hand/config.toml, below [keys]: delete = ["d", "del"], top = ["g g"]. \(notation)
            """)

    static let notation = """
        Keys are characters, enter, esc, tab, space, backspace, del, ins, arrows (up, down, left, right), home, end, pgup, pgdn, \
        f1…f12, with or without ctrl-, alt- or shift- in front. Keys with spaces between them are pressed one after another.
        """

    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        let map = try Settings.keys()
        if json {
            let keys = Action.allCases.map { action in
                JSONValue.Member(action.rawValue, .array(map.keys(for: action).map { .string($0) }))
            }
            return Output.json(.object(keys))
        }
        for action in Action.allCases {
            func column(_ text: String, _ width: Int) -> String {
                text + String(repeating: " ", count: max(1, width - text.count))
            }
            let keys = map.keys(for: action).joined(separator: ", ")
            Output.line("\(column(action.rawValue, 14))\(column(keys, 24))\(action.manual.long)")
        }
    }
}
