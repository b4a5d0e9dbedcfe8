import HandWire

/// What a service has counted since it began. Counting is adding to a number on the way; whoever wants to know looks.
public struct ServiceFigures: Sendable, Codable {
    public package(set) var connections = 0
    public package(set) var bytesReceived = 0
    public package(set) var bytesSent = 0
    public package(set) var submissions = 0
    /// Durable, and so visible.
    public package(set) var commits = 0
    /// Transactions in which they were written.
    public package(set) var writes = 0
    public package(set) var failedWrites = 0
    /// Commits sent to clients.
    public package(set) var deliveries = 0
    /// Lists sent as a whole to somebody who subscribed.
    public package(set) var snapshots = 0
    /// Times that somebody's next commits were no longer in memory and had to be read from the store.
    public package(set) var readsBehind = 0
    /// Lists asked for anew by somebody who follows them: whoever has another list than the server does so.
    public package(set) var resynchronizations = 0
    public package(set) var stale = 0
    /// Times that somebody was not read for a while because more came than a user may send.
    public package(set) var slowings = 0
    /// Rejections by the name of their reason.
    public package(set) var rejections: [String: Int] = [:]
    /// Connections that the server closed, by the name of the reason.
    public package(set) var closings: [String: Int] = [:]

    package init() {}
}

/// What a service holds at the moment.
public struct ServiceLoad: Sendable, Codable {
    public var connections = 0
    public var subscriptions = 0
    public var lists = 0
    public var items = 0
    /// Bytes of commits that are kept in memory for those who come back or are behind.
    public var windowBytes = 0
    /// Bytes of answers that clients have not read.
    public var queuedBytes = 0
    /// Subscriptions whose client has not read the newest commits, or is still getting the list.
    public var lagging = 0
    /// Commits that are numbered and not yet durable.
    public var pendingCommits = 0
    /// Connections that are not read because their user is too fast.
    public var slowed = 0
    /// Bytes that the store takes, as of the last look.
    public var storeBytes = 0
    /// Users with an account, in which their recent use is counted.
    public var accounts = 0

    package init() {}
}

extension Service {
    /// Looked up for the caller: O(connections + lists).
    public var load: ServiceLoad {
        var load = ServiceLoad()
        load.connections = connections.count
        load.lists = hostedLists.count
        load.slowed = slowed.reduce(0) { $0 + $1.waiting.count }
        load.storeBytes = storeSize.bytes
        load.accounts = accounts.count
        for hosted in hostedLists.values {
            load.items += hosted.authority.count
            load.windowBytes += hosted.authority.windowBytes
            load.pendingCommits += hosted.authority.pending.count
        }
        for connection in connections {
            load.subscriptions += connection.cursors.count
            load.queuedBytes += connection.held.answerBytes
            load.lagging += connection.laggingCount
        }
        return load
    }
}
