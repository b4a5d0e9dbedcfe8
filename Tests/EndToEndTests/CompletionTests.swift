import Foundation
import HandTestSupport
import Testing

/// The completions that bash offers for Tab, with the script that the command prints.
@Suite(.serialized) struct CompletionTests {
    let user: CommandUser

    init() throws { user = try CommandUser() }

    /// Makes bash complete the last of the words. Returns what it offers.
    private func offered(_ words: String..., environment: [String: String] = [:]) throws -> [String] {
        let script = """
            source <("$0" --generate-completion-script bash)
            COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
            $(complete -p hand | sed 's/.*-F \\([^ ]*\\) .*/\\1/') hand "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = ["-c", script, Binary.path] + words
        let folder = URL(fileURLWithPath: Binary.path).deletingLastPathComponent().path
        process.environment = ProcessInfo.processInfo.environment.merging(user.environment) { $1 }
            .merging(["PATH": folder + ":/usr/bin:/bin"]) { $1 }.merging(environment) { $1 }
        let (output, messages) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = messages
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let errors = String(decoding: messages.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(errors == "", "Tab prints nothing")
        return text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    }

    @Test func listsAndItems() throws {
        for name in ["groceries", "garden", "work"] { try user.hand("create", name) }
        try user.hand("add", "-l", "garden", "roses", "tulips")
        let ids = try user.hand("ls", "-l", "garden").split(separator: "\n").map { line in
            let id = String(line.split(separator: " ")[1])
            return id.allSatisfy(\.isNumber) ? "@" + id : id
        }
        #expect(try offered("hand", "delete", "g").sorted() == ["garden", "groceries"])
        #expect(try offered("hand", "open", "ga") == ["garden"])
        #expect(try offered("hand", "ls", "-l", "wo") == ["work"])
        #expect(try offered("hand", "rm", "-l", "garden", "").filter { !$0.hasPrefix("-") }.sorted() == ids.sorted())
        #expect(try offered("hand", "mv", "1", "--list", "garden", "--after", String(ids[0].prefix(3))) == [ids[0]])
        #expect(try offered("hand", "mv", "1", "-l", "nowhere", "--after", "") == [])
        try user.hand("delete", "--force", "work")
        #expect(try offered("hand", "undelete", "").filter { !$0.hasPrefix("-") } == ["work"])
    }

    /// Without a server, or if a person would have to type the token, nothing is offered, printed or asked.
    @Test func withoutAServerNothingIsOffered() throws {
        try user.hand("create", "garden")
        #expect(try offered("hand", "ls", "-l", "g", environment: ["HAND_TOKEN": "?"]) == [])
        #expect(try offered("hand", "ls", "--url", "nonsense", "-l", "g") == [])
        user.server.kill()
        #expect(try offered("hand", "ls", "-l", "g") == [])
    }
}
