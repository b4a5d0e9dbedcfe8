import HandCore
import HandScreens
import HandSync
import HandWire
import Testing

/// What others have changed: marks on a list, the keys that lead there, when a mark goes, and what is remembered.
@Suite struct NewsTests {
    private static func item(_ number: UInt64, _ text: String = "n") -> Item {
        Item(id: ItemID(rawValue: number), content: .task(text, done: false))
    }

    private static func hand(_ count: Int) -> Hand { Hand((1...UInt64(count)).map { item($0 << 1, "i\($0)") }) }

    private static func stage(_ count: Int = 5, rows: Int = 24, seen: [String: Seen]? = [:]) -> Stage {
        Stage(["things": hand(count)], rows: rows, seen: seen)
    }

    /// The marks of the shown items: `+ i1` is new, `~ i2` was changed.
    private static func marks(_ stage: Stage) -> [String] {
        stage.lines.dropFirst().dropLast(2).compactMap { line in
            guard let box = line.firstIndex(of: "["), let mark = line.first(where: { "+~>".contains($0) }) else {
                return nil
            }
            return "\(mark) \(line[line.index(box, offsetBy: 4)...].prefix { $0 != " " })"
        }
    }

    private static func seen(_ stage: Stage) -> Seen? {
        stage.commands.compactMap { if case .keepSeen("things", let seen) = $0 { seen } else { nil } }.last
    }

    @Test func whatOthersAddAndChangeIsMarked() {
        var stage = Self.stage()
        stage.remote(.inserting([Self.item(1)], at: 1, .after))
        stage.remote(.editing(at: 3, Change(done: true)))
        stage.remote(.moving(5..<6, to: 0, .after))
        stage.remote(.deleting(3..<4))
        #expect(Self.marks(stage) == ["+ n", "~ i3"] && stage.lines[0].contains("2 new"), "\(stage.lines)")
        // An item that is new stays new when it is changed, and is no news any more when it is gone.
        stage.remote(.editing(at: 2, Change(done: true)))
        #expect(Self.marks(stage) == ["+ n", "~ i3"])
        stage.remote(.deleting(2..<3))
        #expect(Self.marks(stage) == ["~ i3"] && stage.lines[0].contains("1 new"))
        // Own edits are no news; an item that one edits has been seen.
        stage.press("a 'mine' enter esc")
        #expect(Self.marks(stage) == ["~ i3"])
        stage.edit(.editing(at: 2, Change(done: false)))
        #expect(Self.marks(stage) == [] && !stage.lines[0].contains("new"))
    }

    /// A move tells nothing new, unless the item is changed along with it.
    @Test func aMoveWithAChangeIsMarked() throws {
        var stage = Self.stage()
        stage.remote(try Delta([.pick(1), .keep(2), .drop(0..<1, .after, Change(done: true))]))
        #expect(Self.marks(stage) == ["~ i1"])
    }

    @Test func whatThisPersonDidElsewhereIsNoNews() throws {
        var stage = Self.stage()
        var replica = try #require(stage.replicas["things"])
        let delta = Delta.editing(at: 1, Change(done: true))
        let after = try replica.confirmed.applying(delta)
        let commit = Commit(
            revision: 6, author: 3, sequence: 1, base: 5, time: 0, count: after.count, digest: after.digest,
            delta: delta)
        replica.identify(as: replica.author, persons: [3])
        let update = try replica.receive(commit)
        stage.tell("things", replica, update)
        #expect(Self.marks(stage) == [])
    }

    @Test func keysLeadToTheNews() {
        var stage = Self.stage(60, rows: 12)
        func line() -> String { stage.lines.first { $0.hasPrefix("▸") } ?? "" }
        for place in [50, 30, 10] { stage.remote(.editing(at: place, Change(done: true))) }
        stage.press("n")
        #expect(line().contains(" i11"))
        stage.press("n n")
        #expect(line().contains(" i51"))
        stage.press("N")
        #expect(line().contains(" i51"), "the others have been seen")
        stage.press("g g n")
        #expect(stage.lines[10].contains("nothing is new"))
    }

