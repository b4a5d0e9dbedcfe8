import Foundation
import HandTestSupport
import Testing

/// A store or a backup with a flipped bit: commands report it, also by their exit codes, and do not repair it with
/// guesses.
@Suite(.serialized) struct DamagedStoreTests {
    private let folder: TemporaryFolder
    private var data: String { folder.path + "/data" }
    private var backup: String { folder.path + "/backup" }

    init() throws {
        folder = try TemporaryFolder()
        let server = try RunningServer(folder)
        for arguments in [["create", "list"], ["add", "-l", "list", "a-word-to-be-found"], ["backup", backup]] {
            let outcome = try run(arguments, ["HAND_URL": "hand+unix://\(server.socket)"])
            #expect(outcome.status == 0, "\(outcome.messages)")
        }
        #expect(server.terminate() == 0)
    }

    private func run(_ arguments: [String], _ more: [String: String] = [:]) throws -> Binary.Outcome {
        let environment = ["HAND_DATA": data, "XDG_STATE_HOME": folder.path, "XDG_CONFIG_HOME": folder.path]
        return try Binary.run(arguments, environment: environment.merging(more) { $1 })
    }

    private func hand(_ arguments: String...) throws -> (status: Int32, text: String) {
        let outcome = try run(arguments)
        return (outcome.status, outcome.output + outcome.messages)
    }

    /// Changes a letter in the stored text.
    private func damage(_ file: String) throws {
        var bytes = try Data(contentsOf: URL(fileURLWithPath: file))
        let place = try #require(bytes.range(of: Data("a-word-to-be-found".utf8)))
        bytes[place.lowerBound] ^= 1
        try bytes.write(to: URL(fileURLWithPath: file))
    }

    @Test func aSoundStoreIsReportedAsSound() throws {
        #expect(try hand("verify").status == 0)
        #expect(try hand("verify", backup).status == 0)
        #expect(try hand("recover", "--replace", backup).status == 0)
        #expect(try hand("backup", folder.path + "/another").status == 0)
    }

    @Test func aDamagedBackupIsNotRestored() throws {
        try damage(backup)
        for arguments in [["verify", backup], ["verify", backup, "--json"], ["verify", backup, "--quiet"]] {
            let outcome = try run(arguments)
            #expect(outcome.status == 1, "\(arguments)")
            #expect(
                outcome.output.contains(
                    arguments.contains("--json") ? "\"sound\":false" : "list: DAMAGED at revision 1"))
        }
        let before = try Data(contentsOf: URL(fileURLWithPath: data + "/hand.sqlite"))
        let refused = try hand("recover", "--replace", backup)
        #expect(refused.status == 1 && refused.text == "hand: \(backup) is damaged: see 'hand verify \(backup)'\n")
        #expect(try Data(contentsOf: URL(fileURLWithPath: data + "/hand.sqlite")) == before)
        #expect(try hand("verify").status == 0)
        try FileManager.default.removeItem(atPath: data)
        #expect(try hand("recover", backup).status == 1)
        #expect(!FileManager.default.fileExists(atPath: data + "/hand.sqlite"))
    }

    @Test func aDamagedStoreIsCopiedAndReported() throws {
        try damage(data + "/hand.sqlite")
        #expect(try hand("verify").status == 1)
        let copy = folder.path + "/another"
        for more in [[], ["--json"], ["--quiet"]] {
            let outcome = try run(["backup", copy] + more)
            #expect(outcome.status == 1)
            #expect(outcome.messages.contains("the store is damaged: see 'hand verify \(copy)'"), "\(outcome.messages)")
            try FileManager.default.removeItem(atPath: copy)
        }
    }
}
