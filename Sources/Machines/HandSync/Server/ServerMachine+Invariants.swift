import HandCore
import HandWire

extension ServerMachine {
    /// Returns a list in memory as subscribers may see it, for tests.
    package func durable(_ name: String) -> (hand: Hand, revision: Int)? {
        lists[name].map { ($0.authority.hand, $0.authority.revision) }
    }

    /// Returns which invariant is broken; nil if none is. For tests: O(everything).
    package func brokenInvariant() -> String? {
        var pending: [AuthorID: Int] = [:]
        for commit in lists.all.flatMap(\.authority.pending) { pending[commit.mark.author, default: 0] += 1 }
        if let problem = admission.brokenInvariant(connections, pending: pending) { return problem }
        if let problem = past.brokenInvariant() { return problem }
        if let problem = budgets.brokenInvariant(connections) { return problem }
        for hosted in lists.all {
            if let problem = hosted.authority.brokenInvariant() { return "\(hosted.list.name): \(problem)" }
            if let problem = problem(with: hosted) { return "\(hosted.list.name): \(problem)" }
        }
        for connection in connections {
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

    private func problem(with hosted: ListMachine) -> String? {
        let (isBusy, isWriting) = (hosted.authority.isBusy, hosted.authority.isWriting)
        let isAsItsPhase =
            switch hosted.phase {
            case .ready: !isBusy && !hosted.isAwaited
            case .due: isBusy && !isWriting
            case .writing, .unsettled: isWriting
            case .behind, .adopting: !isWriting
            case .editing: !isBusy
            case .gone: false
            }
        if !isAsItsPhase { return "its commits are not what its phase says: \(hosted.phase)" }
        var authors: Set<AuthorID> = []
        for (index, connection) in hosted.subscribers.enumerated() {
            guard let cursor = connection.cursors[hosted.list.number] else { return "a subscriber has no cursor" }
            if cursor.position != index { return "a subscriber is not where its cursor says" }
            if cursor.revision > hosted.authority.revision { return "a cursor is ahead of what is durable" }
            guard let author = connection.author?.number else { return "a subscriber has no author" }
            if !authors.insert(author).inserted { return "author \(author) follows it twice" }
        }
        let present = hosted.subscribers.filter { $0.cursors[hosted.list.number]?.wantsPeople == true }
            .compactMap(\.author?.number)
        return hosted.presence.everybody == Set(present) ? nil : "presence is not that of the subscribers"
    }
}
