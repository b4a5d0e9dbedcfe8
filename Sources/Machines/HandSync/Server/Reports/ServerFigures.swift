import HandWire

/// What a server has counted since it began.
package struct ServerFigures: Sendable, Codable {
    package var connections = 0
    package var bytesReceived = 0
    package var bytesSent = 0
    /// Submissions that have arrived, whatever became of them.
    package var submissions = 0
    /// Durable commits.
    package var commits = 0
    /// Transactions that have written commits.
    package var writes = 0
    package var failedWrites = 0
    /// Commits sent to clients.
    package var deliveries = 0
    /// Lists that were sent as a whole to subscribers.
    package var snapshots = 0
    /// Reads of commits that a subscriber needed next and that were no longer in memory.
    package var readsBehind = 0
    /// Lists that a subscriber has asked for again. A client does so if its list differs from the server's.
    package var resynchronizations = 0
    package var stale = 0
    /// Times that a connection was not read for a while because its user had spent the budget.
    package var slowings = 0
    /// Rejections by the name of their reason.
    package var rejections: [String: Int] = [:]
    /// Connections that the server closed, by the name of the reason.
    package var closings: [String: Int] = [:]

    package init() {}
}

/// What a server holds at the moment.
package struct ServerLoad: Sendable, Codable {
    package var connections = 0
    package var subscriptions = 0
    package var lists = 0
    package var items = 0
    /// Bytes of commits that are kept in memory for clients that come back or are behind.
    package var windowBytes = 0
    /// Bytes of answers that clients have not read.
    package var queuedBytes = 0
    /// Subscriptions whose client has not read the newest commits, or is still getting the list.
    package var lagging = 0
    /// Commits that are numbered and not yet durable.
    package var pendingCommits = 0
    /// Connections that wait until their user has budget again.
    package var slowed = 0
    /// Bytes of the store at the last look.
    package var storeBytes = 0
    /// Users whose recent use is counted.
    package var accounts = 0

    package init() {}
}

extension ServerMachine {
    /// - Complexity: O(connections + lists).
    package var load: ServerLoad {
        var load = ServerLoad()
        load.connections = connections.count
        load.lists = lists.count
        load.slowed = budgets.slowedCount
        load.storeBytes = upkeep.storeBytes
        load.accounts = budgets.accountCount
        for hosted in lists.all {
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
