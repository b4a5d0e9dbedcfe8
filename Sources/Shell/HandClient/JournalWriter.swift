import HandStore
import HandSync

/// Collects what is to be kept during a turn of the loop and writes it in one go.
final class JournalWriter {
    let journal: ClientJournal
    private var events: [String: [JournalEvent]] = [:]
    private var replaced: Set<String> = []
    private var isUrgent = false
    /// Events written since the last checkpoint, by list.
    private var written: [String: Int] = [:]

    /// Commits that may wait in memory: they can be had from the server again.
    private static let waiting = 256
    /// Events after which a list is written anew as a whole.
    private static let compaction = 20_000

    init(_ journal: ClientJournal) {
        self.journal = journal
    }

    /// The replica of a list as it was kept, with all that was collected of it.
    func load(_ list: String, _ session: ClientSession) throws -> Replica? {
        try writeEverything(session)
        return try journal.load(list)
    }

    func add(_ event: JournalEvent, to list: String) {
        events[list, default: []].append(event)
        if event.isUrgent || events[list, default: []].count > Self.waiting { isUrgent = true }
    }

    /// The replica was set anew; what was collected of it so far is in it.
    func replace(_ list: String) {
        events[list] = nil
        replaced.insert(list)
        isUrgent = true
    }

    /// Writes what must be written before anything is sent. Returns what went wrong; what could not be written is kept here.
    func flush(_ session: ClientSession) -> String? {
        guard isUrgent else { return nil }
        do {
            try writeEverything(session)
            return nil
        } catch {
            return "what was edited cannot be kept on disk: \(error)"
        }
    }

    /// Writes list by list; what is written is no longer held here, so that nothing is written twice.
    func writeEverything(_ session: ClientSession) throws {
        for list in replaced {
            try checkpoint(list, session)
            replaced.remove(list)
        }
        for (list, collected) in events where !collected.isEmpty {
            if written[list, default: 0] + collected.count > Self.compaction {
                try checkpoint(list, session)
            } else {
                try journal.append(collected, to: list)
                written[list, default: 0] += collected.count
                events[list] = nil
            }
        }
        isUrgent = false
    }

    /// The replica as it is now contains all events that were collected.
    private func checkpoint(_ list: String, _ session: ClientSession) throws {
        guard let replica = session.subscriptions[list]?.replica else { return }
        try journal.checkpoint(replica, of: list)
        events[list] = nil
        written[list] = 0
    }

    /// Writes the rest and closes; returns what went wrong.
    @discardableResult
    func close(_ session: ClientSession) -> String? {
        isUrgent = true
        let problem = flush(session)
        try? journal.close()
        return problem
    }
}
