import HandCore
import HandSync
import HandTestSupport
import HandWire
import Testing

/// The texts that often came into a list, from its newest commits.
@Suite struct EarlierTextsTests {
    private static func commit(_ revision: Int, _ contents: [Content]) -> Commit {
        let items = contents.enumerated().map {
            Item(id: ItemID(rawValue: UInt64(revision * 10_000 + $0.offset)), content: $0.element)
        }
        return Commit(
            revision: revision, author: 1, sequence: 1, base: revision - 1, time: 0, count: items.count, digest: 0,
            delta: .inserting(items, at: 0, .after))
    }

    private static func task(_ text: String) -> Content { .task(text, done: false) }

    /// What a server with these commits answers, which gives at most `page` of them at a time.
    private static func read(_ commits: [Commit], page: Int = .max) -> (texts: EarlierTexts, asked: [Range<Int>]) {
        var texts = EarlierTexts(of: "things", at: commits.last?.revision ?? 0)
        var asked: [Range<Int>] = []
        while let request = texts.request {
            guard case .history(_, "things", let from, let limit) = request(1) else { break }
            asked.append(from..<from + limit)
            let wanted = commits.filter { $0.revision >= from && $0.revision < from + limit }
            texts.take(.history(Array(wanted.prefix(page)), people: []))
        }
        return (texts, asked)
    }

    @Test func whatCameOftenComesFirst() {
        let texts = ["milk", "bread", "milk", "eggs", "milk", "bread", "jam"]
        let commits = texts.enumerated().map { Self.commit($0.offset + 1, [Self.task($0.element)]) }
        #expect(Self.read(commits).texts.ranked == ["milk", "bread", "jam", "eggs"])
        #expect(Self.read(commits, page: 2).texts.ranked == ["milk", "bread", "jam", "eggs"])
        #expect(Self.read(commits, page: 2).asked.count == 4)
        #expect(Self.read([]).texts.ranked.isEmpty)
    }

    @Test func onlyNewCommitsAreRead() {
        let commits = (1...1_500).map { Self.commit($0, [Self.task("\($0)")]) }
        let (texts, asked) = Self.read(commits)
        #expect(asked == [501..<1_501])
        #expect(texts.ranked.count == 500 && texts.ranked.first == "1500" && texts.ranked.last == "1001")
    }

    @Test func whatNobodyTypesAgainIsLeftOut() throws {
        let long = String(repeating: "x", count: 201)
        let many = (0..<150).map { Self.task("import \($0)") }
        let texts = Self.read([
            Self.commit(1, [Self.task("two\nlines"), Self.task(""), Self.task(long), .card(try #require(Card("Q♠")))]),
            Self.commit(2, [.heading("Later"), .note(String(long.dropLast()))]), Self.commit(3, many),
        ]).texts.ranked
        #expect(texts.count == 102 && !texts.contains("import 100"))
        #expect(texts.contains("Later") && texts.contains("import 99") && texts.contains(String(long.dropLast())))
    }

    @Test func hugeCommitsEndTheReading() {
        let old = Self.commit(1, Array(repeating: Self.task("old"), count: 100))
        func texts(_ commits: Int) -> [String] {
            let new = (2..<2 + commits).map { revision in
                Self.commit(revision, (0..<100).map { Self.task("\(revision) \($0)") })
            }
            return Self.read([old] + new).texts.ranked
        }
        #expect(texts(99).first == "old")
        #expect(texts(100).first == "101 0")
    }
}
