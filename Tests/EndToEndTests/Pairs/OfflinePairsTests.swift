import Foundation
import HandTestSupport
import Testing

/// Two operator commands at once on a store that no server serves, or that one is about to serve. Each sees a complete
/// store: it has its old contents or those of the backup, nothing of it is lost, and nobody has more rights than
/// before.
@Suite(.serialized, .timeLimit(.minutes(10))) struct OfflinePairsTests {
    enum Action: String, CaseIterable {
        case recover, backup, verify, token, revoke, serve
    }

    private let origin: TemporaryFolder

    /// Makes a store with two lists as `kill -9` leaves it, and a backup from the time when there was only one.
    init() throws {
        origin = try TemporaryFolder()
        let server = try RunningServer(origin)
        try hand(["token", "create", "old", "--role", "read"], origin)
        try hand(["create", "saved"], origin)
        try hand(["backup", origin.path + "/saved"], origin)
        try hand(["create", "early"], origin)
        server.kill()
        try FileManager.default.removeItem(atPath: origin.path + "/data/admin.sock")
    }

    private func environment(_ folder: TemporaryFolder) -> [String: String] {
        [
            "HAND_URL": "hand+unix://\(folder.path)/hand.sock", "HAND_DATA": folder.path + "/data",
            "XDG_STATE_HOME": folder.path + "/state", "XDG_CONFIG_HOME": folder.path + "/config",
        ]
    }

    @discardableResult
    private func hand(_ arguments: [String], _ folder: TemporaryFolder) throws -> String {
        let outcome = try Binary.run(arguments, environment: environment(folder))
        #expect(outcome.status == 0, "\(arguments): \(outcome.messages)")
        return outcome.output
    }

    private func rights(_ folder: TemporaryFolder) throws -> Rights {
        try JSONDecoder().decode(Rights.self, from: Data(try hand(["token", "list", "--json"], folder).utf8))
    }

    /// Returns the lists of a store or a backup, which must be sound.
    private func lists(_ path: [String], _ folder: TemporaryFolder) throws -> Set<String> {
        struct Report: Decodable {
            struct List: Decodable { let name: String }
            let lists: [List]
        }
        let report = try JSONDecoder().decode(
            Report.self, from: Data(try hand(["verify", "--json"] + path, folder).utf8))
        return Set(report.lists.map(\.name))
    }

    @Test(arguments: Action.allCases) func twoCommandsAtOnceLeaveACompleteStore(first: Action) throws {
        for second in Action.allCases where first.rawValue <= second.rawValue {
            for _ in 0..<3 { try play([first, second]) }
        }
    }

    private func play(_ actions: [Action]) throws {
        let folder = try TemporaryFolder()
        for name in ["data", "saved"] {
            try FileManager.default.copyItem(atPath: origin.path + "/" + name, toPath: folder.path + "/" + name)
        }
        let before = try rights(folder)
        let running = try actions.enumerated().map { side, action in
            try RunningCommand(
                arguments(action, side, folder, before), environment(folder), "\(folder.path)/said\(side)")
        }
        // A server runs until it is told to end, which may happen before it listens.
        let others = actions.indices.filter { actions[$0] != .serve }
        for side in others { running[side].process.waitUntilExit() }
        let outcomes = try running.map { command in
            if command.process.isRunning { command.process.terminate() }
            return try command.end()
        }
        for (side, outcome) in outcomes.enumerated() {
            let pair = "\(actions[side]) beside \(actions[1 - side])"
            #expect(
                [0, 1].contains(outcome.status) || actions[side] == .serve
                    || outcome.status == 3 && actions == [.revoke, .revoke],
                "\(pair): \(outcome)")
            #expect(
                !outcome.messages.contains("damaged") && !outcome.messages.contains("atal error"), "\(pair): \(outcome)"
            )
        }
        let done = Set(actions.indices.filter { outcomes[$0].status == 0 })
        let isDone = { (action: Action) in done.contains { actions[$0] == action } }
        // Only the other command can prevent a command from doing its work.
        for side in others where ![.recover, .serve].contains(actions[1 - side]) {
            #expect(done.contains(side) || actions == [.revoke, .revoke], "\(actions): \(outcomes)")
        }
        if actions == [.recover, .recover] { #expect(!done.isEmpty, "\(outcomes)") }
        #expect(
            try lists([], folder) == (isDone(.recover) ? ["saved"] : ["saved", "early"]), "\(actions): \(outcomes)")
        if isDone(.recover) { try expectAside(folder, actions) }
        for side in done where actions[side] == .backup {
            let copied = try lists(["\(folder.path)/copy\(side)"], folder)
            #expect([["saved"], ["saved", "early"]].contains(copied), "\(actions)")
        }
        let after = try rights(folder)
        #expect(after.guests == before.guests, "\(actions)")
        let made = done.count { actions[$0] == .token }
        #expect(after.tokens.count == 1 + made - (isDone(.revoke) ? 1 : 0), "\(actions): \(outcomes)")
        #expect(after.tokens.allSatisfy { $0.role == "read" }, "\(actions)")
    }

    private func arguments(_ action: Action, _ side: Int, _ folder: TemporaryFolder, _ rights: Rights) -> [String] {
        switch action {
        case .recover: ["recover", "--replace", folder.path + "/saved"]
        case .backup: ["backup", "\(folder.path)/copy\(side)"]
        case .verify: ["verify"]
        case .token: ["token", "create", "new\(side)", "--role", "read"]
        case .revoke: ["token", "revoke", rights.tokens.first?.id ?? ""]
        case .serve: ["serve", "--listen", "\(folder.path)/\(side).sock", "--log-level", "error"]
        }
    }

    /// A replaced store is moved aside with all its contents.
    private func expectAside(_ folder: TemporaryFolder, _ actions: [Action]) throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/data")
        let aside = names.filter { $0.firstMatch(of: #/replaced-[0-9]+$/#) != nil }
        let found = try aside.map { name in
            let copy = try TemporaryFolder()
            for ending in ["", "-wal"] where names.contains(name + ending) {
                try FileManager.default.copyItem(
                    atPath: "\(folder.path)/data/\(name)\(ending)", toPath: copy.path + "/hand.sqlite" + ending)
            }
            return try lists([copy.path], folder)
        }
        #expect(found.contains(["saved", "early"]), "\(actions): \(found)")
    }
}
