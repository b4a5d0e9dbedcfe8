import Foundation
import HandTestSupport
import Testing

/// A server, its operator and people on the same machine, who run commands in pairs.
final class PairWorld {
    let folder: TemporaryFolder
    let server: RunningServer
    private let environment: [String: String]
    /// The token of a person who may read everything, and must never get further rights.
    private let reader: String

    init() throws {
        folder = try TemporaryFolder()
        environment = [
            "HAND_URL": "hand+unix://\(folder.path)/hand.sock", "HAND_DATA": folder.path + "/data", "HAND_NAME": "ada",
            "XDG_STATE_HOME": folder.path + "/state", "XDG_CONFIG_HOME": folder.path + "/config",
        ]
        let made = try Binary.run(["token", "create", "reader", "--role", "read"], environment: environment)
        reader = made.output.trimmingCharacters(in: .whitespacesAndNewlines)
        server = try RunningServer(folder)
        try hand(["backup", folder.path + "/saved"])
    }

    @discardableResult
    private func hand(
        _ arguments: [String], token: String? = nil, expecting status: Int32? = 0
    ) throws -> Binary.Outcome {
        let outcome = try Binary.run(
            arguments, environment: environment.merging(token.map { ["HAND_TOKEN": $0] } ?? [:]) { $1 })
        if let status { #expect(outcome.status == status, "\(arguments): \(outcome.messages)") }
        return outcome
    }

    func place(_ number: String, _ actions: [PairAction]) throws -> PairPlace {
        var token: PairPlace.Token?
        if actions.contains(where: \.isOnRights) {
            let made = try hand(["token", "create", "old" + number, "--role", "write", "--json"])
            token = try JSONDecoder().decode(PairPlace.Token.self, from: Data(made.output.utf8))
        }
        let place = PairPlace(number: number, folder: folder.path, token: token, actions: actions)
        try hand(["create", place.list])
        try hand(["add", "-l", place.list, "one", "two"])
        if actions.contains(.clear) { try hand(["done", "-l", place.list, "2"]) }
        if actions.contains(.sync) {
            server.kill()
            for side in 0..<2 where actions[side] == .sync {
                try hand(["add", "-l", place.list, "--queue", place.text(side)])
            }
            try server.start()
        }
        if actions.contains(.undelete) { try hand(["delete", place.list, "--force"]) }
        for side in 0..<2 {
            try "- [ ] \(place.text(side))\n".write(
                toFile: place.path("input", side) + ".md", atomically: true, encoding: .utf8)
        }
        return place
    }

    // MARK: A pair

    /// Runs both commands at once, and examines the results.
    ///
    /// - Returns: the histories of the lists that belong to the place.
    func play(_ place: PairPlace) throws -> String {
        let actions = place.actions
        let before = try place.token.map { _ in try rights() }
        // A command that keeps running has the list before the other starts, and is ended when the other has ended.
        let order = actions.indices.sorted { actions[$0].stays && !actions[$1].stays }
        var running: [Int: any PairPart] = [:]
        for side in order { running[side] = try start(actions[side], place, side) }
        var ends: [Int: PairPart.End] = [:]
        for side in order.reversed() { ends[side] = try running[side]?.end() }
        let outcomes = try actions.indices.map { try #require(ends[$0]) }
        for (side, outcome) in outcomes.enumerated() {
            let (action, pair) = (actions[side], "\(actions[side]) beside \(actions[1 - side])")
            #expect(action.statuses(beside: actions[1 - side]).contains(outcome.status), "\(pair): \(outcome)")
            if outcome.status != 0 {
                let lines = outcome.messages.split(separator: "\n")
                #expect(lines.last?.hasPrefix("hand: ") == true, "\(pair): \(outcome.messages)")
            }
        }
        let done = actions.indices.filter { outcomes[$0].status == 0 }
        if let before { try expectRights(place, before, done.map { actions[$0] }, "\(actions)") }
        try expectFiles(place, actions, Set(done))
        return try expectLists(place, actions, Set(done))
    }

    private func start(_ action: PairAction, _ place: PairPlace, _ side: Int) throws -> any PairPart {
        let arguments = place.arguments(action, side)
        return switch action {
        case .open, .cut:
            try RunningScreen(arguments, environment, text: place.text(side), isKilled: action == .cut)
        case .watch:
            try RunningWatch(arguments, environment, place.path("said", side)) { [unowned self] in try history(place) }
        default: try RunningCommand(arguments, environment, place.path("said", side))
        }
    }

    // MARK: Checks

    private func rights() throws -> Rights {
        try JSONDecoder().decode(Rights.self, from: Data(try hand(["token", "list", "--json"]).output.utf8))
    }

    private func expectRights(_ place: PairPlace, _ before: Rights, _ done: [PairAction], _ pair: String) throws {
        let after = try rights()
        #expect(after.guests == before.guests, "\(pair)")
        let made = done.count { $0 == .token || $0 == .share }
        let isRevoked = done.contains(.revoke)
        #expect(after.tokens.count == before.tokens.count + made - (isRevoked ? 1 : 0), "\(pair)")
        for token in after.tokens where !before.tokens.contains(where: { $0.id == token.id }) {
            // A share has no list left if its list was deleted afterwards.
            let isShare = token.role == "none" && (token.lists.count == 1 || done.contains(.delete))
            #expect(token.role == "read" && token.lists.isEmpty || isShare, "\(pair)")
            #expect(token.lists.values.allSatisfy { $0 == "read" }, "\(pair)")
        }
        let secret = try #require(place.token).secret
        let victim = after.tokens.first { $0.id == place.token?.id }
        #expect((victim == nil) == isRevoked, "\(pair)")
        if let victim { #expect(victim.role == (done.contains(.grant) ? "read" : "write"), "\(pair)") }
        // The server applies the change, not only the file.
        if isRevoked { try hand(["lists"], token: secret, expecting: 5) }
        if !isRevoked, done.contains(.grant) { try hand(["create", "x"], token: secret, expecting: 5) }
    }

    /// Checks that copies are complete or absent.
    private func expectFiles(_ place: PairPlace, _ actions: [PairAction], _ done: Set<Int>) throws {
        for (side, action) in actions.enumerated() {
            switch action {
            case .backup, .order:
                let path = place.path(action.rawValue, side)
                #expect(FileManager.default.fileExists(atPath: path) == done.contains(side))
                if done.contains(side) { try hand(["verify", path]) }
            case .save where done.contains(side):
                let lines = try String(contentsOfFile: place.path("export", side) + ".jsonl", encoding: .utf8)
                for line in lines.split(separator: "\n") {
                    #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(line.utf8)) }
                }
            default: break
            }
        }
    }

    /// Checks that every acknowledged edit is in a history, and that lists have the reported names. Returns the history.
    private func expectLists(_ place: PairPlace, _ actions: [PairAction], _ done: Set<Int>) throws -> String {
        let pair = "\(actions[0]), \(actions[1])"
        let isDone = { (action: PairAction) in done.contains { actions[$0] == action } }
        // Only one of them can have got the name.
        let namings = done.count { [.make, .rename].contains(actions[$0]) }
        #expect(namings <= 1, "\(pair): both have the name")
        if namings == 1 { try hand(["ls", "-l", place.renamed]) }
        if isDone(.rename), !isDone(.undelete) { try hand(["ls", "-l", place.list], expecting: 3) }
        if isDone(.delete) {
            // If it was restored in the meantime, it may have been deleted before or after that.
            let isSure = !isDone(.undelete)
            if isSure { try hand(["ls", "-l", place.list], expecting: 3) }
            try hand(["undelete", place.list, "--name", place.back], expecting: isSure ? 0 : nil)
        }
        let history = try self.history(place)
        for side in done where [.add, .fill, .sync, .open, .cut].contains(actions[side]) {
            let times = try insertions(of: place.text(side), history)
            #expect(times == 1, "\(pair): \(place.text(side)) is there \(times) times")
        }
        // Nothing from before is lost from the history either.
        #expect(history.contains("\"one\"") && history.contains("\"two\""), "\(pair)")
        return history
    }

    private func insertions(of text: String, _ history: String) throws -> Int {
        history.matches(of: try Regex("\"insert\":\\[[^\\]]*\"\(text)\"")).count
    }

    /// Returns the commits of the lists that belong to a place.
    private func history(_ place: PairPlace) throws -> String {
        try place.names.map {
            try hand(["log", "-l", $0, "--json", "--timeout", "100"], expecting: nil).output
        }.joined()
    }

    /// Checks that the histories survive killing and restarting the server, and that the store is sound.
    func expectAllAfterKill(_ played: [(place: PairPlace, history: String)]) throws {
        server.kill()
        try hand(["verify"])
        try server.start()
        for (place, before) in played {
            // What still waited when its command gave up is sent by a later one, once.
            let after = try history(place)
            let commits = Set(after.split(separator: "\n"))
            #expect(before.split(separator: "\n").filter { !commits.contains($0) } == [])
            for side in 0..<2 { #expect(try insertions(of: place.text(side), after) <= 1) }
        }
        try hand(["create", "x"], token: reader, expecting: 5)
    }
}

/// The rights, as `hand token list --json` prints them.
struct Rights: Decodable {
    struct Token: Decodable {
        let id, name, role: String
        let lists: [String: String]
    }
    let guests: [String: String]
    let tokens: [Token]
}
