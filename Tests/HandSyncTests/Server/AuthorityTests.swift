import HandCore
import HandSimulation
import HandSync
import HandTestSupport
import HandWire
import Testing

@Suite struct AuthorityTests {
    private func authority(
        _ items: [Item], rules: Rules = Rules(), deck: Deck? = nil, window: Int = 1 << 20, bytes: Int = 1 << 30
    ) -> Authority {
        var limits = Limits()
        limits.windowBytes = window
        limits.listBytes = bytes
        return Authority(
            Authority.Start(
                list: 1, logID: 9, hand: Hand(items, rules: rules), revision: 0, deck: deck, sequences: [:]),
            limits: limits)
    }

    private func submission(_ operation: Delta, base: Int, _ sequence: SequenceNumber) -> Submission {
        Submission(list: 1, base: base, sequence: sequence, delta: operation)
    }

    private func commit(_ authority: inout Authority, _ submission: Submission, author: AuthorID = 1)
        -> Authority.Outcome
    {
        let outcome = authority.submit(submission, author: author, now: 5)
        _ = authority.takeBatch()
        authority.wrote()
        return outcome
    }

    @Test func eachSequenceIsCommittedOnce() {
        var list = authority(tasks(2))
        let first = submission(.deleting(0..<1), base: 0, 1)
        guard case .numbered = list.submit(first, author: 1, now: 5), let made = list.newest else {
            return #expect(Bool(false))
        }
        #expect(made.revision == 1 && made.time == 5 && made.count == 1)
        #expect(list.submit(first, author: 1, now: 6) == .waiting)
        #expect(list.revision == 0, "nothing is visible before it is durable")
        #expect(list.lastSequence(of: 1) == 0)
        #expect(list.takeBatch().commits == [made])
        list.wrote()
        #expect(list.revision == 1)
        #expect(list.lastSequence(of: 1) == 1)
        #expect(list.submit(first, author: 1, now: 6) == .acknowledged(revision: 1))
        #expect(list.submit(submission(.deleting(0..<1), base: 2, 2), author: 1, now: 6) == .failed(.baseInFuture))
        #expect(list.submit(submission(.deleting(0..<1), base: 1, 0), author: 1, now: 6) == .failed(.wrongSequence))
        // The sequences in between were rejected.
        _ = commit(&list, submission(.deleting(0..<1), base: 1, 5))
        for sequence: SequenceNumber in [1, 2, 4] {
            let former = submission(.inserting(tasks(1, first: 9), at: 0, .after), base: 2, sequence)
            #expect(list.submit(former, author: 1, now: 6) == .acknowledged(revision: 0))
        }
        #expect(list.hand.isEmpty)
    }

    /// A list that takes as much memory as it may only shrinks.
    @Test func aListHasAtMostSoManyBytes() throws {
        let items = tasks(3)
        let size = items.reduce(0) { $0 + PackedItem($1).bytesInMemory }
        var list = authority(items, bytes: size + 60)
        func edit(_ sequence: SequenceNumber, _ delta: Delta) -> Authority.Outcome {
            commit(&list, submission(delta, base: list.revision, sequence))
        }
        let (numbered, full) = (
            Authority.Outcome.numbered(refusal: nil), Authority.Outcome.rejected(.storeFull(limit: size + 60))
        )
        let more = Change(text: TextChange(replacing: "", at: 0, with: String(repeating: "x", count: 40)))
        #expect(edit(1, .inserting(tasks(2, first: 9), at: 0, .after)) == full)
        #expect(edit(2, .editing(at: 0, more)) == numbered)
        #expect(edit(3, .editing(at: 1, more)) == full)
        #expect(edit(4, .inserting(tasks(1, first: 9), at: 0, .after)) == full)
        #expect(edit(5, .deleting(0..<1)) == numbered)
        #expect(edit(6, .inserting(tasks(1, first: 9), at: 0, .after)) == numbered)
        // What could not be written takes no room.
        _ = list.submit(submission(.deleting(0..<2), base: list.revision, 7), author: 1, now: 5)
        _ = list.takeBatch()
        _ = list.writeFailed()
        #expect(edit(8, .editing(at: 1, more)) == numbered)
        #expect(edit(9, .editing(at: 2, more)) == full)
    }

