import ArgumentParser
import HandClient
import HandCore
import HandFormats
import HandSync

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
        var followed = try await client.open(name)
        var shown: Hand?
        var commits = WatchedCommits()
        var isOffline = false
        // "online" answers an earlier message.
        var isWaiting = false
        for await event in followed.events {
            switch event {
            case .changed(let state, let update):
                if list.server.json {
                    try await commits.catchUp(with: followed, client)
                } else if !update.delta.isIdentity || (shown == nil && state.isLoaded) {
                    print(update.delta, from: shown, to: state.view)
                    shown = state.view
                }
                for notice in update.notices {
                    if let text = Notices.text(notice) { list.server.say("\(text)") }
                }
            case .status(.offline(let reason, let wait?)):
                (isOffline, isWaiting) = (true, true)
                list.server.say("offline: \(reason); next try in \(wait) ms")
            case .status(.offline(_, retryIn: nil)): _ = try await followed.live()
            case .status(.online):
                if isWaiting { list.server.say("online") }
                (isOffline, isWaiting) = (false, false)
                if list.server.json { try await commits.catchUp(with: followed, client) }
            case .renamed(let name):
                list.server.say("the list is called '\(name)' now")
                followed = try await client.open(name)
            case .refused, .editsWait: _ = try await followed.live()
            case .progress(let items, let total):
                if !list.server.quiet { Output.progress("\(items) of \(total) items") }
            case .status(.connecting(let place?)) where !isOffline:
                isWaiting = true
                list.server.say("connecting to \(place)")
            case .status(.connecting), .presence: break
            }
        }
        await client.close()
    }

    private func print(_ delta: Delta, from old: Hand?, to new: Hand) {
        guard let old, !full else { return ItemPrinter.print(new, json: false) }
        Output.together { for line in DeltaText.lines(delta, from: old, to: new, Output.marks) { Output.line(line) } }
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
            try await HistoryReader.commits(of: list.name, from: (last?.revision ?? 0) + 1, client) { commits, people in
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
