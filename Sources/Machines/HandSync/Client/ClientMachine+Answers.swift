import HandCore
import HandWire

/// Answers to requests. An answer that does not fit its request violates the protocol: a server whose pages do not
/// advance would otherwise be asked for ever.
extension ClientMachine {
    /// Handles an answer. If it does not fit its request, the request fails, and so does the connection.
    mutating func respond(_ request: RequestNumber, _ answer: Answer, now: UInt64) {
        guard let problem = requests[request]?.asked?.problem(with: answer) else { return self.answer(request, answer) }
        self.answer(request, .error(.internalError, problem))
        violated(problem, now: now)
    }
}

extension UpMessage {
    /// Returns why the answer does not fit this request; nil if it fits.
    fileprivate func problem(with answer: ClientMachine.Answer) -> String? {
        switch (self, answer) {
        case (_, .error), (_, .disconnected): nil
        case (.create, .done), (.delete, .done), (.rename, .done), (.undelete, .done): nil
        case (.lists(_, let after), .lists(let page, let hasMore)): Self.problem(with: page, after: after, hasMore)
        case (.deletedLists(_, let before), .deletedLists(let page, let hasMore)):
            Self.problem(with: page, before: before, hasMore)
        case (.history(_, _, let first, let limit), .history(let commits, _)):
            Self.problem(with: commits, from: first, limit)
        case (.fetch(_, _, let revision), .state(_, let found)):
            revision ?? found == found ? nil : Self.other("revision \(found) came instead of \(revision ?? 0)")
        case (.excerpt(let asked), .excerpt(let excerpt)): Self.problem(with: excerpt, asked)
        default: Self.other("it answers another request than '\(name)'")
        }
    }

    private static func problem(with page: [DownMessage.ListEntry], after: String, _ hasMore: Bool) -> String? {
        guard let last = page.last?.name else { return hasMore ? other("no lists are followed by more") : nil }
        // Servers order names by their bytes, or as Swift does.
        let isLater = last > after || after.utf8.lexicographicallyPrecedes(last.utf8)
        return isLater ? nil : other("a page of lists repeats")
    }

    private static func problem(with page: [DownMessage.DeletedEntry], before: UInt64?, _ hasMore: Bool) -> String? {
        var next = before ?? .max
        for entry in page {
            guard entry.deletion < next || next == .max else { return other("a page of deleted lists repeats") }
            next = entry.deletion
        }
        return page.isEmpty && hasMore ? other("no deleted lists are followed by more") : nil
    }

    private static func problem(with commits: [Commit], from first: Int, _ limit: Int) -> String? {
        if commits.count > limit { return other("a page of history has \(commits.count) commits, not \(limit)") }
        guard let start = commits.first?.revision else { return nil }
        let isInOrder = commits.enumerated().allSatisfy { $1.revision == start + $0 }
        return start >= first && isInOrder ? nil : other("a page of history repeats, or has a gap")
    }

    private static func problem(with excerpt: Excerpt, _ asked: ExcerptRequest) -> String? {
        if let revision = asked.revision, excerpt.revision != revision {
            return other("revision \(excerpt.revision) came instead of \(revision)")
        }
        if let first = excerpt.entries.first?.position, first < asked.start { return other("an excerpt repeats") }
        let maxEntries = asked.selections.reduce(0) { sum, selection in
            switch selection {
            case .positions(_, let count): sum + count
            case .ids(let range): sum + (range.lowerBound == range.upperBound ? 1 : excerpt.count)
            }
        }
        return excerpt.entries.count > maxEntries ? other("an excerpt has items that were not selected") : nil
    }

    private static func other(_ problem: String) -> String {
        "the server's answer does not fit the request: \(problem)"
    }
}