    /// The first refusal on a connection is a commit that changes nothing and contains the reason.
    @Test func theFirstRefusalIsACommit() throws {
        var list = authority(tasks(2), rules: Rules(maximumCount: 2))
        let tooMany = submission(.inserting(tasks(1, first: 9), at: 0, .after), base: 0, 3)
        let before = list.hand.digest
        guard case .numbered = list.submit(tooMany, author: 1, isFirst: true, now: 5), let refusal = list.newest else {
            return #expect(Bool(false))
        }
        #expect(refusal.refusal == .violation(.listFull(maximum: 2)) && refusal.delta.isIdentity)
        #expect(refusal.revision == 1 && refusal.sequence == 3 && refusal.count == 2 && refusal.digest == before)
        #expect(list.submit(tooMany, author: 1, now: 5) == .waiting)
        #expect(list.takeBatch().commits == [refusal])
        list.wrote()
        #expect(list.brokenInvariant() == nil)
        // A client that submits it again gets no reason: the history has it.
        #expect(list.submit(tooMany, author: 1, isFirst: true, now: 5) == .rejected(.reasonForgotten))
        #expect(list.lastMark(of: Author(1))?.isRefused == true)
        // Later submissions on the connection are rejected without a commit.
        let next = submission(.inserting(tasks(1, first: 9), at: 0, .after), base: 1, 4)
        #expect(list.submit(next, author: 1, now: 5) == .rejected(.violation(.listFull(maximum: 2))))
        #expect(list.revision == 1 && !list.isBusy && list.lastSequence(of: 1) == 3)
    }

    /// Servers' clocks differ, and each may be set back.
    @Test func noCommitIsOlderThanTheOneBefore() throws {
        var (mine, other) = (authority(tasks(4)), authority(tasks(4)))
        func edited(_ list: inout Authority, _ sequence: SequenceNumber, author: AuthorID, now: UInt64) throws -> Commit
        {
            let edit = submission(.deleting(0..<1), base: list.revision, sequence)
            guard case .numbered = list.submit(edit, author: author, now: now), let commit = list.newest else {
                throw StoreError.damaged("not numbered")
            }
            return commit
        }
        #expect(try edited(&mine, 1, author: 1, now: 10).time == 10)
        _ = mine.writeFailed()
        // Another server's clock is ahead.
        let early = try edited(&other, 1, author: 2, now: 20)
        #expect(try mine.rebase(onto: [early], now: 5) { $0 }.isEmpty)
        #expect(try edited(&mine, 2, author: 1, now: 5).time == 20)
        #expect(try edited(&mine, 3, author: 3, now: 30).time == 30)
        _ = mine.takeBatch()
        mine.wrote()
        // The same holds for the time of a refusal.
        let exact = Submission(list: 1, base: 1, sequence: 3, isExact: true, delta: .identity)
        guard case .numbered = mine.submit(exact, author: 1, isFirst: true, now: 7), let refusal = mine.newest else {
            return #expect(Bool(false))
        }
        #expect(refusal.refusal != nil && refusal.time == 30)
        #expect(mine.brokenInvariant() == nil)
    }

    /// An exact edit is accepted as long as only refusals were committed since its base.
    @Test func anExactEditPassesRefusals() throws {
        var list = authority(tasks(2), rules: Rules(maximumCount: 2))
        for sequence in (1...3).map(SequenceNumber.init) {
            let tooMany = submission(.inserting(tasks(1, first: 9), at: 0, .after), base: 0, sequence)
            _ = list.submit(tooMany, author: 1, isFirst: true, now: 5)
            _ = list.takeBatch()
            if sequence < 3 { list.wrote() }
        }
        func exact(_ sequence: SequenceNumber, base: Int) -> Submission {
            Submission(list: 1, base: base, sequence: sequence, isExact: true, delta: .deleting(0..<1))
        }
        guard case .numbered = list.submit(exact(1, base: 0), author: 2, now: 6), let commit = list.newest else {
            return #expect(Bool(false))
        }
        #expect(commit.revision == 4 && commit.refusal == nil && commit.delta == .deleting(0..<1))
        #expect(list.submit(exact(2, base: 2), author: 2, now: 6) == .rejected(.revisionMoved(now: 4)))
        #expect(list.submit(exact(3, base: 0), author: 2, now: 6) == .rejected(.revisionMoved(now: 4)))
        // A failed write also reverts refusals.
        _ = list.writeFailed()
        #expect(list.revision == 2 && list.lastMark(of: Author(1))?.sequence == 2 && list.brokenInvariant() == nil)
    }

