import Foundation
import HandCore
import HandScreens
import HandTestSupport
import HandWire
import Testing

/// The diagram of the screens in HandScreens' README, compared with the ways found by pressing every key on every
/// screen.
@Suite struct WaysTests {
    static let readme = Project.root.appending(path: "Sources/Machines/HandScreens/README.md")

    @Test func theDiagramIsCorrect() throws {
        let diagram = Self.diagram()
        let text = try String(contentsOf: Self.readme, encoding: .utf8)
        let start = try #require(text.range(of: "```mermaid\n"))
        let end = try #require(text.range(of: "```", range: start.upperBound..<text.endIndex))
        if ProcessInfo.processInfo.environment["HAND_WRITE_GOLDEN"] != nil {
            let new = text.replacingCharacters(in: start.upperBound..<end.lowerBound, with: diagram)
            try Data(new.utf8).write(to: Self.readme)
            return
        }
        #expect(String(text[start.upperBound..<end.lowerBound]) == diagram)
    }

    @Test func everyScreenCanBeReachedAndLeft() {
        let ways = Self.ways()
        for kind in ScreenKind.allCases where kind != .nowhere {
            // A screen that no key leads to must be the first one.
            #expect(kind == .lists || ways.contains { $0.to == kind }, "nothing leads to \(kind.rawValue)")
        }
        for kind in ScreenKind.allCases where kind != .lists {
            #expect(ways.contains { $0.from == kind && $0.action == .back }, "nothing leads out of \(kind.rawValue)")
        }
    }

    private struct Way: Hashable {
        let from: ScreenKind
        let action: Action
        let to: ScreenKind
    }

    private static func diagram() -> String {
        var lines = ["flowchart LR"]
        // Ways that every screen has would hide the others.
        let common: Set<Action> = [.help, .connection, .back]
        for way in ways() where !common.contains(way.action) {
            let key = KeyMap.standard.keys(for: way.action).first ?? ""
            lines.append("    \(way.from.rawValue) -- \"\(key): \(way.action.manual.short)\" --> \(way.to.rawValue)")
        }
        for (action, target) in [(Action.help, "help"), (.connection, "connection"), (.back, "what lies beneath")] {
            let key = KeyMap.standard.keys(for: action).first ?? ""
            lines.append(
                "    every[every screen] -- \"\(key): \(action.manual.short)\" --> \(target == "help" || target == "connection" ? target : "beneath[\(target)]")"
            )
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func ways() -> [Way] {
        var ways: [Way] = []
        for kind in ScreenKind.allCases {
            for action in kind.actions {
                guard let key = KeyMap.standard.keys(for: action).first else { continue }
                var stage = stage(on: kind)
                guard stage.app.router.top.route.kind == kind else { continue }
                stage.press(key)
                // The first question is answered with yes.
                if stage.app.router.top.prompt?.isConfirmation == true { stage.press("y") }
                let to = stage.app.router.top.route.kind
                let way = Way(from: kind, action: action, to: to)
                if to != kind, !ways.contains(way) { ways.append(way) }
            }
        }
        return ways
    }

    /// Returns a screen on which every action is possible.
    private static func stage(on kind: ScreenKind) -> Stage {
        let hand = Notation.hand(">a b @c").hand
        let entry = DownMessage.ListEntry(name: "things", count: 3, revision: 5, rules: Rules())
        let commit = Commit(
            revision: 5, author: 1, sequence: 1, base: 4, time: 0, count: 3, digest: 0,
            delta: Delta.inserting([hand[0]], at: 0, .after))
        let route: Route =
            switch kind {
            case .lists: .lists
            case .list: .list("things")
            case .item: .item(list: "things", id: hand[0].id.description)
            case .history: .history("things")
            case .revision: .revision(list: "things", 5)
            case .people: .people("things")
            case .notices: .notices("things")
            case .share: .share("things")
            case .help: .help
            case .connection: .connection
            case .nowhere: .nowhere("/a/b")
            }
        var stage = Stage(["things": hand], opening: route)
        stage.send(.lists([entry]))
        stage.send(.history(list: "things", [commit], people: [1: "ada"]))
        stage.send(.state(list: "things", revision: 5, hand))
        stage.presence("Bob", on: hand[1].id)
        stage.remote(stage.hand().rewording(1, "x"))
        if kind == .list {
            stage.press("o 'mine' enter esc")
            stage.reject(.notStored)
        }
        if kind == .people { stage.press("j") }
        return stage
    }
}