    /// After the last one comes the first; before the first one comes the last.
    @Test func theKeysGoRound() {
        var stage = Self.stage(9)
        func line() -> String { stage.lines.first { $0.hasPrefix("▸") } ?? "" }
        for place in [1, 4, 7] { stage.remote(.editing(at: place, Change(done: true))) }
        stage.press("G n")
        #expect(line().contains(" i2"))
        stage.press("N")
        #expect(line().contains(" i8"))
        stage.press("N")
        #expect(line().contains(" i5"))
        stage.press("g g N")
        #expect(stage.lines[22].contains("nothing is new"))
    }

    @Test func foldedNewsAreUnfolded() {
        let items = (1...4).map { number in
            Item(
                id: ItemID(rawValue: UInt64(number) << 1), level: number == 3 ? 1 : 0,
                content: .task("i\(number)", done: false))
        }
        var stage = Stage(["things": Hand(items)])
        stage.press("j z g g")
        stage.remote(.editing(at: 2, Change(done: true)))
        #expect(Self.marks(stage) == [] && stage.lines[0].contains("1 new"))
        stage.press("n")
        #expect(Self.marks(stage) == ["~ i3"])
    }

    /// What happens, and the marks that are left.
    @Test func marksGoWhenTheyAreSeen() {
        func stage() -> Stage {
            var stage = Self.stage(60, rows: 12)
            for place in [40, 4, 3] { stage.remote(.editing(at: place, Change(done: true))) }
            return stage
        }
        // A glance is enough for nothing; ten seconds are, as soon as somebody is there.
        var read = stage()
        read.press("j")
        #expect(read.lines[0].contains("3 new"))
        read.wait(9_000)
        read.press("j")
        #expect(read.lines[0].contains("3 new"))
        read.wait(1_000)
        #expect(read.lines[0].contains("3 new"), "nobody was there")
        read.press("k")
        #expect(read.lines[0].contains("1 new"))
        // The cursor has been there.
        var passed = stage()
        passed.press("n")
        #expect(passed.lines[0].contains("3 new"))
        passed.press("j")
        #expect(passed.lines[0].contains("2 new"))
        // It was on the screen, and is not any more.
        var scrolled = stage()
        scrolled.wait(1_000)
        scrolled.press("G")
        #expect(scrolled.lines[0].contains("1 new"))
        var hurried = stage()
        hurried.wait(900)
        hurried.press("G")
        #expect(hurried.lines[0].contains("3 new"))
    }

    @Test func whoLeavesHasSeenTheScreen() throws {
        var stage = Self.stage(60, rows: 12)
        stage.remote(.editing(at: 40, Change(done: true)))
        stage.remote(.editing(at: 2, Change(done: true)))
        // The screens of one item and of the people belong to the list.
        stage.press("enter q w q")
        #expect(Self.seen(stage) == nil && stage.lines[0].contains("2 new"))
        stage.press("q")
        let seen = try #require(Self.seen(stage))
        #expect(seen == Seen(logID: 9, revision: 7, unseen: [ItemID(rawValue: 82): .edited]))
        // It comes back in the next run, with what has happened since.
        var next = Stage(["things": stage.hand()], rows: 12, seen: ["things": Seen(logID: 9, revision: 5)])
        #expect(!next.lines[0].contains("new"))
        next = Stage(["things": stage.hand()], rows: 12, seen: ["things": seen])
        #expect(next.lines[0].contains("1 new"))
        next.press("n")
        #expect(Self.marks(next) == ["~ i41"])
        // The list may have had another name then, and another history of the same name has nothing of this one.
        next = Stage(["things": stage.hand()], rows: 12, seen: ["former": seen])
        #expect(next.lines[0].contains("1 new"))
        next = Stage(
            ["things": stage.hand()], rows: 12,
            seen: ["things": Seen(logID: 8, revision: 7, unseen: [ItemID(rawValue: 82): .edited])])
        #expect(!next.lines[0].contains("new"))
    }

    /// What was seen is read from the disk, perhaps after the first changes have come.
    @Test func whatWasSeenComesLate() {
        var stage = Self.stage(seen: nil)
        stage.remote(.editing(at: 0, Change(done: true)))
        stage.remote(.editing(at: 2, Change(done: true)))
        stage.send(
            .seen(["things": Seen(logID: 9, revision: 6, unseen: [ItemID(rawValue: 8): .inserted])]))
        #expect(Self.marks(stage) == ["~ i3", "+ i4"])
        // Whoever has never seen the list has no news.
        var new = Self.stage(seen: nil)
        new.remote(.editing(at: 0, Change(done: true)))
        new.send(.seen([:]))
        #expect(Self.marks(new) == [])
        new.remote(.editing(at: 1, Change(done: true)))
        #expect(Self.marks(new) == ["~ i2"])
    }

