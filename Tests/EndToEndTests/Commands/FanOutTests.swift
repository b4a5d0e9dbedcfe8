import Foundation
import HandTestSupport
import Testing

/// The server in plain C that the speed tests compare with: `hand load` must accept it as a server.
@Suite struct FanOutTests {
    @Test func itServesALoadTest() throws {
        let folder = try TemporaryFolder()
        let (server, output) = (Process(), Pipe())
        server.executableURL = URL(fileURLWithPath: Built.fanOut)
        server.arguments = ["0"]
        server.standardOutput = output
        try server.run()
        // Like a test's threads, it blocks other signals.
        defer { kill(server.processIdentifier, SIGKILL) }
        let port = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
            .trimmingCharacters(in: .newlines)
        let script = folder.path + "/script"
        try "role writer 2\n  loop 50\n    add \"text\" at random\n  end\nrole reader rest\n  pause 1ms\n"
            .write(toFile: script, atomically: true, encoding: .utf8)
        let outcome = try Binary.run(
            ["load", "--clients", "3", "--light", "--as-is", "--json", script],
            environment: ["HAND_URL": "hand://127.0.0.1:\(port)/list"])
        #expect(outcome.status == 0, "\(outcome.messages)")
        #expect(outcome.output.contains(#""commits":100"#), "\(outcome.output)")
    }
}
