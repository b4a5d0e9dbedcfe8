import HandCore
import HandSync
import HandTestSupport
import HandWire
import Testing

/// What others have changed, found from the commits alone and with the list at hand.
@Suite struct NewsOfCommitsTests {
    private static let people: [DownMessage.Person] = [.init(author: 1, name: "ada"), .init(author: 2, name: "Bob")]

    /// One to three edits in one delta.
    private static func edits(of hand: Hand, _ random: inout SplitMix64) throws -> Delta {
        var (list, delta) = (hand, Delta.identity)
        for _ in 0...random.next(below: 3) {
            let place = list.isEmpty ? 0 : random.next(below: list.count)
            let next: Delta =
                switch random.next(below: 4) {
                case 1 where !list.isEmpty: .deleting(place..<place + 1)
                case 2 where !list.isEmpty:
                    .moving(place..<place + 1, to: random.next(below: list.count + 1), .after)
                case 3 where !list.isEmpty: .editing(at: place, Change(done: random.next(below: 2) == 0))
                default: .inserting(tasks(1, first: random.next()), at: place, .before)
                }
            delta = delta.composed(with: next)
            list = try list.applying(next)
        }
        return delta
    }

    /// Both find the same items, whoever makes the commits and whatever they are.
    @Test(arguments: 0..<60)
    func bothWaysAgree(_ round: Int) throws {
        var random = SplitMix64(seed: testSeed(7_100 + UInt64(round), "news"))
        var hand = Hand(tasks(12))
        var (commits, news) = ([Commit](), News())
        for revision in 1...40 {
            let author: AuthorID = random.next(below: 3) == 0 ? 1 : 2
            let delta = try Self.edits(of: hand, &random)
            let next = try hand.applying(delta)
            commits.append(
                Commit(
                    revision: revision, author: author, sequence: 1, base: revision - 1, time: 0, count: next.count,
                    digest: next.digest, delta: delta))
            news.follow(delta, from: hand, to: next, revision: revision, isOwn: author == 1)
            hand = next
        }
        var found = NewsOfCommits(of: "list", since: 0, for: "ada")
        let cut = random.next(below: 40)
        found.take(.history(Array(commits[..<cut]), people: Self.people))
        found.take(.history(Array(commits[cut...]), people: Self.people))
        #expect(found.places.keys.sorted() == news.places(in: hand))
        for (place, mark) in found.places { #expect(news[hand[place].id] == mark) }
    }

    @Test func requestsEndWithTheLimitOrTheHistory() {
        var news = NewsOfCommits(of: "list", since: 10, for: "ada", limit: 3)
        func asked() -> UpMessage? { news.request?(1) }
        #expect(asked() == .history(request: 1, name: "list", from: 11, limit: 3))
        func commit(_ revision: Int) -> Commit {
            Commit(
                revision: revision, author: 2, sequence: 1, base: revision - 1, time: 0, count: 0, digest: 0,
                delta: .identity)
        }
        news.take(.history([commit(11), commit(12)], people: Self.people))
        #expect(asked() == .history(request: 1, name: "list", from: 13, limit: 1) && !news.isCut)
        news.take(.history([commit(13)], people: Self.people))
        #expect(asked() == nil && news.isCut && news.revision == 13)
        var ended = NewsOfCommits(of: "list", since: 10, for: "ada")
        ended.take(.history([], people: []))
        #expect(ended.request == nil && ended.authors.isEmpty && !ended.isCut)
    }

    /// Before a gap, nobody knows what has which place; and what comes after the limit is not asked for.
    @Test func onlyWhatFollowsAGapAndIsAskedForIsFound() {
        func commit(_ revision: Int) -> Commit {
            Commit(
                revision: revision, author: 2, sequence: 1, base: revision - 1, time: 0, count: 9, digest: 0,
                delta: .editing(at: revision % 10, Change(done: true)))
        }
        var news = NewsOfCommits(of: "list", since: 10, for: "ada", limit: 5)
        news.take(.history([commit(11)], people: Self.people))
        #expect(news.isWhole && news.places.keys.sorted() == [1])
        news.take(.history([14, 15, 16, 17].map(commit), people: Self.people))
        #expect(!news.isWhole && news.places.keys.sorted() == [4, 5] && news.revision == 15 && news.request == nil)
    }

    @Test func refusalsAndOwnCommitsAreNoNews() {
        var news = NewsOfCommits(of: "list", since: 0, for: "ada")
        let refused = Commit(
            revision: 1, author: 2, sequence: 1, base: 0, time: 0, count: 0, digest: 0, delta: .identity,
            refusal: .notAllowed)
        let own = Commit(
            revision: 2, author: 1, sequence: 1, base: 1, time: 0, count: 1, digest: 0,
            delta: .inserting(tasks(1), at: 0, .after))
        news.take(.history([refused, own], people: Self.people))
        #expect(news.authors == [] && news.places.isEmpty)
    }

    /// Items that are remembered may fill the room for others; what comes then is not marked.
    @Test func moreNewsThanThereIsRoomFor() throws {
        let items = tasks(2 * News.maxItems)
        let hand = Hand(items)
        var news = News()
        let first = Hand(Array(items.prefix(News.maxItems)))
        news.follow(Delta(from: Hand(), to: first), from: Hand(), to: first, revision: 2, isOwn: false)
        let unseen = Dictionary(uniqueKeysWithValues: items.dropFirst(News.maxItems).map { ($0.id, Delta.Mark.edited) })
        news.recall(Seen(logID: 1, revision: 1, unseen: unseen), in: hand)
        #expect(news.count == 2 * News.maxItems)
        let next = try hand.applying(.inserting(tasks(1, first: 900_000), at: 0, .after))
        news.follow(
            .inserting(tasks(1, first: 900_000), at: 0, .after), from: hand, to: next, revision: 3, isOwn: false)
        #expect(news.count == 2 * News.maxItems)
    }

    @Test func unseenItemsAreKeptAsBytes() throws {
        let seen = Seen(
            logID: 7, revision: 3,
            unseen: [ItemID(rawValue: .max): .edited, ItemID(rawValue: 1): .inserted])
        let read = try seen.unseenBytes.withUnsafeBytes { try Seen.unseen($0) }
        #expect(read == seen.unseen)
        #expect(throws: WireError.self) { try [1, 2].withUnsafeBytes { try Seen.unseen($0) } }
    }
}
