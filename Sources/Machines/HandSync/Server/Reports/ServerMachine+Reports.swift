import HandWire

/// One list in a server's memory, for the server's operator.
package struct ListReport: Codable, Equatable, Sendable {
    package var name: String
    package var items: Int
    package var revision: Int
    package var followers: Int
    /// Commits that are not durable yet.
    package var pending: Int
    package var windowBytes: Int

    package init(name: String, items: Int, revision: Int, followers: Int, pending: Int, windowBytes: Int) {
        self.name = name
        self.items = items
        self.revision = revision
        self.followers = followers
        self.pending = pending
        self.windowBytes = windowBytes
    }
}

/// One connection of a server, for the server's operator.
package struct ConnectionReport: Codable, Equatable, Sendable {
    /// The number that `ServerMachine.close` takes.
    package var number: UInt64
    package var peer: String
    /// Empty before the hello.
    package var person: String
    /// The id of the token; nil for a guest.
    package var token: String?
    package var lists: [String]
    /// The number of commits, of all its lists together, that were not sent to the client yet.
    package var behind: Int
    /// Bytes of answers that the client has not taken.
    package var queuedBytes: Int
    /// Whether the connection waits until its user has budget again.
    package var isSlowed: Bool
    /// Milliseconds since the last input; nil before the hello.
    package var silence: UInt64?

    package init(
        number: UInt64, peer: String, person: String, token: String? = nil, lists: [String], behind: Int,
        queuedBytes: Int, isSlowed: Bool, silence: UInt64?
    ) {
        self.number = number
        self.peer = peer
        self.person = person
        self.token = token
        self.lists = lists
        self.behind = behind
        self.queuedBytes = queuedBytes
        self.isSlowed = isSlowed
        self.silence = silence
    }
}

extension ServerMachine {
    /// Returns the lists in memory, those with the most commits first; O(lists).
    package func listReports() -> [ListReport] {
        lists.all.map { hosted in
            ListReport(
                name: hosted.list.name, items: hosted.authority.count, revision: hosted.authority.revision,
                followers: hosted.subscriberCount, pending: hosted.authority.pending.count,
                windowBytes: hosted.authority.windowBytes)
        }.sorted { ($1.revision, $0.name) < ($0.revision, $1.name) }
    }

    /// Returns the connections, those that lag most first; O(connections), with little work for those beyond the first
    /// `limit`.
    package func connectionReports(limit: Int = .max) -> [ConnectionReport] {
        let all = connections.map { (connection: $0, behind: $0.behind, queued: $0.held.answerBytes) }.sorted {
            ($1.behind, $1.queued, $0.connection.number) < ($0.behind, $0.queued, $1.connection.number)
        }
        return all.prefix(limit).map { connection, behind, queued in
            var report = ConnectionReport(
                number: connection.number, peer: connection.peerDescription, person: connection.person,
                token: connection.access.tokenID, lists: [], behind: behind, queuedBytes: queued,
                isSlowed: connection.isSlowed, silence: connection.session.silence(now: now))
            for index in connection.cursors.indices {
                report.lists.append(connection.cursors[at: index].hosted.list.name)
            }
            return report
        }
    }

    package var connectionCount: Int { connections.count }

    /// The items of all lists that were removed from memory so far.
    package var removedItems: Int { lists.removedItems }

    // MARK: Orders

    /// Closes a connection, and tells its client that the operator did so. Returns whether it was there.
    package func close(connection number: UInt64, at time: Moment) -> Bool {
        self.time = time
        guard let connection = connections.first(where: { $0.number == number && !$0.isEnding }) else { return false }
        fail(connection, .closedByOperator, "the operator of the server closed this connection")
        return true
    }

    /// Turns new connections away from now on. Others go on.
    package func drain() {
        stage = max(stage, .draining)
        awaitsTurn = true
    }

    /// Call this when the store cannot be reached, or can be reached again. Until it can, all clients are sent away.
    package func cutOff(_ isCutOff: Bool, at time: Moment) {
        guard isCutOff != self.isCutOff else { return }
        self.time = time
        self.isCutOff = isCutOff
        guard isCutOff else { return }
        for connection in Array(connections) where !connection.isEnding { sendAway(connection) }
    }

    func sendAway(_ connection: Connection) {
        fail(connection, .shuttingDown, "the server cannot reach its store", retryAfter: 1_000)
    }
}
