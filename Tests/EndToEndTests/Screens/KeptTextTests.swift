import Foundation
import Glibc
import HandTestSupport
import Testing

/// What is typed on the screen survives the end of the terminal.
@Suite(.serialized) struct KeptTextTests {
    let server: RunningServer
    let environment: [String: String]
    private var file: String { server.folder.path + "/pid" }

    init() throws {
        server = try RunningServer(try TemporaryFolder())
        environment = [
            "HAND_URL": "hand+unix://\(server.socket)/list", "XDG_STATE_HOME": server.folder.path + "/state",
            "XDG_CONFIG_HOME": server.folder.path + "/config", "HAND_NAME": "ada",
        ]
        _ = try hand("create", "list")
        _ = try hand("add", "milk")
    }

    private func hand(_ arguments: String...) throws -> String {
        try Binary.run(arguments, environment: environment).output
    }

    private func opened() throws -> (tmux: Tmux, process: Int32) {
        try? FileManager.default.removeItem(atPath: file)
        let tmux = try Tmux(
            environment: environment, "sh -c 'echo $$ > \(file); exec \(Binary.path) open' 2> \(file).err; cat")
        try tmux.wait(for: tmux.first, until: ScreenTests.isSynced)
        let text = try String(contentsOfFile: file, encoding: .utf8)
        return (tmux, try #require(Int32(text.trimmingCharacters(in: .whitespacesAndNewlines))))
    }

    private func drafts() throws -> [String] {
        let clients = server.folder.path + "/state/hand/clients"
        let all = FileManager.default.enumerator(atPath: clients)?.allObjects as? [String] ?? []
        return all.filter { $0.contains("/drafts/") }.map { clients + "/" + $0 }
    }

    /// The window is closed, the program is told to end, or the whole of tmux is.
    @Test(arguments: [SIGHUP, SIGTERM, 0]) func typedTextIsOfferedAgain(_ signal: Int32) throws {
        var (tmux, process) = try opened()
        try tmux.type("o", in: tmux.first)
        try tmux.wait(for: tmux.first) { $0.contains { $0.contains("+ task") } }
        try tmux.type("half a thou", in: tmux.first)
        try tmux.wait(for: tmux.first) { $0.contains { $0.contains("half a thou") } }
        if signal == 0 {
            tmux.end()
        } else {
            kill(process, signal)
            try tmux.wait(for: tmux.first) { !$0.joined().contains("half a thou") }
        }
        while kill(process, 0) == 0 { sched_yield() }
        if signal != 0 {
            // It is written after the screen is restored.
            let told = try String(contentsOfFile: file + ".err", encoding: .utf8)
            #expect(told.contains("what you were typing is kept; it is offered again when you open 'list'"), "\(told)")
        }
        let files = try drafts()
        #expect(files.count == 1)
        let modes = try files.map {
            try FileManager.default.attributesOfItem(atPath: $0)[.posixPermissions] as? Int
        }
        #expect(modes == [0o600])
        tmux = try opened().tmux
        try tmux.wait(for: tmux.first) { $0.contains { $0.contains("half a thou") } && $0.joined().contains("closed") }
        try tmux.type("ght", in: tmux.first)
        try tmux.press("Enter", in: tmux.first)
        try tmux.wait(for: tmux.first) { ScreenTests.isSynced($0) && ScreenTests.items($0).count == 2 }
        try tmux.press("Escape", "Q", in: tmux.first)
        #expect(try hand("ls").contains("half a thought"))
        #expect(try drafts().isEmpty)
    }
}
