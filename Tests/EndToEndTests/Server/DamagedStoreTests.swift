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
        #expect(refused.status == 1)
        #expect(
            refused.text == "hand: \(backup) is damaged: see 'hand verify \(backup)'. "
                + "To restore what is sound of it: hand recover --salvage \(backup)\n")
        #expect(try Data(contentsOf: URL(fileURLWithPath: data + "/hand.sqlite")) == before)
        #expect(try hand("verify").status == 0)
        try FileManager.default.removeItem(atPath: data)
        #expect(try hand("recover", backup).status == 1)
        #expect(!FileManager.default.fileExists(atPath: data + "/hand.sqlite"))
    }

    /// A damaged list hides no other one, and what is sound is salvaged.
    @Test func theOtherListsAreSaved() throws {
        try damage(data + "/hand.sqlite")
        try FileManager.default.createDirectory(atPath: folder.path + "/next", withIntermediateDirectories: true)
        do {
            let server = try RunningServer(folder)
            let url = ["HAND_URL": "hand+unix://\(server.socket)"]
            #expect(try run(["create", "other"], url).status == 0)
            #expect(try run(["lists", "--json"], url).output.contains("\"other\""))
            #expect(try run(["ls", "-l", "list"], url).messages.contains("damaged"))
            // So it is for somebody who may see these lists only.
            let token = ["token", "create", "ann", "--role", "read", "-l", "list", "-l", "other"]
            let secret = try run(token).output.trimmingCharacters(in: .whitespacesAndNewlines)
            #expect(
                try eventually {
                    try run(["lists", "--json"], url.merging(["HAND_TOKEN": secret]) { $1 }).output.contains(
                        "\"other\"")
                })
            #expect(server.terminate() == 0)
        }
        let file = data + "/hand.sqlite"
        let saved = try run(["recover", "--salvage", file, "--data", folder.path + "/next"])
        #expect(saved.status == 0)
        #expect(saved.messages.contains("'list' ends at revision 0 of 1: the rest is damaged"), "\(saved.messages)")
        #expect(saved.output.contains("has 2 lists, 0 commits again"), "\(saved.output)")
        #expect(try hand("verify", folder.path + "/next").status == 0)
        #expect(try hand("verify").status == 1)
        let shared = try hand("recover", "--salvage", file, "--store", "postgres://127.0.0.1:1/x")
        #expect(shared.status != 0)
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
