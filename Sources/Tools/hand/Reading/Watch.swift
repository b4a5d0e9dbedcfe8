import ArgumentParser
import HandApp
import HandClient
import HandCore
import HandFormats
import HandSync
import HandWire

struct Watch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Follow a list live, until Ctrl-C.",
        discussion: """
            Reconnects by itself, and misses nothing. With --timeout, it ends if the server does not answer by then at the \
            beginning; without, it waits. The first line of --json is the list: "revision", "count", "items". Such a \
            line also follows a gap, where the server no longer has the commits, or has others. On a terminal, each change says when it was made, and by \
            whom.

            hand watch --exec ./tell.sh -- --urgent runs ./tell.sh --urgent for each commit, one after the other, with the commit as a \
            line of JSON on its standard input, as --json prints it; after a gap, with the list. Nothing is printed then.

            \(ListHistory.manual)
            """)

    @OptionGroup var list: ListOptions
    @Flag(help: "Print the whole list after each change.") var full = false
    @Option(help: .init("Run this program for each commit.", valueName: "program"), completion: .file())
    var exec: String?
    @Flag(help: "With --exec: run the text as a command of the shell.") var shell = false
    @Flag(help: "Show others' changes as notifications of the desktop (with notify-send).") var notify = false
    @Argument(parsing: .postTerminator, help: "Arguments of the program, after --.") var arguments: [String] = []

    func validate() throws {
        if exec == nil, shell || !arguments.isEmpty { throw ValidationError("--shell and arguments need --exec.") }
        if exec?.isEmpty == true { throw ValidationError("--exec: expected a program, found an empty text") }
        if full, list.server.json { throw ValidationError("Use --full or --json, not both.") }
    }

    private func reporter() throws -> WatchReport {
        if notify { try DesktopNotice.expectInstalled() }
        if let exec, !shell, !SystemPrograms.isInstalled(exec) {
            throw Failure(.notFound, "--exec: there is no program '\(exec)' that can be run")
        }
        return WatchReport(
            program: exec.map { CommitProgram(shell ? ["/bin/sh", "-c", $0, "hand"] + arguments : [$0] + arguments) },
            isNotifying: notify, isFull: full, isJSON: list.server.json, list: list)
    }

    func run() async throws {
        let name = try list.name()
        Output.endWithReader()
        let (address, person) = (try list.server.address(name), try list.server.user.name())
        let client =
            try Identity.knows(address.server)
            ? list.server.client(at: address, person) : Identity.guest(at: address, person: person)
        let (server, followed) = (list.server, try await client.open(name))
        var watcher = Watcher(list, followed: followed, client, try reporter())
        if server.givenTimeout != nil {
            do { try await server.limited(client, address) { _ = try await followed.live() } } catch {
                await client.close()
                throw ServerOptions.explained(error, at: address.server)
            }
        }
        repeat {
            for await event in watcher.followed.events { try await watcher.take(event) }
        } while watcher.isBack
        await client.close()
    }
}

/// Prints the changes of a list, and says what happens to it and to the connection.
private struct Watcher {
    private let list: ListOptions
    private let client: HandClient
    private(set) var followed: FollowedList
    /// Whether the list was deleted and is there again, but has not been reported yet.
    private(set) var isBack = false
    private var commits: WatchedCommits
    private var isOffline = false
    /// Whether a message about the connection is to be followed by "online".
    private var isWaiting = false

    init(_ list: ListOptions, followed: FollowedList, _ client: HandClient, _ report: WatchReport) {
        (self.list, self.followed, self.client, commits) = (list, followed, client, WatchedCommits(report))
    }

    private func say(_ text: Printable) { list.server.say(text) }

    mutating func take(_ event: ListEvent) async throws {
        switch event {
        case .changed(_, let update):
            isBack = false
            try await commits.catchUp(with: followed, client)
            for notice in update.notices {
                if let text = Notices.text(notice) { say("\(text)") }
            }
        case .status(let status): try await take(status)
        case .renamed(let name):
            say("the list is called '\(name)' now")
            followed = try await client.open(name)
        case .refused(let code, let text) where code == .listDeleted || code == .noSuchList && commits.logID != nil:
            say("\(text); waiting until it is back: \(Suggestion.command("undelete", followed.name))")
            let logID = try await waitUntilBack()
            let isSame = LogID.isSameList(logID, commits.logID ?? logID)
            say(isSame ? "'\(followed.name)' is back" : "there is another list '\(followed.name)' now")
        case .refused, .editsWait: _ = try await followed.live()
        case .progress(let items, let total):
            if !list.server.quiet { Output.progress("\(items) of \(total) items") }
        case .presence: break
        }
    }

    private mutating func take(_ status: ClientMachine.Status) async throws {
        switch status {
        case .offline(let reason, let wait?):
            (isOffline, isWaiting) = (true, true)
            say("offline: \(reason); next try in \(wait) ms")
        case .offline(_, retryIn: nil): _ = try await followed.live()
        case .online:
            if isWaiting { say("online") }
            (isOffline, isWaiting) = (false, false)
            try await sendWaiting()
            try await commits.catchUp(with: followed, client)
        case .connecting(let place?) where !isOffline:
            isWaiting = true
            say("connecting to \(place)")
        case .connecting: break
        }
    }

