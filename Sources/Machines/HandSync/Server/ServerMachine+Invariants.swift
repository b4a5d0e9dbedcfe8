import HandCore
import HandWire

extension ServerMachine {
    /// Returns a list in memory as subscribers may see it, for tests.
    package func durable(_ name: String) -> (hand: Hand, revision: Int)? {
        lists[name].map { ($0.authority.hand, $0.authority.revision) }
    }

    /// Returns which invariant is broken; nil if none is. For tests: O(everything).
    package func brokenInvariant() -> String? {
        for (client, connection) in clients where !connections.contains(connection) {
            return "client \(client) is known by a connection that is gone"
        }
        var pending: [UInt64: Int] = [:]
        for commit in lists.all.flatMap(\.authority.pending) { pending[commit.mark.author, default: 0] += 1 }
        if let problem = newcomers.problem(pending: pending) { return problem }
        for connection in connections where !connection.isEnding {
            guard let author = connection.author?.number, pending[author] != nil else { continue }
            if connection.isNewcomer != newcomers.contains(author) {
                return "author \(author), who has commits to be written, is a newcomer in one place only"
            }
        }
        if past.states.count > limits.pastRevisions { return "\(past.states.count) past revisions are in memory" }
        for account in accounts.values {
            if let problem = problem(with: account) { return "\(account.user): \(problem)" }
        }
        for hosted in lists.all {
            if let problem = hosted.authority.brokenInvariant() { return "\(hosted.list.name): \(problem)" }
            if let problem = problem(with: hosted) { return "\(hosted.list.name): \(problem)" }
        }
        for connection in connections {
            if let account = connection.account, accounts[account.user] !== account {
                return "the account of \(account.user), who is connected, is forgotten"
            }
            if let problem = problem(with: connection) { return problem }
            for list in connection.cursors.lists
            where lists[list]?.subscribers.contains(where: { $0 === connection }) != true {
                return "a connection follows list \(list) unknown to it"
            }
        }
        return nil
    }

    private func problem(with connection: Connection) -> String? {
        let pending = lists.all.reduce(0) { sum, hosted in
            sum + hosted.authority.pending.count { $0.origin.connection == connection.id }
        }
        guard connection.pendingSubmissions != pending else { return nil }
        return "connection \(connection.id) waits for \(connection.pendingSubmissions) writes of \(pending)"
    }

    private func problem(with account: Account) -> String? {
        if account.pastHolds > 1 { return "it holds \(account.pastHolds) past revisions" }
        let mine = connections.filter { $0.account === account }
        if account.connections != mine.count { return "it counts \(account.connections) of \(mine.count) connections" }
        let subscriptions = mine.reduce(0) { $0 + $1.cursors.count }
        if account.subscriptions != subscriptions {
            return "it counts \(account.subscriptions) of \(subscriptions) subscriptions"
        }
        let items = mine.reduce(0) { sum, connection in
            connection.cursors.indices.reduce(sum) { $0 + connection.cursors[at: $1].items }
        }
        if account.followedItems != items { return "it counts \(account.followedItems) of \(items) followed items" }
        let unfinished = mine.reduce(0) { $0 + Int($1.unfinished) }
        if account.unfinished != unfinished { return "it counts \(account.unfinished) of \(unfinished) bytes" }
        let answers = mine.reduce(0) { $0 + $1.held.answerBytes }
        if account.answerBytes != answers { return "it counts \(account.answerBytes) of \(answers) bytes of answers" }
        let waiting = Set(account.waiting.map(\.id))
        let slowed = Set(mine.filter { $0.isSlowed }.map(\.id))
        if waiting != slowed { return "the waiting connections are not the slowed ones" }
        let listed = self.slowed.count { $0 === account }
        if listed != (account.isListed ? 1 : 0) { return "it is \(listed) times in the list of slowed accounts" }
        return waiting.isEmpty || account.isListed ? nil : "connections wait, but the account is not listed as slowed"
    }

    private func problem(with hosted: ListMachine) -> String? {
        let (isBusy, isWriting) = (hosted.authority.isBusy, hosted.authority.isWriting)
        let isAsItsPhase =
            switch hosted.phase {
            case .ready: !isBusy
            case .due: isBusy && !isWriting
            case .writing, .unsettled: isWriting
            case .behind, .adopting: !isWriting
            case .gone: false
            }
        if !isAsItsPhase { return "its commits are not what its phase says: \(hosted.phase)" }
        var authors: Set<UInt64> = []
        for (index, connection) in hosted.subscribers.enumerated() {
            guard let cursor = connection.cursors[hosted.list.number] else { return "a subscriber has no cursor" }
            if cursor.position != index { return "a subscriber is not where its cursor says" }
            if cursor.revision > hosted.authority.revision { return "a cursor is ahead of what is durable" }
            guard let author = connection.author?.number else { return "a subscriber has no author" }
            if !authors.insert(author).inserted { return "author \(author) follows it twice" }
        }
        let present = hosted.subscribers.filter(\.hasPresence).compactMap(\.author?.number)
        return hosted.presence.everybody == Set(present) ? nil : "presence is not that of the subscribers"
    }
}