    /// Edits of every kind are carried over a refusal unchanged.
    @Test func editsAreUnchangedByRefusals() throws {
        var list = authority(tasks(3), rules: Rules(maximumCount: 3))
        let tooMany = submission(.inserting(tasks(1, first: 9), at: 0, .after), base: 0, 1)
        _ = list.submit(tooMany, author: 1, isFirst: true, now: 5)
        for delta in [Delta.moving(0..<1, to: 3, .after), Delta.deleting(0..<1).composed(with: .deleting(1..<2))] {
            var copy = list
            guard case .numbered = copy.submit(submission(delta, base: 0, 1), author: 2, now: 6),
                let commit = copy.newest
            else {
                return #expect(Bool(false))
            }
            #expect(commit.delta == delta)
        }
    }

    @Test func aFailedWriteLeavesTheListAsItWas() {
        var list = authority(tasks(2))
        _ = commit(&list, submission(.deleting(0..<1), base: 0, 1))
        let digest = list.hand.digest
        _ = list.submit(submission(.deleting(0..<1), base: 1, 2), author: 1, now: 0)
        _ = list.takeBatch()
        _ = list.submit(submission(.inserting(tasks(1, first: 50), at: 0, .after), base: 1, 1), author: 2, now: 0)
        #expect(list.takeBatch().commits.isEmpty, "one batch at a time")
        let lost = list.writeFailed()
        #expect(lost.map(\.author) == [1, 2])
        #expect(list.hand.digest == digest && list.revision == 1 && !list.isBusy)
        // The same submissions are accepted again, including the inserted id.
        let again = commit(&list, submission(.inserting(tasks(1, first: 50), at: 0, .after), base: 1, 1), author: 2)
        guard case .numbered = again, let made = list.newest else { return #expect(Bool(false), "\(again)") }
        #expect(made.revision == 2)
        #expect(list.frames(after: 0, about: 1 << 20).revision == 2)
    }

    /// Cards that were dealt in a write that failed are in the deck again, in their order, each time.
    @Test func aFailedWriteDealsNothing() {
        func card(_ id: UInt64) -> Item { Item(id: ItemID(rawValue: id), content: .card(.faceDown)) }
        var game = authority([], rules: .fiveCards, deck: Deck(seed: 3))
        var expected = Deck(seed: 3)
        for round in 1...3 {
            for sequence in 1...2 {
                _ = game.submit(
                    submission(
                        .inserting([card(UInt64(round * 10 + sequence))], at: 0, .after), base: round - 1,
                        SequenceNumber(round * 3 + sequence)), author: 1, now: 0)
            }
            _ = game.takeBatch()
            _ = game.writeFailed()
            #expect(game.deck?.codes == expected.codes)
            let deal = submission(
                .inserting([card(UInt64(round))], at: 0, .after), base: round - 1, SequenceNumber(round * 3))
            #expect(commit(&game, deal) == .numbered(refusal: nil))
            #expect(expected.deal().map(Content.card) == game.hand[0].content && game.deck?.codes == expected.codes)
        }
        #expect(game.brokenInvariant() == nil)
    }

    @Test func theSecondDeleteIsAcknowledgedByAnEmptyCommit() {
        var list = authority(tasks(2))
        _ = commit(&list, submission(.deleting(0..<1), base: 0, 1))
        guard case .numbered = commit(&list, submission(.deleting(0..<1), base: 0, 1), author: 2),
            let second = list.newest
        else {
            return #expect(Bool(false))
        }
        #expect(second.delta.isIdentity && second.revision == 2 && list.hand.count == 1)
    }

    /// Returns a delta that inserts something between any two of `count` items.
    private func everywhere(_ count: Int) throws -> Delta {
        try Delta(
            (0..<count).flatMap { index -> [Delta.Component] in
                [.insert(tasks(1, first: UInt64(1_000_000 + index)), .after), .keep(1)]
            })
    }

    /// Returns a list on which others made many commits after revision 1, and the commits; a large edit was made at
    /// revision 1.
    private func crowded(_ work: Int) -> (list: Authority, commits: [Delta]) {
        var limits = Limits()
        limits.submissionWork = work
        var list = Authority(
            Authority.Start(list: 1, logID: 9, hand: Hand(tasks(300)), revision: 0, deck: nil, sequences: [:]),
            limits: limits)
        var commits: [Delta] = []
        for sequence in 1...400 {
            let insert = Delta.inserting(tasks(1, first: UInt64(10_000 + sequence)), at: sequence % 300, .after)
            _ = commit(&list, submission(insert, base: sequence - 1, SequenceNumber(sequence)), author: 2)
            commits.append(insert)
        }
        return (list, commits)
    }

    /// An edit that would take too long to carry over is refused as stale: its client has to catch up. On the newest
    /// revision, any edit is accepted.
    @Test func theWorkOfASubmissionIsBounded() throws {
        let delta = try everywhere(300)
        var list = crowded(5_000).list
        let late = Submission(list: 1, base: 1, sequence: 1, delta: delta)
        #expect(list.submit(late, author: 1, now: 0) == .stale(head: 400))
        #expect((5_000...6_000).contains(list.work))
        #expect(list.submit(submission(.deleting(0..<1), base: 1, 1), author: 3, now: 0) != .stale(head: 400))
        // Commits that are not durable yet cannot be sent to the client, so it is not told to wait for them.
        list = crowded(1).list
        for sequence in 401...420 {
            let tick = submission(.editing(at: 0, Change(done: true)), base: 400, SequenceNumber(sequence))
            guard case .numbered = list.submit(tick, author: 2, now: 0) else { return #expect(Bool(false)) }
        }
        guard case .numbered = list.submit(Submission(list: 1, base: 400, sequence: 1, delta: delta), author: 1, now: 0)
        else { return #expect(Bool(false)) }
    }

    /// Within the limit, the result equals that of the general functions, step by step.
    @Test func aLargeSubmissionIsTransformedStepByStep() throws {
        var (list, commits) = crowded(.max)
        var expected = try everywhere(300)
        let late = Submission(list: 1, base: 1, sequence: 1, delta: expected)
        for commit in commits[1...] { expected = expected.transformed(over: commit, as: .later) }
        guard case .numbered = list.submit(late, author: 1, now: 0), let made = list.newest else {
            return #expect(Bool(false))
        }
        #expect(made.delta == expected)
        // Examining all of it for each commit would take at least 240,000.
        #expect(list.work < 24_000)
    }

    /// An edit that obviously cannot fit is rejected without carrying it over later commits.
    @Test func anEditThatCannotFitIsRejectedAtOnce() throws {
        var list = crowded(.max).list
        let far = Submission(list: 1, base: 1, sequence: 1, delta: try everywhere(303))
        #expect(list.submit(far, author: 1, now: 0) == .rejected(.doesNotFit(reach: 302, count: 301)))
        #expect(list.work == 605)
        let large = Item(id: ItemID(rawValue: 5), content: .note(String(repeating: "x", count: 1 << 21)))
        let heavy = Submission(
            list: 1, base: 1, sequence: 1,
            delta: try everywhere(300).composed(with: Delta.inserting([large], at: 0, .after)))
        guard case .rejected(.violation) = list.submit(heavy, author: 1, now: 0) else { return #expect(Bool(false)) }
        #expect(list.work <= 601)
    }

    @Test func theServerEnforcesTheRules() {
        var list = authority(tasks(2), rules: Rules(maximumCount: 3, allowedKinds: [.task], maximumSize: 4))
        func reject(_ operation: Delta, exactBase: Int? = nil) -> Rejection? {
            var submission = submission(operation, base: exactBase ?? 0, 1)
            submission.isExact = exactBase != nil
            if case .rejected(let reason) = list.submit(submission, author: 3, now: 0) { return reason }
            return nil
        }
        let note = Item(id: ItemID(rawValue: 70), content: .note("n"))
        #expect(reject(.inserting([note], at: 0, .after)) == .violation(.kindNotAllowed(.note)))
        #expect(reject(.inserting(tasks(2, first: 60), at: 0, .after)) == .violation(.listFull(maximum: 3)))
        let long = Item(id: ItemID(rawValue: 70), content: .task("12345", done: false))
        #expect(reject(.inserting([long], at: 0, .after)) == .violation(.itemTooLarge(size: 5, maximum: 4)))
        #expect(
            reject(.editing(at: 0, Change(text: TextChange(replacing: "", at: 0, with: "123"))))
                == .violation(.itemTooLarge(size: 5, maximum: 4)))
        #expect(reject(.inserting([tasks(1)[0]], at: 0, .after)) == .duplicateItem(ItemID(rawValue: 1)))
        #expect(reject(.deleting(1..<3)) == .doesNotFit(reach: 3, count: 2))
        #expect(reject(.editing(at: 0, Change(url: TextChange(from: "", to: "x")))) == .doesNotFit(reach: 1, count: 2))
        _ = commit(&list, submission(.deleting(0..<1), base: 0, 1))
        #expect(reject(.deleting(0..<1), exactBase: 0) == .revisionMoved(now: 1))
    }

    /// Of an edit that is rejected, nothing remains: the ids of its items are free, and those of the items that it
    /// deletes are not.
    @Test func aRejectedEditTakesNoIDs() {
        var list = authority(tasks(2))
        let (fresh, used) = (tasks(1, first: 7)[0], tasks(1)[0])
        let both = submission(.inserting([fresh, used], at: 0, .after), base: 0, 1)
        #expect(commit(&list, both) == .rejected(.duplicateItem(used.id)))
        let twice = Delta.deleting(0..<1).composed(with: .inserting([fresh, fresh], at: 0, .after))
        #expect(commit(&list, submission(twice, base: 0, 2)) == .rejected(.duplicateItem(fresh.id)))
        #expect(list.brokenInvariant() == nil)
        #expect(
            commit(&list, submission(.inserting([used], at: 0, .after), base: 0, 3))
                == .rejected(.duplicateItem(used.id)))
        let replaced = Delta.deleting(0..<1).composed(with: .inserting([fresh, used], at: 0, .after))
        #expect(commit(&list, submission(replaced, base: 0, 4)) == .numbered(refusal: nil))
        #expect(list.hand.ids.map(\.rawValue) == [7, 1, 2])
        #expect(list.brokenInvariant() == nil)

        var game = authority([], rules: .fiveCards, deck: Deck(seed: 3))
        func deal(_ id: UInt64, _ content: Content, _ sequence: SequenceNumber) -> Authority.Outcome {
            let card = Item(id: ItemID(rawValue: id), content: content)
            return commit(&game, submission(.inserting([card], at: 0, .after), base: game.revision, sequence))
        }
        #expect(deal(1, .card(.faceDown), 1) == .numbered(refusal: nil))
        guard case .card(let held) = game.hand[0].content else { return #expect(Bool(false)) }
        #expect(deal(2, .card(held), 2) == .rejected(.violation(.cardNotInDeck(held))))
        #expect(game.brokenInvariant() == nil)
        #expect(deal(2, .card(.faceDown), 3) == .numbered(refusal: nil))
    }

    @Test func threeClientsDealAtOnceFromOneDeck() {
        var list = authority([], rules: .fiveCards, deck: Deck(seed: 3))
        var random = SplitMix64(seed: 4)
        var losers = 0
        var next: [AuthorID: SequenceNumber] = [:]
        for _ in 0..<3 {
            for author: AuthorID in [1, 2, 3] {
                let card = Item(id: .random(using: &random), content: .card(.faceDown))
                let deal = submission(.inserting([card], at: 0, .before), base: 0, next[author, default: 1])
                switch list.submit(deal, author: author, now: 0) {
                case .numbered: next[author, default: 1] += 1
                case .rejected(let reason):
                    losers += 1
                    #expect(reason == .violation(.listFull(maximum: 5)))
                default: #expect(Bool(false))
                }
            }
        }
        _ = list.takeBatch()
        list.wrote()
        let cards = list.hand.map(\.content.text)
        #expect(cards.count == 5 && Set(cards).count == 5 && !cards.contains("??"))
        #expect(losers == 4)
        #expect(list.deck?.count == 47)
        #expect(
            list.submit(submission(.editing(at: 0, Change(card: .faceDown)), base: 5, 3), author: 1, now: 0)
                == .rejected(.violation(.cardsAreDealt)))
        // A deleted card goes under the deck and can be put back; a card that somebody holds cannot.
        let first = list.hand[0]
        _ = commit(&list, submission(.deleting(0..<1), base: 5, list.lastSequence(of: 1) + 1))
        #expect(list.deck?.count == 48)
        let held = Item(id: ItemID(rawValue: 1), content: list.hand[0].content)
        let sequence = list.lastSequence(of: 1) + 1
        guard
            case .rejected(.violation(.cardNotInDeck)) = commit(
                &list, submission(.inserting([held], at: 0, .after), base: 6, sequence))
        else { return #expect(Bool(false)) }
        _ = commit(&list, submission(.inserting([first], at: 0, .after), base: 6, sequence))
        #expect(list.hand.map(\.content.text) == cards)
    }

    @Test func theWindowServesFramesAndForgets() throws {
        var list = authority([], window: 100_000)
        var expected: [[UInt8]] = []
        var random = SplitMix64(seed: 4)
        for revision in 1...3000 {
            let item = Item(id: .random(using: &random), content: .note("item \(revision)"))
            let insert = submission(.inserting([item], at: 0, .before), base: revision - 1, SequenceNumber(revision))
            guard case .numbered = commit(&list, insert), let commit = list.newest else { return #expect(Bool(false)) }
            expected.append(DownMessage.commit(list: 1, commit).frame)
        }
        #expect(list.floor > 0)
        #expect(commit(&list, submission(.deleting(0..<1), base: list.floor - 1, 3001)) == .stale(head: 3000))
        var cursor = list.floor
        var bytes: [UInt8] = []
        while cursor < list.revision {
            let (runs, next) = list.frames(after: cursor, about: 5000)
            #expect(next > cursor)
            for run in runs { bytes += Array(run.bytes) }
            cursor = next
        }
        #expect(bytes == Array(expected[list.floor...].joined()))
    }

    /// Single edits carried as numbers and general transforms give the same history, for any mixture of deltas.
    @Test func singleEditsAndGeneralDeltasGiveOneHistory() throws {
        var chaos = Chaos(seed: testSeed(31))
        var list = authority(tasks(20))
        var history: [Delta] = []
        var states = [NaiveList(tasks(20))]
        for revision in 1...400 {
            let base = max(0, revision - 1 - chaos.random.next(below: 30))
            let isLarge = chaos.random.next(below: 6) == 0
            let delta =
                isLarge
                ? chaos.delta(on: states[base], size: 3)
                : chaos.edit(on: states[base]).fitting(Hand(states[base].items))
            var expected = delta
            for other in history[base...] { expected = expected.transformed(over: other, as: .later) }
            let outcome = commit(
                &list, Submission(list: 1, base: base, sequence: SequenceNumber(revision), delta: delta))
            guard case .numbered = outcome, let commit = list.newest else { return #expect(Bool(false), "\(outcome)") }
            #expect(commit.delta == expected)
            history.append(expected)
            states.append(try states[revision - 1].applying(expected))
            #expect(Array(list.hand) == states[revision].items)
        }
    }

    /// A window that forgets, in a list whose writes fail again and again, is that of a list where neither happens.
    @Test func forgettingAndFailedWritesLeaveNoTrace() throws {
        var chaos = Chaos(seed: testSeed(32))
        var list = authority(tasks(20), window: 3_000)
        var history: [Delta] = []
        var states = [NaiveList(tasks(20))]
        var sizes: [Int] = []
        var sequence: SequenceNumber = 0
        /// Submits an edit on an older revision. Returns the delta that it must become; nil if it is too old.
        func submit() throws -> Delta? {
            sequence += 1
            let base = max(0, history.count - chaos.random.next(below: 40))
            let isLarge = chaos.random.next(below: 6) == 0
            let delta =
                isLarge
                ? chaos.delta(on: states[base], size: 3)
                : chaos.edit(on: states[base]).fitting(Hand(states[base].items))
            let outcome = list.submit(
                Submission(list: 1, base: base, sequence: sequence, delta: delta), author: 1, now: 0)
            if base < list.floor {
                #expect(outcome == .stale(head: list.revision))
                return nil
            }
            #expect(outcome == .numbered(refusal: nil))
            return history[base...].reduce(delta) { $0.transformed(over: $1, as: .later) }
        }
        for _ in 0..<1_500 {
            if chaos.random.next(below: 3) == 0 {
                for _ in 0..<2 { _ = try submit() }
                if chaos.random.next() & 1 == 0 { _ = list.takeBatch() }
                _ = list.writeFailed()
            }
            let base = history.count
            guard let expected = try submit(), let commit = list.newest else { continue }
            #expect(commit.delta == expected)
            _ = list.takeBatch()
            list.wrote()
            history.append(commit.delta)
            states.append(try states[base].applying(commit.delta))
            sizes.append(DownMessage.commit(list: 1, commit).frame.count)
            #expect(Array(list.hand) == states[base + 1].items)
            #expect(list.windowBytes == sizes[list.floor...].reduce(0, +))
        }
        #expect(list.floor > 0)
    }
}
