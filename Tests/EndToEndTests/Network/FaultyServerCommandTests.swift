import Foundation
import HandCore
import HandTestSupport
import HandWire
import Synchronization
import Testing

/// Commands whose server is malicious or out of order: each ends, with one sentence, within `--timeout`.
@Suite(.serialized) struct FaultyServerCommandTests {
    private static func commit(_ revision: Int) -> Commit {
        Commit(
            revision: revision, author: 1, sequence: 1, base: revision - 1, time: 0, count: 0, digest: 0,
            delta: .identity)
    }

    /// Runs a command against a server that gives these answers; first `earlier` ones on a terminal, and then
    /// `prepare`.
    private func run(
        _ arguments: [String], after earlier: [String] = [], prepare: () -> Void = {},
        _ answer: @escaping @Sendable (UpMessage) -> [DownMessage]
    ) throws -> Binary.Outcome {
        let folder = try TemporaryFolder()
        let server = try ScriptedServer(at: folder.path + "/hand.sock", answer)
        defer { server.close() }
        var environment: [String: String] = [:]
        for name in ["HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"] { environment[name] = folder.path }
        let url = ["--url", "hand+unix://\(folder.path)/hand.sock", "--timeout", "5"]
        for command in earlier {
            let line = ([Binary.path, command] + url).joined(separator: " ")
            _ = try Binary.run(["-qec", line, "/dev/null"], environment: environment, program: "/usr/bin/script")
        }
        prepare()
        return try Binary.run(arguments + url, environment: environment)
    }

    private func isOneSentence(_ outcome: Binary.Outcome) -> Bool {
        outcome.status != 0 && outcome.messages.hasPrefix("hand: ")
            && outcome.messages.split(separator: "\n").count == 1
    }

    /// Pages that repeat for ever.
    @Test func repeatedPagesEnd() throws {
        let log = try run(["log", "-l", "list"]) { message in
            switch message {
            case .history(let request, _, _, _):
                [.history(request: request, [Self.commit(1), Self.commit(2)], people: [])]
            case .excerpt(let asked):
                [
                    .excerpt(
                        request: asked.request,
                        Excerpt(logID: 5, revision: asked.revision ?? 2, count: 0, rules: Rules()))
                ]
            case .fetch(let request, _, let revision):
                [
                    .state(
                        request: request, revision: revision ?? 2, count: 0, digest: Hand().digest, rules: Rules())
                ]
            default: []
            }
        }
        #expect(isOneSentence(log) && log.messages.contains("repeats"), "\(log.messages)")
        #expect(log.output.split(separator: "\n").count(where: { $0.hasPrefix("revision 1 ") }) == 1)
        let entry = DownMessage.ListEntry(name: "a", count: 0, revision: 0, rules: Rules())
        let lists = try run(["lists"]) { message in
            guard case .lists(let request, _) = message else { return [] }
            return [.lists(request: request, [entry], hasMore: true)]
        }
        #expect(isOneSentence(lists) && lists.messages.contains("repeats"), "\(lists.messages)")
    }

    /// Lists may go between the answer with their names and the question for what is in them.
    @Test(arguments: [["find", "milk"], ["lists", "--new"]]) func listsThatGoAreLeftOut(command: [String]) throws {
        // Of different lengths, so that each can have a log id.
        let names = ["gone", "hidden", "is here"]
        let haveGone = Mutex(false)
        let looks = names.map { "ls -l '\($0)'" }
        let listsGo = { haveGone.withLock { $0 = true } }
        let outcome = try run(command, after: looks, prepare: listsGo) { message in
            func answer(_ request: RequestNumber, of list: String, _ answer: DownMessage) -> [DownMessage] {
                if list == "is here" || !haveGone.withLock(\.self) { return [answer] }
                let code = list == "gone" ? ErrorCode.noSuchList : .notAllowed
                return [.error(code: code, request: request, retryAfter: 0, message: "no \(list)")]
            }
            switch message {
            case .lists(let request, _):
                let entries = names.map { DownMessage.ListEntry(name: $0, count: 0, revision: 2, rules: Rules()) }
                return [.lists(request: request, entries, hasMore: false)]
            case .fetch(let request, let list, _):
                let state = DownMessage.state(
                    request: request, revision: 2, count: 0, digest: Hand().digest, rules: Rules())
                return answer(request, of: list, state)
            case .excerpt(let asked):
                let excerpt = Excerpt(
                    logID: UInt64(asked.name.utf8.count), revision: 2, count: 0, rules: Rules())
                return answer(asked.request, of: asked.name, .excerpt(request: asked.request, excerpt))
            default: return []
            }
        }
        #expect(outcome.status == (command == ["find", "milk"] ? 3 : 0), "\(outcome)")
        #expect(outcome.messages.hasPrefix("'gone': no gone\n'hidden': no hidden\n"), "\(outcome.messages)")
    }

    /// A server that says welcome, and nothing more.
    @Test(arguments: ["log -l list", "lists", "show -l list", "who -l list", "add -l list x"])
    func silenceEnds(command: String) throws {
        let outcome = try run(command.split(separator: " ").map(String.init)) { _ in [] }
        #expect(isOneSentence(outcome) && outcome.messages.contains("within 5 s"), "\(outcome.messages)")
    }
}
