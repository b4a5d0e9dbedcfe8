import HandCore
import HandSync
import HandWire

// What the journal remembers of this person's commits: what others may have overridden since, what can be undone, and
// what was sent without an answer.

extension HandClient {
    /// Returns the commits of a list from one revision through another.
    package func commits(of name: String, from first: Int, through last: Int = .max) async throws -> [Commit] {
        try await all(CommitPages(of: name, from: first, through: last)).commits
    }

    // MARK: Unknown outcomes

    /// The outcome of an edit that an earlier run sent.
    package struct Settled: Sendable {
        package let submission: JournalSubmission
        package let answer: ClientMachine.Answer
        package let people: [AuthorID: String]
    }

    /// Sends again the edits whose outcome an earlier run of this person has not learned, and returns the outcomes, as
    /// far as the server answers. The server recognizes each edit by its sequence, so that no edit is made twice.
    package func settle() async -> [Settled] {
        var settled: [Settled] = []
        let unanswered = try? await askJournal(otherwise: [], { [person] in try $0.unanswered(by: person) })
        for submission in unanswered ?? [] {
            guard let answer = try? await answer({ $0.resume(submission) }) else { continue }
            var people: [AuthorID: String] = [:]
            if case .committed(let revision, let notices, let commits) = answer {
                people = await naming(Settlement(revision: revision, notices: notices), on: submission.list).people
                if let edit = submission.edit { try? await remember(commits, since: edit.excerpt, on: submission.list) }
                try? await continueCopy(of: submission.list, in: submission.log, by: commits)
            }
            settled.append(Settled(submission: submission, answer: answer, people: people))
        }
        return settled
    }

    /// Whether a request that changes the server's lists was sent and not answered.
    package func isOutcomeUnknown() async -> Bool {
        (try? await read { $0.client.machine.isOutcomeUnknown }) ?? false
    }

    /// Whether the journal has an edit without an answer, about which the next run asks.
    package func hasUnanswered() async -> Bool {
        let unanswered = try? await askJournal(otherwise: [], { [person] in try $0.unanswered(by: person) })
        return unanswered?.isEmpty == false
    }

    // MARK: What others override later

    /// Finds out what others have overridden of this person's earlier commits to a list, and keeps these losses. Costs
    /// nothing if there is no work that others could override.
    package func compareWork(on name: String) async throws {
        let works = try await works()
        if works.isEmpty { return }
        // Nearly always the list still has the name that it had: then its commits are asked for at once.
        let known = works.first { $0.list == name }?.work.revision
        async let commits = known == nil ? [] : history(of: name, from: (known ?? 0) + 1).commits
        let head = try await excerpt(of: name)
        guard let (work, losses) = try await work(at: head, on: name, having: try await commits) else { return }
        try await note(work, losses, on: name)
    }

    /// Adds a commit of this person, the last of the commits since an excerpt, to the work that others may override.
    func remember(_ commits: [Commit], since excerpt: Excerpt, on name: String) async throws {
        guard let own = commits.last else { return }
        if own.delta.touched.isEmpty, try await works().isEmpty { return }
        var (work, losses) = try await work(at: excerpt, on: name) ?? (KeptWork(on: excerpt), [])
        work.add(excerpt)
        losses += try await pass(commits, &work)
        try await note(work, losses, on: name)
    }

    private func works() async throws -> [(list: String, work: KeptWork)] {
        let person = try await read { $0.client.configuration.person }
        return try await askJournal(otherwise: []) { try $0.work(of: person) }
    }

    /// Returns this person's work as of an excerpt's revision, and what was overridden until then.
    ///
    /// - Parameter known: commits of the list that were read already.
    private func work(
        at head: Excerpt, on name: String, having known: [Commit] = []
    ) async throws -> (KeptWork, [Loss])? {
        guard var work = try await works().first(where: { $0.work.logID == head.logID })?.work,
            work.revision <= head.revision, head.revision - work.revision <= KeptWork.reach
        else { return nil }
        var commits = known.first?.revision == work.revision + 1 ? known.filter { $0.revision <= head.revision } : []
        let last = work.revision + commits.count
        commits += try await self.commits(of: name, from: last + 1, through: head.revision)
        let losses = try await pass(commits, &work)
        return work.revision == head.revision ? (work, losses) : nil
    }

    private func pass(_ commits: [Commit], _ work: inout KeptWork) async throws -> [Loss] {
        let authors = Set(commits.map(\.author))
        let own = try await read { engine in authors.filter { engine.client.machine.isPersons($0) } }
        return try work.pass(commits) { own.contains($0) }
    }

    private func note(_ work: KeptWork, _ losses: [Loss], on name: String) async throws {
        try await askJournal(otherwise: ()) { [person] in try $0.note(work, of: person, on: name, losses) }
    }

    /// Waits until the journal has written what it still had to write.
    package func journalWritten() async throws {
        try await askJournal(otherwise: ()) { _ in }
    }

    /// Returns this person's lost edits of a list that the journal keeps.
    package func losses(of name: String) async throws -> [KeptLoss] {
        try await askJournal(otherwise: []) { [person] in try $0.losses(of: name, by: person) }
    }

    /// Notes that the person has been told of all lost edits of a list.
    package func noteTold(of name: String) async throws {
        try await read { engine in engine.client.perform { $0.noteTold(of: name) } }
    }

    /// Returns the names of the authors who overrode edits, as far as the server still knows.
    package func people(behind losses: [Loss], on name: String) async -> [AuthorID: String] {
        for case .overridden(_, _, let override) in losses where override.author != 0 {
            if (try? await read({ $0.people[override.author] })) ?? nil != nil { continue }
            _ = try? await history(of: name, from: override.revision, limit: 1)
        }
        return (try? await read { $0.people }) ?? [:]
    }

    /// Adds the names of those who overrode edits.
    func naming(_ outcome: Settlement, on name: String) async -> Settlement {
        var outcome = outcome
        outcome.people = await people(behind: outcome.notices.compactMap(Loss.init), on: name)
        return outcome
    }

    // MARK: News

    /// Returns what others have changed in a list between two revisions.
    package func news(of name: String, since first: Int, through last: Int) async throws -> NewsOfCommits {
        try await all(NewsOfCommits(of: name, since: first, for: person(), limit: last - first))
    }

    /// Returns the person's name, as others see it.
    package func person() async throws -> String {
        try await read { $0.client.machine.granted?.person ?? $0.client.configuration.person }
    }

    /// Notes what the person has seen of a list.
    package func note(_ seen: Seen, of name: String) async throws {
        try await askJournal(otherwise: ()) { try $0.note(seen, of: name) }
    }

    // MARK: Undo

    /// Reads the commits and items that are needed to fulfil a wish, and returns what to do: `make`, `nothing` or
    /// `forgotten`.
    package func advice(
        for wish: UndoReconstruction.Wish, _ past: inout UndoReconstruction, of name: String
    ) async throws -> UndoReconstruction.Advice {
        let requests = try await all(UndoRequests(wish, past, of: name))
        past = requests.past
        return requests.advice
    }
}
