import HandCore
import HandSync
import HandTestSupport
import HandWire
import Testing

/// What happened to one item, found backwards from its present place.
@Suite struct ItemHistoryTests {
    private static let people: [DownMessage.Person] = [.init(author: 1, name: "ada"), .init(author: 2, name: "Bob")]

    private struct World {
        var hand = Hand(tasks(6))
        var commits: [Commit] = []
        /// The lists before and after each commit.
        var lists: [Hand] = [Hand(tasks(6))]

        mutating func commit(_ delta: Delta, by author: AuthorID = 1) throws {
            hand = try hand.applying(delta)
            lists.append(hand)
            commits.append(
                Commit(
                    revision: commits.count + 1, author: author, sequence: 1, base: commits.count,
                    time: UInt64(commits.count), count: hand.count, digest: hand.digest, delta: delta))
        }

        /// Answers requests as a server does that gives at most `page` commits, and has forgotten the first ones.
        func answer(_ history: inout ItemHistory, page: Int = .max, forgotten: Int = 0) throws {
            while let request = history.request {
                switch request(1) {
                case .excerpt(let question):
                    guard case .ids(let ids)? = question.selections.first else { throw Excerpt.Unexpected() }
                    let place = hand.index(of: ids.lowerBound)
                    history.take(
                        .excerpt(
                            Excerpt(
                                logID: 7, revision: commits.count, count: hand.count, rules: Rules(),
                                entries: place.map { [.init(position: $0, item: hand[$0])] } ?? [])))
                case .history(_, _, let from, let limit):
                    let asked = commits.filter { $0.revision >= max(from, forgotten + 1) }
                    history.take(
                        .history(
                            Array(asked.prefix { $0.revision < from + limit }.prefix(page)),
                            people: ItemHistoryTests.people))
                default: throw Excerpt.Unexpected()
                }
            }
        }
    }

    private static func edit(of hand: Hand, _ random: inout SplitMix64) -> Delta {
        let place = random.next(below: max(1, hand.count))
        switch random.next(below: 5) {
        case 0 where hand.count > 3 && place > 0: return .deleting(place..<place + 1)
        case 1:
            return .moving(
                place..<min(hand.count, place + 2), to: random.next(below: hand.count + 1), .after)
        case 2, 3:
            return .editing(at: place, Change(done: random.next(below: 2) == 0))
        default: return .inserting(tasks(1, first: random.next()), at: place, .before)
        }
    }

    /// Each item's steps are those of the commits that moved, changed or inserted it, whatever the pages.
    @Test(arguments: 0..<40)
    func stepsAreThoseOfTheItem(_ round: Int) throws {
        var random = SplitMix64(seed: testSeed(8_200 + UInt64(round), "item history"))
        var world = World()
        for _ in 0..<60 { try world.commit(Self.edit(of: world.hand, &random), by: random.next(below: 2) == 0 ? 1 : 2) }
        for item in world.hand {
            var history = ItemHistory(of: item.id, in: "list")
            try world.answer(&history, page: 1 + random.next(below: 20))
            var expected: [Int] = []
            for (commit, lists) in zip(world.commits, zip(world.lists, world.lists.dropFirst())) {
                let (before, after) = (lists.0.index(of: item.id), lists.1.index(of: item.id))
                guard let after else { continue }
                let isMoved = commit.delta.placed.contains { $0.mark == .moved && $0.new.contains(after) }
                let isChanged = commit.delta.placed.contains { $0.mark == .edited && $0.new.contains(after) }
                if before == nil || isMoved || isChanged { expected.append(commit.revision) }
            }
            #expect(history.steps.map(\.revision) == expected.reversed())
            #expect(
                history.isFound && !history.isCut && history.isWhole == !world.lists[0].contains { $0.id == item.id })
            let states = history.states(from: world.lists[0].first { $0.id == item.id })
            #expect(
                states.map(\.after) == expected.map { revision in world.lists[revision].first { $0.id == item.id } })
            for (step, before, _) in states {
                #expect(step.to == world.lists[step.revision].index(of: item.id))
                #expect(step.from == world.lists[step.revision - 1].index(of: item.id))
                #expect(before == world.lists[step.revision - 1].first { $0.id == item.id })
                #expect(history.people[step.author] != nil)
            }
        }
    }

    @Test func readingEndsWhereItMust() throws {
        var world = World()
        try world.commit(.inserting(tasks(1, first: 50), at: 6, .before))
        for round in 0..<30 { try world.commit(.editing(at: 0, Change(done: round % 2 == 0))) }
        try world.commit(.editing(at: 6, Change(done: true)), by: 2)
        let item = ItemID(rawValue: 50)
        func history(limit: Int = .max, forgotten: Int = 0) throws -> ItemHistory {
            var history = ItemHistory(of: item, in: "list", limit: limit)
            try world.answer(&history, page: 7, forgotten: forgotten)
            return history
        }
        let whole = try history()
        #expect(whole.steps.map(\.verb) == ["ticked", "added"] && whole.isWhole && !whole.isCut)
        let cut = try history(limit: 10)
        #expect(cut.steps.map(\.revision) == [32] && cut.isCut && !cut.isWhole && cut.next == 22)
        let exact = try history(limit: 32)
        #expect(exact.isWhole && !exact.isCut)
        let forgotten = try history(forgotten: 5)
        #expect(forgotten.steps.map(\.revision) == [32] && !forgotten.isCut && !forgotten.isWhole)
        let all = try history(forgotten: 32)
        #expect(all.steps.isEmpty && all.request == nil)
        var gone = ItemHistory(of: ItemID(rawValue: 51), in: "list")
        try world.answer(&gone)
        #expect(!gone.isFound && gone.steps.isEmpty)
        var lost = ItemHistory(of: item, in: "list")
        lost.take(.done)
        #expect(lost.request == nil)
    }

    /// The commits before the one that inserted the item are not asked for.
    @Test func readingStopsAtTheInsertion() throws {
        var world = World()
        for round in 0..<3_000 { try world.commit(.editing(at: 0, Change(done: round % 2 == 0))) }
        try world.commit(.inserting(tasks(1, first: 50), at: 6, .before))
        var history = ItemHistory(of: ItemID(rawValue: 50), in: "list")
        try world.answer(&history)
        #expect(history.isWhole && history.next == 2_001)
    }

    @Test func verbsSayWhatACommitDid() throws {
        var world = World()
        let edits: [(Delta, String)] = [
            (.editing(at: 0, Change(done: true)), "ticked"), (.editing(at: 0, Change(done: false)), "unticked"),
            (.editing(at: 0, Change(letter: "x", done: true)), "edited"),
            (.editing(at: 0, Change(level: 1)), "edited"), (.moving(0..<1, to: 6, .after), "moved"),
            (try Delta([.keep(5), .pick(1), .drop(0..<1, .before, Change(done: false))]), "unticked"),
        ]
        for (delta, _) in edits { try world.commit(delta) }
        var history = ItemHistory(of: ItemID(rawValue: 1), in: "list")
        try world.answer(&history)
        #expect(history.steps.reversed().map(\.verb) == edits.map(\.1))
    }
}

extension Excerpt {
    fileprivate struct Unexpected: Error {}
}
