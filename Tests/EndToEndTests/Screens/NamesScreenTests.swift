import Foundation
import HandTestSupport
import Testing

/// A list that is renamed, deleted and restored while a screen shows it.
@Suite(.serialized) struct NamesScreenTests {
    private let ada: CommandUser
    private let tmux: Tmux
    private var pane: String { tmux.first }

    /// Opens the list in a terminal and starts typing into it.
    init() throws {
        ada = try CommandUser()
        try ada.hand("create", "list")
        try ada.hand("add", "milk", "-q")
        tmux = try Tmux(environment: ada.environment, "\(Binary.path) open")
        try tmux.wait(for: pane, until: ScreenTests.isSynced)
        try tmux.press("o", in: pane)
        try tmux.type("typed", in: pane)
        try tmux.wait(for: pane) { $0.contains { $0.contains("typed") } }
    }

    @Test func aListIsRenamedUnderAScreen() throws {
        try ada.named("ben").hand("rename", "list", "new")
        try ada.named("ben").hand("create", "list")
        try tmux.wait(for: pane) { $0[0].contains("new") }
        try tmux.press("Enter", in: pane)
        try tmux.press("Escape", in: pane)
        try tmux.wait(for: pane) { ScreenTests.items($0) == ["[ ] milk", "[ ] typed"] && ScreenTests.isSynced($0) }
        #expect(try ada.lines("-l", "new") == ["[ ] milk", "[ ] typed"])
        #expect(try ada.lines() == [])
        try ada.named("ben").hand("add", "bread", "-q", "-l", "new")
        try tmux.wait(for: pane) { ScreenTests.items($0).contains("[ ] bread") }
    }

    /// Text typed into a list that is then deleted is not committed anywhere, and stays in the field until the person
    /// leaves it; the list's items stay on the screen.
    @Test func aListIsDeletedUnderAScreen() throws {
        try ada.named("ben").hand("delete", "--force", "list")
        try ada.named("ben").hand("create", "list")
        try tmux.wait(for: pane) { $0.last?.contains("not on the server") ?? false }
        try tmux.press("Enter", in: pane)
        try tmux.wait(for: pane) { screen in
            ["▸ typed", "the list 'list' was deleted"].allSatisfy { text in screen.contains { $0.contains(text) } }
        }
        try tmux.press("Escape", in: pane)
        // A key right after Esc would be taken as one with Alt.
        try tmux.wait(for: pane) { !$0.joined().contains("+ task ▸") }
        try tmux.press("d", in: pane)
        try tmux.wait(for: pane) { $0.contains { $0.contains("hand undelete list") } }
        try tmux.press("Q", in: pane)
        #expect(try ada.messages("sync") == "nothing was waiting\n")
        #expect(try ada.lines() == [])
        try ada.hand("undelete", "list", "--name", "back")
        #expect(try ada.lines("-l", "back") == ["[ ] milk"])
    }

    /// A list that somebody restores is followed again, also under another name; what was being typed goes into it.
    @Test func aListIsRestoredUnderAScreen() throws {
        try ada.named("ben").hand("delete", "--force", "list")
        try tmux.wait(for: pane) { $0.last?.contains("not on the server") ?? false }
        try ada.named("ben").hand("undelete", "list", "--name", "back")
        try tmux.wait(for: pane) { $0[0].contains("back") && ScreenTests.isSynced($0) }
        try tmux.press("Enter", in: pane)
        try tmux.press("Escape", in: pane)
        try tmux.wait(for: pane) { ScreenTests.items($0) == ["[ ] milk", "[ ] typed"] && ScreenTests.isSynced($0) }
        #expect(try ada.lines("-l", "back") == ["[ ] milk", "[ ] typed"])
    }

    /// The screen of lists renames, deletes and brings back.
    @Test func listsAreRenamedAndBroughtBack() throws {
        try tmux.press("Escape", in: pane)
        try tmux.wait(for: pane) { !$0.contains { $0.contains("typed") } }
        try tmux.press("q", in: pane)
        try tmux.wait(for: pane) { $0[0].contains("Lists on") && $0.contains { $0.contains("list  1 item") } }
        try tmux.press("e", in: pane)
        try tmux.type(" of Ada", in: pane)
        try tmux.press("Enter", in: pane)
        try tmux.wait(for: pane) { $0.contains { $0.contains("list of Ada  1 item") } }
        try tmux.press("D", in: pane)
        try tmux.type("list of Ada", in: pane)
        try tmux.press("Enter", in: pane)
        try tmux.wait(for: pane) { $0.contains { $0.contains("There are no lists yet") } }
        try tmux.press("u", "Enter", in: pane)
        try tmux.wait(for: pane) { $0.contains { $0.contains("list of Ada  1 item") } }
        #expect(try ada.lines("-l", "list of Ada") == ["[ ] milk"])
    }
}
