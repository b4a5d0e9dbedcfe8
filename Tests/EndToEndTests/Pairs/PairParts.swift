import Foundation
import HandTestSupport
import Testing

/// A running command of a pair.
protocol PairPart {
    typealias End = (status: Int32, messages: String)

    /// Waits until it has ended. Ends it if it would keep running.
    func end() throws -> End
}

/// A command that ends by itself.
struct RunningCommand: PairPart {
    let process = Process()
    let said: String

    init(_ arguments: [String], _ environment: [String: String], _ said: String, output: FileHandle? = nil) throws {
        self.said = said
        process.executableURL = URL(fileURLWithPath: Binary.path)
        process.arguments = arguments
        process.environment = outerEnvironment.merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output ?? FileHandle.nullDevice
        _ = FileManager.default.createFile(atPath: said, contents: nil)
        process.standardError = FileHandle(forWritingAtPath: said)
        try process.run()
    }

    func end() throws -> End {
        process.waitUntilExit()
        return (process.terminationStatus, try String(contentsOfFile: said, encoding: .utf8))
    }
}

/// A person who watches: each commit is reported once, in order, as in the history.
struct RunningWatch: PairPart {
    private let command: RunningCommand
    private let told: String
    private let history: () throws -> String

    /// - Parameter history: returns the commits of the list, whatever its name is by then, or nothing if it is deleted.
    init(
        _ arguments: [String], _ environment: [String: String], _ said: String, history: @escaping () throws -> String
    ) throws {
        told = said + ".told"
        self.history = history
        _ = FileManager.default.createFile(atPath: told, contents: nil)
        command = try RunningCommand(arguments, environment, said, output: FileHandle(forWritingAtPath: told))
        let told = told
        #expect(try eventually { try Self.lines(told).count == 1 }, "it has not received the list")
    }

    private static func lines(_ path: String) throws -> [String] {
        try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init)
    }

    func end() throws -> End {
        let commits = try history().split(separator: "\n").map(String.init)
        let first = try #require(try Self.lines(told).first?.firstMatch(of: #/"revision":([0-9]+)/#))
        let missed = Array(commits.dropFirst(Int(first.1) ?? 0))
        let hasAll = try eventually { try Self.lines(told).count >= missed.count + 1 || !command.process.isRunning }
        #expect(hasAll, "it does not report everything")
        if command.process.isRunning {
            #expect(try Array(Self.lines(told).dropFirst()) == missed)
            command.process.interrupt()
            return (0, try command.end().messages)
        }
        return try command.end()
    }
}

/// A person who adds an item on the full screen, in a terminal of their own, and leaves it, or is killed, once the
/// screen shows that the item is safe, or pending.
struct RunningScreen: PairPart {
    private let tmux: Tmux
    private let text: String
    private let isKilled: Bool

    init(_ arguments: [String], _ environment: [String: String], text: String, isKilled: Bool) throws {
        (self.text, self.isKilled) = (text, isKilled)
        let command = ([Binary.path] + arguments).joined(separator: " ")
        tmux = try Tmux(environment: environment, "\(command); echo ended $?; exec cat")
        try tmux.wait(for: tmux.first, until: ScreenTests.isSynced)
        try tmux.press("G", "o", in: tmux.first)
        try tmux.type(text, in: tmux.first)
        try tmux.wait(for: tmux.first) { $0.contains { $0.contains(text) } }
    }

    func end() throws -> End {
        try tmux.press("Enter", in: tmux.first)
        let screen = try tmux.wait(for: tmux.first) { lines in
            // The field for the next item is open: the screen is drawn completely. An item that is not safe yet has a
            // dot in front; the line at the bottom is drawn after it.
            let isDrawn = lines.joined().contains("+ task ▸") && !lines.contains { $0.contains("•") }
            let isAdded = isDrawn && ScreenTests.items(lines).contains("[ ] " + text)
            return isAdded && ScreenTests.isSynced(lines) || Self.isGone(lines)
        }
        if isKilled {
            try tmux.killProgram(in: tmux.first)
        } else {
            try tmux.press("Escape", in: tmux.first)
            try tmux.wait(for: tmux.first) { !$0.joined().contains("+ task ▸") }
            try tmux.press("Q", in: tmux.first)
        }
        let end = #/ended ([0-9]+)/#
        let last = try tmux.wait(for: tmux.first) { $0.joined().contains(end) }
        let status = last.joined().firstMatch(of: end).flatMap { Int32($0.1) } ?? -1
        if Self.isGone(screen) { return (3, "hand: the list is gone") }
        return (isKilled && status == 128 + SIGKILL ? 0 : status, screen.joined(separator: "\n"))
    }

    /// The list was deleted: the typed text is still on the screen, and a message says how the list can be restored.
    private static func isGone(_ lines: [String]) -> Bool { lines.joined().contains("was deleted; bring it back") }
}
