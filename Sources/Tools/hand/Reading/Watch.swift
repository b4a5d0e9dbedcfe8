import ArgumentParser
import HandClient
import HandCore
import HandFormats
import HandSync
import HandWire

struct Watch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Follow a list live, until Ctrl-C.",
        discussion: """
            Reconnects by itself, and misses nothing. The first line of --json is the list: "revision", "count", "items". Such a \
            line also follows a gap, where the server no longer has the commits.

            """ + HistoryReader.manual)

    @OptionGroup var list: ListOptions
    @Flag(help: "Print the whole list after each change.") var full = false

    func run() async throws {
        let name = try list.name()
        Output.endWithReader()
        let (address, person) = (try list.server.address(name), try list.server.user.name())
        let client =
            try Identity.knows(address.server)
            ? list.server.client(at: address, person) : Identity.guest(at: address, person: person)
        var watcher = Watcher(list, followed: try await client.open(name), client, isFull: full)
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
    private let isFull: Bool
    private(set) var followed: FollowedList
    /// Whether the list was deleted and is there again, but has not been printed yet.
    private(set) var isBack = false
    private var shown: Hand?
    private var commits = WatchedCommits()
    private var isOffline = false
    /// Whether a message about the connection is to be followed by "online".
    private var isWaiting = false

    init(_ list: ListOptions, followed: FollowedList, _ client: HandClient, isFull: Bool) {
        (self.list, self.followed, self.client, self.isFull) = (list, followed, client, isFull)
    }

    private func say(_ text: Printable) { list.server.say(text) }

    mutating func take(_ event: ListEvent) async throws {
        switch event {
        case .changed(let state, let update):
            try await changed(to: state, update)
            for notice in update.notices {
                if let text = Notices.text(notice) { say("\(text)") }
            }
        case .status(let status): try await take(status)
        case .renamed(let name):
            say("the list is called '\(name)' now")
            followed = try await client.open(name)
        case .refused(.listDeleted, let text):
            say("\(text); waiting until it is back: \(Suggestion.command("undelete", followed.name))")
            try await waitUntilBack()
            say("'\(followed.name)' is back")
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
            if list.server.json { try await commits.catchUp(with: followed, client) }
        case .connecting(let place?) where !isOffline:
            isWaiting = true
            say("connecting to \(place)")
        case .connecting: break
        }
    }

    private mutating func changed(to state: ListState, _ update: Replica.Update) async throws {
        if list.server.json {
            isBack = false
            return try await commits.catchUp(with: followed, client)
        }
        guard state.isLoaded, isBack || shown == nil || !update.delta.isIdentity else { return }
        print(isBack ? nil : update.delta, to: state.view)
        (shown, isBack) = (state.view, false)
    }

    /// - Parameter delta: nil if it is not known.
    private func print(_ delta: Delta?, to new: Hand) {
        guard let old = shown, !isFull else { return ItemPrinter.print(new, json: false) }
        let delta = delta ?? Delta(from: old, to: new)
        Output.together { for line in DeltaText.lines(delta, from: old, to: new, Output.marks) { Output.line(line) } }
    }

    /// Waits until there is a list with the deleted list's name again, and follows that list.
    private mutating func waitUntilBack() async throws {
        while true {
            try await Task.sleep(for: .seconds(2))
            followed = try await client.open(followed.name)
            do {
                _ = try await followed.live()
                isBack = true
                return
            } catch ClientError.refused(.noSuchList, _) {}
        }
    }
}

/// Prints each commit of a list once and in order.
private struct WatchedCommits {
    /// The list after the last printed commit; nil before the first.
    private var last: (hand: Hand, revision: Int, logID: UInt64)?

    mutating func catchUp(with list: FollowedList, _ client: HandClient) async throws {
        let state = try await list.state()
        guard state.isLoaded, state.pendingCount == 0 else { return }
        if state.logID != last?.logID {
            return begin(at: state.view, state.revision, of: state.logID)
        }
        if state.revision == last?.revision { return }
        do {
            try await client.commits(of: list.name, from: (last?.revision ?? 0) + 1) { commits, people in
                for commit in commits {
                    try await take(commit, by: people[commit.author] ?? "?", of: list.name, client)
                }
            }
        } catch ClientError.unreachable {
            // The missing commits are requested when the server is back.
        }
    }

    private mutating func begin(at hand: Hand, _ revision: Int, of logID: UInt64) {
        Output.json(["revision": JSONValue(revision), "count": JSONValue(hand.count), "items": JSON.items(hand)])
        last = (hand, revision, logID)
    }

    private mutating func take(_ commit: Commit, by person: String, of name: String, _ client: HandClient) async throws
    {
        guard let known = last else { return }
        if commit.revision > known.revision + 1 {
            let state = try await client.state(of: name, at: commit.revision - 1)
            begin(at: state.hand, state.revision, of: known.logID)
        }
        guard let old = last else { return }
        let new = try old.hand.applying(commit.delta)
        Output.json(HistoryReader.json(commit, by: person, from: old.hand, to: new))
        last = (new, commit.revision, old.logID)
    }
}