    /// Sends the waiting edits of other lists: while this command runs, no other command can send what its journal
    /// holds.
    private func sendWaiting() async throws {
        for name in try await client.waitingLists() where name != followed.name {
            do {
                if let outcome = try await client.sendWaiting(of: name) { list.server.tell(outcome, of: name) }
            } catch let error as ClientError {
                // They wait on. The next connection may help.
                say("'\(name)': \(error)")
            }
        }
    }

    /// Waits until there is a list with the deleted list's name again, and follows that list. Returns its log id.
    private mutating func waitUntilBack() async throws -> UInt64 {
        while true {
            try await Task.sleep(for: .seconds(2))
            followed = try await client.open(followed.name)
            do {
                let logID = try await followed.live().logID
                isBack = true
                return logID
            } catch ClientError.refused(.noSuchList, _) {}
        }
    }
}

/// Reports each commit of a list once and in order.
private struct WatchedCommits {
    private var report: WatchReport
    /// The list after the last reported commit; nil before the first.
    private var last: (hand: Hand, revision: Int, logID: UInt64)?

    init(_ report: WatchReport) { self.report = report }

    /// The log id of the list; nil if the list was never there.
    var logID: UInt64? { last?.logID }

    mutating func catchUp(with list: FollowedList, _ client: HandClient) async throws {
        let state: ListState
        // If the list was renamed or deleted meanwhile, an event says which.
        do { state = try await list.state() } catch ClientError.refused { return }
        guard state.isLoaded, state.pendingCount == 0 else { return }
        report.me = try await client.person()
        if state.revision == last?.revision, state.logID == last?.logID, state.view.digest == last?.hand.digest {
            return
        }
        guard let last, state.logID == last.logID, state.revision > last.revision else {
            return try await begin(at: state.view, state.revision, of: state.logID)
        }
        do {
            var page = try await client.history(of: list.name, from: last.revision + 1)
            while let newest = page.commits.last {
                for commit in page.commits {
                    try await take(commit, by: page.people[commit.author] ?? "?", of: list.name, client)
                }
                page = try await client.history(of: list.name, from: newest.revision + 1)
            }
        } catch is OtherHistory {
            try await begin(at: state.view, state.revision, of: state.logID)
        } catch ClientError.unreachable {
            // The missing commits are requested when the server is back.
        } catch ClientError.refused(.noSuchList, _) {
            // The list was renamed or deleted meanwhile; an event says which.
        }
    }

    /// The commits do not follow the last one that was reported: the server's lists were put back.
    private struct OtherHistory: Error {}

    private mutating func begin(at hand: Hand, _ revision: Int, of logID: UInt64) async throws {
        try await report.begin(at: hand, revision, afterGap: last != nil)
        last = (hand, revision, logID)
    }

    private mutating func take(_ commit: Commit, by person: String, of name: String, _ client: HandClient) async throws
    {
        guard let known = last else { return }
        if commit.revision > known.revision + 1 {
            let state = try await client.state(of: name, at: commit.revision - 1)
            try await begin(at: state.hand, state.revision, of: known.logID)
        }
        guard let old = last else { return }
        guard let new = try? old.hand.applying(commit.delta), new.digest == commit.digest else { throw OtherHistory() }
        try await report.take(commit, by: person, of: name, from: old.hand, to: new)
        last = (new, commit.revision, old.logID)
    }
}

/// What is done with each commit of a watched list.
struct WatchReport {
    let program: CommitProgram?
    let isNotifying: Bool
    let isFull: Bool
    let isJSON: Bool
    let list: ListOptions
    /// The name of the person who watches, as others see it.
    var me = ""

    /// The list as a whole: at the beginning, and after a gap.
    fileprivate func begin(at hand: Hand, _ revision: Int, afterGap: Bool) async throws {
        if program == nil, !isJSON { return ItemPrinter(list.server, for: me).print(hand) }
        if program != nil, !afterGap { return }
        try await tell(
            ["revision": JSONValue(revision), "count": JSONValue(hand.count), "items": JSON.items(hand)], revision)
    }

    /// Passes a line to the program, or prints it.
    private func tell(_ line: JSONValue, _ revision: Int) async throws {
        guard let program else { return Output.json(line) }
        if let problem = try await program.run(line.line + "\n") { list.server.say("revision \(revision): \(problem)") }
    }

    fileprivate func take(
        _ commit: Commit, by author: String, of name: String, from old: Hand, to new: Hand
    ) async throws {
        if isNotifying, author != me, commit.refusal == nil {
            let lines = DeltaText.lines(commit.delta, from: old, to: new).map(\.text)
            await DesktopNotice.show("\(author) changed '\(name)'", lines, list.server)
        }
        if program != nil || isJSON {
            try await tell(ListHistory.json(commit, by: author, from: old, to: new), commit.revision)
        } else if commit.refusal == nil {
            print(commit, by: author, from: old, to: new)
        }
    }

    private func print(_ commit: Commit, by author: String, from old: Hand, to new: Hand) {
        Output.together {
            if Output.isTerminal { Output.line("\(LocalTime.here(commit.time))  \(author)") }
            if isFull { return ItemPrinter(list.server, for: me).print(new) }
            for line in DeltaText.lines(commit.delta, from: old, to: new, Output.marks) {
                Output.line(Output.isTerminal ? "  \(line)" : line)
            }
        }
    }
}
