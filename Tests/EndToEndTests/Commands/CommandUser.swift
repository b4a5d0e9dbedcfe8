import Foundation
import HandTestSupport
import Testing

/// A person with a server of their own who types commands. The list is called `list`, unless another is named.
struct CommandUser {
    let server: RunningServer
    var environment: [String: String]

    /// - Parameter options: options for the server.
    init(_ name: String = "ada", _ options: [String] = []) throws {
        self.init(name, at: try RunningServer(try TemporaryFolder(), options))
    }

    init(_ name: String, at server: RunningServer) {
        self.server = server
        environment = [
            "HAND_URL": "hand+unix://\(server.socket)/list", "HAND_NAME": name,
            "XDG_STATE_HOME": server.folder.path + "/state", "XDG_CONFIG_HOME": server.folder.path + "/config",
        ]
    }

    /// Returns another person on the same machine.
    func named(_ name: String) -> CommandUser {
        var other = self
        other.environment["HAND_NAME"] = name
        return other
    }

    func run(_ arguments: [String], input: String = "") throws -> Binary.Outcome {
        try Binary.run(arguments, input: input, environment: environment)
    }

    /// Returns the command's output: data if it succeeds, messages if it does not.
    @discardableResult
    func hand(_ arguments: String..., input: String = "", expecting status: Int32 = 0) throws -> String {
        let outcome = try run(arguments, input: input)
        #expect(outcome.status == status, "\(arguments): \(outcome.messages)")
        return status == 0 ? outcome.output : outcome.messages
    }

    /// Returns the command's output on standard error.
    func messages(_ arguments: String..., input: String = "") throws -> String {
        try run(arguments, input: input).messages
    }

    /// Returns the items as `ls` prints them, without numbers and ids.
    func lines(_ arguments: String...) throws -> [String] {
        try run(["ls"] + arguments).output.split(separator: "\n").map {
            String($0).replacing(#/^ *\d+ [ @][0-9a-z]+  /#, with: "")
        }
    }
}