    /// What is typed next goes to another list, which its user did not open.
    @Test func anotherListOfTheNameIsSaid() {
        var stage = Self.stage()
        stage.tell("things", Replica(confirmed: Self.hand(2), revision: 1, logID: 10, sequence: 0))
        #expect(stage.lines.contains { $0.contains("'things' is another list now") }, "\(stage.lines)")
    }

    /// A command may have brought this machine's copy further than its user has looked.
    @Test func newsBeforeTheCopyIsAskedFor() throws {
        let unseen = [ItemID(rawValue: 2): Delta.Mark.inserted]
        func stage() -> Stage { Self.stage(seen: ["things": Seen(logID: 9, revision: 3, unseen: unseen)]) }
        var news = NewsOfCommits(of: "things", since: 3, for: "ada")
        news.take(
            .history(
                [
                    Self.commit(4, by: 2, .editing(at: 1, Change(done: true))),
                    Self.commit(5, by: 2, .inserting([Self.item(1)], at: 4, .after)),
                ], people: [.init(author: 2, name: "Bob")]))
        var asking = stage()
        #expect(asking.commands.count { $0 == .fetchNews(list: "things", since: 3) } == 1)
        asking.send(.news(list: "things", since: 3, news))
        #expect(Self.marks(asking) == ["+ i1", "~ i2", "+ i5"], "\(asking.lines)")
        // What nobody has asked for, or what is about another list, marks nothing.
        asking.press("n n g g")
        asking.wait(5_000)
        asking.press("j")
        #expect(Self.marks(asking) == [])
        asking.send(.news(list: "things", since: 3, news))
        #expect(Self.marks(asking) == [])
        var moved = stage()
        moved.remote(.deleting(0..<1))
        moved.send(.news(list: "things", since: 3, news))
        #expect(Self.marks(moved) == [])
    }

    @Test func leavingTheProgramRemembers() {
        var stage = Self.stage()
        stage.remote(.editing(at: 0, Change(done: true)))
        #expect(stage.leave() == [.keepSeen(list: "things", Seen(logID: 9, revision: 6))])
        #expect(stage.leave() == [])
    }

    // MARK: Lists

    private static func entry(_ name: String, _ revision: Int) -> DownMessage.ListEntry {
        DownMessage.ListEntry(name: name, count: 3, revision: revision, rules: Rules())
    }

    private static func commit(_ revision: Int, by author: AuthorID, _ delta: Delta) -> Commit {
        Commit(
            revision: revision, author: author, sequence: 1, base: revision - 1, time: 0, count: 3, digest: 0,
            delta: delta)
    }

    @Test func onlyListsThatHaveChangedAreAskedFor() {
        var stage = Stage(opening: .lists)
        stage.send(.seen(["a": Seen(logID: 1, revision: 3), "b": Seen(logID: 2, revision: 4)]))
        stage.send(.lists([Self.entry("a", 3), Self.entry("b", 6), Self.entry("c", 9)]))
        func asked() -> [Command] { stage.commands.filter { if case .fetchNews = $0 { true } else { false } } }
        #expect(asked() == [.fetchNews(list: "b", since: 4)])
        var news = NewsOfCommits(of: "b", since: 4, for: "ada")
        news.take(
            .history(
                [
                    Self.commit(5, by: 2, .editing(at: 0, Change(done: true))),
                    Self.commit(6, by: 3, .inserting([Self.item(1)], at: 0, .after)),
                ], people: [.init(author: 2, name: "Bob"), .init(author: 3, name: "Eve")]))
        stage.send(.news(list: "b", since: 4, news))
        #expect(stage.lines[2].hasSuffix("2 new, by Bob and Eve"), "\(stage.lines)")
        stage.send(.lists([Self.entry("a", 3), Self.entry("b", 6), Self.entry("c", 9)]))
        #expect(asked().count == 1)
        stage.send(.lists([Self.entry("a", 3), Self.entry("b", 7), Self.entry("c", 9)]))
        #expect(asked().count == 2)
        #expect(stage.lines[1].contains("▸ a"))
        stage.press("s g g")
        #expect(stage.lines[1].contains("▸ b"), "\(stage.lines)")
        stage.press("enter")
        #expect(stage.top == .list("b"))
    }
}
