import Foundation
import HandTestSupport
import Testing

/// Terminals in a tmux of their own, driven through its control mode: tmux reports when a screen has changed, so no
/// test waits by the clock.
final class Tmux {
    private let folder: TemporaryFolder
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var unread = Data()
    private let watchdog: DispatchSourceTimer

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Starts with one terminal that runs `command`.
    init(rows: Int = 24, columns: Int = 80, environment: [String: String], _ command: String) throws {
        folder = try TemporaryFolder()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "tmux", "-C", "-S", folder.path + "/tmux", "-f", "/dev/null", "new-session", "-x", "\(columns)", "-y",
            "\(rows)",
            command,
        ]
        var all = outerEnvironment.merging(environment) { $1 }
        all["TMUX"] = nil
        all["TERM"] = "xterm-256color"
        all["LC_ALL"] = "C.UTF-8"
        process.environment = all
        process.standardInput = input
        process.standardOutput = output
        // A screen that never appears ends the test instead of blocking it forever.
        watchdog = DispatchSource.makeTimerSource(queue: .global())
        watchdog.schedule(deadline: .now() + 600)
        let socket = folder.path + "/tmux"
        watchdog.setEventHandler { Self.killServer(socket) }
        watchdog.resume()
        try Self.run(process)
        _ = try reply()
        try ask("refresh-client -C \(columns)x\(rows)")
    }

    deinit {
        watchdog.cancel()
        Self.killServer(folder.path + "/tmux")
        try? input.fileHandleForWriting.close()
    }

    /// Ends the terminals with their programs.
    func end() { Self.killServer(folder.path + "/tmux") }

    /// Starts a process that gets signals: a test's thread blocks them, and a child inherits that.
    private static func run(_ process: Process) throws {
        var (none, before) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        try process.run()
    }

    /// Ends the terminals and their programs, as when their windows are closed.
    private static func killServer(_ socket: String) {
        let killer = Process()
        killer.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        killer.arguments = ["tmux", "-S", socket, "kill-server"]
        try? run(killer)
        killer.waitUntilExit()
    }

    /// Opens another terminal. Returns its name.
    func open(_ command: String) throws -> String {
        try ask("new-window -P -F '#{pane_id}' \(Self.quoted(command))").first ?? ""
    }

    var first: String { "%0" }

    /// The names of the terminals whose programs still run.
    func panes() throws -> [String] { try ask("list-panes -s -F '#{pane_id}'") }

    /// Presses keys, with tmux's names.
    func press(_ keys: String..., in pane: String) throws {
        try ask("send-keys -t \(pane) " + keys.joined(separator: " "))
    }

    func type(_ text: String, in pane: String) throws {
        try ask("send-keys -t \(pane) -l \(Self.quoted(text))")
    }

    /// Sends bytes as a terminal would.
    func send(_ bytes: String, in pane: String) throws {
        let hex = bytes.utf8.map { String($0, radix: 16) }.joined(separator: " ")
        try ask("send-keys -t \(pane) -H \(hex)")
    }

    /// Pastes as a person does with the terminal's menu.
    func paste(_ text: String, in pane: String) throws {
        try ask("set-buffer \"\(text.replacing("\n", with: "\\n"))\"")
        try ask("paste-buffer -p -t \(pane)")
    }

    private static func quoted(_ text: String) -> String { "'" + text.replacing("'", with: "'\\''") + "'" }

    /// Kills the program in a terminal as `kill -9` does, but not the shell that started it.
    func killProgram(in pane: String) throws {
        let shell = try ask("display-message -p -t \(pane) '#{pane_pid}'").first ?? ""
        _ = try Binary.run(["-9", "-P", shell], program: "/usr/bin/pkill")
    }

    func screen(_ pane: String) throws -> [String] { try ask("capture-pane -p -t \(pane)") }

    /// Whether anything on the screen has a color.
    func colors(_ pane: String) throws -> Bool {
        try ask("capture-pane -p -e -t \(pane)").joined().contains(#/\u{1B}\[([0-9;]*;)?(3|4)[0-7]m/#)
    }

    func resize(rows: Int, columns: Int) throws { try ask("refresh-client -C \(columns)x\(rows)") }

    /// Waits until a terminal shows the expected text.
    @discardableResult
    func wait(for pane: String, until isRight: ([String]) -> Bool) throws -> [String] {
        while true {
            let lines = try screen(pane)
            if isRight(lines) { return lines }
            do { try waitForOutput() } catch {
                throw Failure(description: "the expected screen did not appear:\n" + lines.joined(separator: "\n"))
            }
        }
    }

    // MARK: Control mode

    /// Sends a command. Returns the lines of its answer.
    @discardableResult
    private func ask(_ command: String) throws -> [String] {
        input.fileHandleForWriting.write(Data((command + "\n").utf8))
        return try reply()
    }

    private var sawOutput = false

    private func reply() throws -> [String] {
        var lines: [String]?
        while let line = try nextLine() {
            if lines == nil {
                if line.hasPrefix("%begin") { lines = [] }
            } else if line.hasPrefix("%end") {
                return lines ?? []
            } else if line.hasPrefix("%error") {
                throw Failure(description: (lines ?? []).joined(separator: "\n"))
            } else {
                lines?.append(line)
            }
        }
        throw Failure(description: "tmux has ended")
    }

    private func waitForOutput() throws {
        if sawOutput {
            sawOutput = false
            return
        }
        while let line = try nextLine() {
            if line.hasPrefix("%output") { return }
        }
        throw Failure(description: "tmux has ended")
    }

    private func nextLine() throws -> String? {
        while true {
            if let end = unread.firstIndex(of: 10) {
                let line = String(decoding: unread[unread.startIndex..<end], as: UTF8.self)
                unread = unread[(end + 1)...]
                if line.hasPrefix("%output") { sawOutput = true }
                return line
            }
            var waiting = pollfd(fd: output.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&waiting, 1, 120_000) == 1 else {
                throw Failure(description: "tmux sent nothing for two minutes")
            }
            let more = output.fileHandleForReading.availableData
            if more.isEmpty { return nil }
            unread += more
        }
    }
}
