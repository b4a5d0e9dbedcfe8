import Foundation
import Glibc
import HandTestSupport
import Testing

/// A person's folders as they should not be. No command crashes or waits; what needs no disk is done, with a warning.
@Suite(.serialized) struct FolderTests {
    enum Fault: String, CaseIterable {
        case danglingLink, loop, file, throughAFile, unreadable, unwritable, longName, nowhere

        /// Whether it keeps this process from writing.
        var isPossible: Bool { [.unreadable, .unwritable].contains(self) ? Stranger.isHeldToModes : true }
        /// Whether the settings cannot be read: then it is unknown who the person is, and nothing is done.
        var hidesSettings: Bool { [.unreadable, .longName].contains(self) }

        /// Makes the folder; returns the path to use for it.
        func make(in home: String) throws -> String {
            let (files, path) = (FileManager.default, home + "/folder")
            switch self {
            case .danglingLink: try files.createSymbolicLink(atPath: path, withDestinationPath: "/not-there/x")
            case .loop: try files.createSymbolicLink(atPath: path, withDestinationPath: path)
            case .file, .throughAFile: try Data().write(to: URL(fileURLWithPath: path))
            case .unreadable, .unwritable:
                let mode = self == .unreadable ? 0 : 0o500
                try files.createDirectory(
                    atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: mode])
            case .longName: return home + "/" + String(repeating: "x", count: 300)
            // Nobody can make a folder there, not even root.
            case .nowhere: return "/proc/nowhere/x"
            }
            return self == .throughAFile ? path + "/deeper/still" : path
        }
    }

    private let folder: TemporaryFolder
    private let server: RunningServer

    init() throws {
        folder = try TemporaryFolder(isInMemory: true)
        server = try RunningServer(folder, ["--socket-permissions", "666"])
        let environment = ["HAND_URL": "hand+unix://\(server.socket)", "HOME": folder.path]
        #expect(try Binary.run(["create", "list"], environment: environment).status == 0)
        chmod(folder.path, 0o755)
    }

    private func hand(_ arguments: [String], _ folders: [String: String]) throws -> Binary.Outcome {
        let environment = ["HAND_URL": "hand+unix://\(server.socket)/list", "HAND_NAME": "ada"].merging(folders) { $1 }
        let command = (Stranger.isThere ? Stranger.launcher : []) + [Binary.path] + arguments
        return try Binary.run(Array(command.dropFirst()), environment: environment, program: command[0])
    }

    /// A folder for one fault, which belongs to the user as whom commands run.
    private func home(_ name: String) throws -> String {
        let home = folder.path + "/" + name
        try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: false)
        return home
    }

    private func giveAway(_ home: String) throws {
        guard Stranger.isThere else { return }
        for path in [home, home + "/folder"] { _ = lchown(path, Stranger.number, Stranger.number) }
    }

    /// All commands, with the exit codes that they may have. None of them may be ended by a signal.
    private static let others: [([String], [Int32])] = [
        (["ls", "--offline"], [1, 3]), (["add", "x", "--queue"], [0]), (["sync"], [0, 1]), (["undo"], [1, 3]),
        (["redo"], [1, 3]), (["who"], [0]), (["log"], [0]), (["export", "-"], [0]), (["context", "list"], [0]),
        (["context", "add", "w", "hand://h"], [0, 1]), (["context", "use", "w"], [0, 1, 2, 3]), (["keys"], [0]),
        (["context", "use"], [0, 1]), (["context", "rm", "w"], [0, 1, 2, 3]), (["token", "list"], [0, 1]),
        (["token", "create", "eve"], [0, 1]), (["share", "list", "--url", "hand://h"], [0, 1]), (["verify"], [1, 3]),
        (["backup", "/dev/null/x"], [1, 3]), (["doctor"], [0, 1]), (["serve", "--print-config"], [0]),
        (["admin", "report"], [6]), (["serve", "--listen", "/proc/x.sock"], [1]), (["help", "offline"], [0]),
        (["load", "--clients", "1", "--duration", "10ms", "-q"], [0, 6, 7]),
    ]

    @Test(arguments: Fault.allCases.filter(\.isPossible)) func aFolderForDataMayBeAnything(_ fault: Fault) throws {
        let home = try home(fault.rawValue)
        let place = try fault.make(in: home)
        try giveAway(home)
        defer { chmod(home + "/folder", 0o700) }
        let folders = ["XDG_STATE_HOME": place, "XDG_CONFIG_HOME": home, "HOME": home]
        let added = try hand(["add", "milk, \(fault)"], folders)
        #expect(added.status == 0, "\(added)")
        #expect(added.messages.hasPrefix("warning: cannot "), "\(added.messages)")
        #expect(added.messages.contains("XDG_STATE_HOME") && added.messages.contains(place.prefix(13)))
        let shown = try hand(["ls"], folders)
        #expect(shown.status == 0 && shown.output.contains("milk, \(fault)"), "\(shown)")
        #expect(shown.messages.hasPrefix("warning: cannot "), "\(shown.messages)")
        #expect(try hand(["ls", "-q"], folders).messages == "")
        try expectNoCrash(folders, "\(fault)")
    }

    @Test(arguments: Fault.allCases.filter(\.isPossible)) func aFolderForSettingsMayBeAnything(_ fault: Fault) throws {
        let home = try home(fault.rawValue)
        let place = try fault.make(in: home)
        try giveAway(home)
        defer { chmod(home + "/folder", 0o700) }
        let folders = ["XDG_CONFIG_HOME": place, "HOME": home]
        for arguments in [["add", "milk"], ["ls"]] {
            let outcome = try hand(arguments, folders)
            if !fault.hidesSettings { #expect(outcome.status == 0 && outcome.messages.count < 30, "\(outcome)") }
            if fault.hidesSettings { #expect(outcome.status == 1 && outcome.messages.contains(place), "\(outcome)") }
        }
        for (arguments, _) in Self.others where [.loop, .unreadable].contains(fault) {
            let outcome = try hand(arguments, folders)
            #expect([0, 1, 2, 3, 6, 7].contains(outcome.status), "\(fault), \(arguments): \(outcome)")
        }
    }

    /// The home folder itself, and variables that name no folder.
    @Test(arguments: [nil, "", "relative", "/proc/nowhere", "/dev/null", "/not-there", "//"])
    func theHomeMayBeMissing(_ home: String?) throws {
        let own = try self.home("own")
        try giveAway(own)
        var folders = ["HOME": home ?? "", "XDG_STATE_HOME": "", "XDG_CONFIG_HOME": "relative"]
        if geteuid() == 0, !Stranger.isThere { folders["XDG_STATE_HOME"] = own }
        for arguments in [["add", "milk"], ["ls"], ["lists"], ["undo"], ["context", "list"]] {
            let outcome = try hand(arguments, folders)
            #expect([0, 3].contains(outcome.status), "\(home ?? "none"), \(arguments): \(outcome)")
        }
    }

    private func expectNoCrash(_ folders: [String: String], _ what: String) throws {
        for (arguments, codes) in Self.others {
            let outcome = try hand(arguments, folders)
            #expect(codes.contains(outcome.status), "\(what), \(arguments): \(outcome)")
            let first = outcome.messages.split(separator: "\n").first ?? ""
            if outcome.status != 0, !["doctor", "load", "serve"].contains(arguments[0]) {
                #expect(first.hasPrefix("hand: ") || first.hasPrefix("warning: "), "\(what), \(arguments): \(outcome)")
            }
        }
    }

    /// Nothing is stored about a server that does not exist; what is stored about one that does stays.
    @Test func aServerThatIsNotReachedLeavesNothing() throws {
        let home = try home("own")
        try giveAway(home)
        var folders = ["HOME": home, "XDG_STATE_HOME": home, "XDG_CONFIG_HOME": home]
        folders["HAND_URL"] = "hand+unix://\(home)/nobody.sock/list"
        for arguments in [["ls"], ["lists"], ["who"], ["log"], ["add", "x"], ["rm", "1"], ["undo"], ["sync"]] {
            #expect([0, 6].contains(try hand(arguments, folders).status), "\(arguments)")
        }
        let made = try FileManager.default.subpathsOfDirectory(atPath: home)
        #expect(made == [], "\(made)")
        folders["HAND_URL"] = nil
        #expect(try hand(["ls"], folders).status == 0)
        #expect(try hand(["ls", "--offline"], folders).status == 0, "the first 'ls' keeps a copy")
    }
}
