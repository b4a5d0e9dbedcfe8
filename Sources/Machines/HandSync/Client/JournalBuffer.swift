/// Collects the journal events of a turn, so that they are written together, and decides when they must
/// be and when a list is written anew as a whole.
public struct JournalBuffer: Sendable {
    private var events: [String: [JournalEvent]] = [:]
    /// Lists of which everything is written anew, and the names under which that was kept before, where they had another.
    private var replaced: [String: String?] = [:]
    /// Events written since the last checkpoint, by list.
    private var written: [String: Int] = [:]
    /// Whether an event waits that must be on disk before anything is sent.
    public private(set) var isUrgent = false

    /// Commits that may wait in memory: they can be had from the server again.
    private let waiting: Int
    /// Events after which a list is written anew as a whole.
    private let compaction: Int

    public enum Write: Sendable {
        /// Behind what is kept of the list.
        case append([JournalEvent], list: String)
        /// In the place of all that is kept of the list, also under a name that it had before: its replica as it is now.
        case checkpoint(list: String, formerName: String?)
    }

    public init(waiting: Int = 256, compaction: Int = 20_000) {
        self.waiting = waiting
        self.compaction = compaction
    }

    public mutating func add(_ event: JournalEvent, to list: String) {
        events[list, default: []].append(event)
        if event.isUrgent || events[list, default: []].count > waiting { isUrgent = true }
    }

    /// So many events of a list were kept by programs that ran before: they count, or a journal that is only ever opened
    /// for a short while would never be written anew.
    public mutating func found(_ count: Int, of list: String) {
        if written[list] == nil { written[list] = count }
    }

    /// The replica was set anew; what was collected of it so far is in it.
    public mutating func replace(_ list: String) {
        events[list] = nil
        replaced.updateValue(replaced[list] ?? nil, forKey: list)
        isUrgent = true
    }

    /// A list has another name, under which it is kept from now on.
    public mutating func move(_ list: String, to name: String) {
        let first = replaced.removeValue(forKey: list) ?? nil
        (events[list], events[name], written[list]) = (nil, nil, nil)
        replaced.updateValue(first ?? list, forKey: name)
        isUrgent = true
    }

    /// Has everything written, list by list. What is written is no longer held here, so that nothing is written twice; what
    /// could not be written stays.
    public mutating func write(_ body: (Write) throws -> Void) rethrows {
        for (list, formerName) in replaced.sorted(by: { $0.key < $1.key }) {
            try checkpoint(list, formerName, body)
            replaced[list] = nil
        }
        for list in events.keys.sorted() {
            guard let collected = events[list], !collected.isEmpty else { continue }
            if written[list, default: 0] + collected.count > compaction {
                try checkpoint(list, nil, body)
            } else {
                try body(.append(collected, list: list))
                written[list, default: 0] += collected.count
                events[list] = nil
            }
        }
        isUrgent = false
    }

    /// The replica as it is now contains all events that were collected.
    private mutating func checkpoint(
        _ list: String, _ formerName: String?, _ body: (Write) throws -> Void
    ) rethrows {
        try body(.checkpoint(list: list, formerName: formerName))
        events[list] = nil
        written[list] = 0
    }
}
