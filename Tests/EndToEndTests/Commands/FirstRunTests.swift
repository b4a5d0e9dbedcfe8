import Foundation
import HandTestSupport
import Testing

/// Plain `hand`, as a newcomer types it.
@Suite(.serialized) struct FirstRunTests {
    private let user: CommandUser

    init() throws {
        var user = try CommandUser()
        user.environment["HAND_URL"] = "hand+unix://\(user.server.socket)"
        self.user = user
    }

    private func newcomer() throws -> Tmux {
        let tmux = try Tmux(environment: user.environment, "sh")
        try enter(Binary.path, tmux)
        return tmux
    }

    private func enter(_ text: String, _ tmux: Tmux) throws {
        if !text.isEmpty { try tmux.type(text, in: tmux.first) }
        try tmux.press("Enter", in: tmux.first)
    }

    private func wait(_ tmux: Tmux, for text: String) throws {
        try tmux.wait(for: tmux.first) { $0.joined(separator: "\n").contains(text) }
    }

    @Test func itShowsTheListsAndOpensThem() throws {
        try user.hand("create", "groceries")
        try user.hand("create", "poker")
        let tmux = try newcomer()
        try wait(tmux, for: "It has 2 lists: groceries, poker")
        try wait(tmux, for: "1  open the lists")
        try enter("1", tmux)
        try wait(tmux, for: "0 items")
        try tmux.press("q", in: tmux.first)
        try wait(tmux, for: "to leave")
    }

    @Test func aBadNameIsRefusedBeforeTheAddressIsAskedFor() throws {
        let tmux = try newcomer()
        try wait(tmux, for: "3  name another server")
        try enter("3", tmux)
        try wait(tmux, for: "name:")
        try enter("my server", tmux)
        try wait(tmux, for: "'my server' cannot be a context's name")
    }

    @Test func itCreatesTheFirstList() throws {
        let tmux = try newcomer()
        try wait(tmux, for: "It has no lists yet.")
        try enter("1", tmux)
        try wait(tmux, for: "name:")
        try enter("groceries", tmux)
        try wait(tmux, for: "created 'groceries'")
        #expect(try user.hand("lists").contains("groceries"))
    }

    @Test func withoutAServerItStartsOneOrNamesAnother() throws {
        user.server.kill()
        var tmux = try newcomer()
        try wait(tmux, for: "no server answers at")
        try enter("3", tmux)
        try wait(tmux, for: "name:")
        try enter("work", tmux)
        try wait(tmux, for: "address:")
        try enter("hands://lists.example.org", tmux)
        try wait(tmux, for: "added 'work'")
        tmux = try newcomer()
        try wait(tmux, for: "1  try it with a scripted person")
        try enter("", tmux)
        try enter(Binary.path, tmux)
        try wait(tmux, for: "hand serve")
        try enter("nine", tmux)
        try wait(tmux, for: "expected a number from 1 to 4, found 'nine'")
    }

    /// Scripts get the help.
    @Test func withoutATerminalItIsTheHelp() throws {
        #expect(try user.hand().contains("SUBCOMMANDS") || user.hand().contains("SCREEN"))
    }
}
