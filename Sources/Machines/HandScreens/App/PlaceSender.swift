/// Tells others where the user is, now and then.
struct PlaceSender: Sendable {
    /// The place that was sent last.
    private var sent: Whereabouts?
    private var lastSent: UInt64 = 0
    /// When to send the next place; nil if none is due.
    private(set) var due: UInt64?

    /// The shortest time between two messages about places in one list, in milliseconds.
    static let interval: UInt64 = 100

    /// Returns what to send if the user is elsewhere than others know, at most every `interval`.
    mutating func follow(to place: Whereabouts?, now: UInt64) -> [Command] {
        guard place != sent else {
            due = nil
            return []
        }
        guard now >= lastSent + Self.interval || sent?.list != place?.list else {
            due = lastSent + Self.interval
            return []
        }
        var commands: [Command] = []
        if let sent, sent.list != place?.list { commands.append(.presence(list: sent.list, nil)) }
        if let place { commands.append(.presence(list: place.list, place.focus)) }
        (sent, due, lastSent) = (place, nil, now)
        return commands
    }
}
