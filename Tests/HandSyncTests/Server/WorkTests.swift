import HandCore
import HandSync
import HandTestSupport
import HandWire
import Testing

/// The server's work for a message is bounded, and is charged to its user.
@Suite struct WorkTests {
    private static func world(lists: Int, tokens: [String: Access], page: Int = 500) throws -> TestWorld {
        var limits = Limits()
        limits.listsPage = page
        let world = TestWorld(limits: limits)
        world.tokens = tokens
        for list in 0..<lists {
            let name = "list\(String(list + 10_000).dropFirst())"
            _ = try world.store.create(name, rules: Rules(), logID: UInt64(list + 1), deckSeed: nil)
        }
        return world
    }

    private static func connect(_ world: TestWorld, _ token: String) -> TestStream {
        let stream = world.connect(UInt64(token.utf8.count), token: token)
        world.settle()
        return stream
    }

    /// Returns the answer to a message, the number of questions to the store, and the charge.
    private static func ask(
        _ message: UpMessage, _ stream: TestStream, _ world: TestWorld
    ) -> (answer: DownMessage?, questions: Int, work: Int) {
        let (before, work) = (world.questions, world.machine.workDone)
        stream.say(message)
        world.settle()
        return (stream.heard.last, world.questions - before, world.machine.workDone - work)
    }

    private static func names(_ answer: DownMessage?) -> ([String], hasMore: Bool)? {
        guard case .lists(_, let entries, let hasMore)? = answer else { return nil }
        return (entries.map(\.name), hasMore)
    }

    @Test func unreadableListsCostNothing() throws {
        let some = Access(everywhere: .none, lists: ["list2500": .read, "list0007": .admin, "nowhere": .read])
        let world = try Self.world(lists: 3_000, tokens: ["no": Access(everywhere: .none), "some": some])
        let none = Self.ask(.lists(request: 1, after: ""), Self.connect(world, "no"), world)
        #expect(Self.names(none.answer)! == ([], false) && none.questions <= 1)
        let few = Self.ask(.lists(request: 1, after: ""), Self.connect(world, "some"), world)
        #expect(Self.names(few.answer)! == (["list0007", "list2500"], false) && few.questions == 1)
        #expect((1...10_000).contains(few.work))
    }

    /// Readable lists arrive page by page, also if some names belong to no list.
    @Test func fewListsComeInPages() throws {
        var roles: [String: Role] = ["list0001": .read, "list0002": .none, "list0003": .write, "list0004": .read]
        for number in 0..<9 { roles["list0003-\(number)"] = .read }
        let world = try Self.world(lists: 6, tokens: ["some": Access(everywhere: .none, lists: roles)], page: 2)
        let stream = Self.connect(world, "some")
        var found: [String] = []
        for _ in 0..<20 {
            let answer = Self.ask(.lists(request: 1, after: found.last ?? ""), stream, world)
            let (names, hasMore) = try #require(Self.names(answer.answer))
            #expect(!names.isEmpty || !hasMore)
            found += names
            if !hasMore { break }
        }
        #expect(found == ["list0001", "list0003", "list0004"])
    }

    /// A client that may restore nothing does not make the store search, and delays nobody who writes.
    @Test func deletedListsOfOthersCostNothing() throws {
        let mine = Access(everywhere: .read, deleted: [5: .admin, 9: .read])
        let world = try Self.world(lists: 200, tokens: ["no": Access(everywhere: .write), "mine": mine], page: 20)
        for list in 0..<200 { try world.store.delete("list\(String(list + 10_000).dropFirst())", by: "p", at: 900) }
        let no = Self.connect(world, "no")
        let found = Self.ask(.deletedLists(request: 1, before: nil), no, world)
        #expect(found.answer == .deletedLists(request: 1, [], hasMore: false) && found.questions == 0)
        let back = Self.ask(.undelete(request: 2, name: "list0004", deletion: nil, newName: "list0004"), no, world)
        #expect(no.errors == [.noSuchList] && back.questions == 0)
        let owner = Self.connect(world, "mine")
        let own = Self.ask(.deletedLists(request: 1, before: nil), owner, world)
        guard case .deletedLists(1, let entries, false)? = own.answer else {
            Issue.record("\(String(describing: own.answer))")
            return
        }
        #expect(entries.map(\.list.name) == ["list0004"] && own.questions == 1)
        _ = Self.ask(.undelete(request: 3, name: "list0008", deletion: nil, newName: "list0008"), owner, world)
        #expect(owner.errors == [.noSuchList])
        let done = Self.ask(.undelete(request: 4, name: "list0004", deletion: nil, newName: "list0004"), owner, world)
        #expect(done.questions > 0 && owner.heard.contains(.done(request: 4)))
        #expect(try world.store.list(named: "list0004")?.logID == 5)
    }

    /// Of several deletions of one name, the newest is restored, or the one that is requested.
    @Test func theRequestedDeletionIsRestored() throws {
        let world = try Self.world(lists: 0, tokens: ["root": .everything])
        for log in 1...UInt64(3) {
            _ = try world.store.create("list", rules: Rules(), logID: log, deckSeed: nil)
            try world.store.delete("list", by: "p", at: 900)
        }
        let root = Self.connect(world, "root")
        func undelete(_ deletion: UInt64?, as name: String) -> DownMessage? {
            Self.ask(.undelete(request: 1, name: "list", deletion: deletion, newName: name), root, world).answer
        }
        #expect(undelete(2, as: "second") == .done(request: 1))
        #expect(undelete(nil, as: "newest") == .done(request: 1))
        #expect(try world.store.list(named: "second")?.logID == 2 && world.store.list(named: "newest")?.logID == 3)
        #expect(undelete(2, as: "again") != .done(request: 1) && root.errors == [.noSuchList])
    }

    /// For a client that lags behind in many lists, the commits of one list at a time are read: they are held until
    /// they are sent.
    @Test func aLaggingClientIsReadOneListAtATime() throws {
        var limits = Limits()
        limits.windowBytes = 64
        let world = TestWorld(limits: limits)
        for list in 1...UInt64(3) {
            _ = try world.store.create("list\(list)", rules: Rules(), logID: list, deckSeed: nil)
        }
        let writer = world.connect(1)
        world.settle()
        for list in 1...UInt64(3) {
            writer.subscribe("list\(list)", request: RequestNumber(list))
            world.settle()
            for sequence in 1...UInt64(20) {
                writer.submit(SequenceNumber(sequence), base: Int(sequence) - 1, "item", list: ListNumber(list))
                world.settle()
            }
        }
        writer.end()
        let again = world.connect(1)
        world.settle()
        for list in 1...UInt64(3) { again.subscribe("list\(list)", request: RequestNumber(list), logID: list) }
        #expect(world.waiting == 1)
        world.settle()
        #expect(again.heard.count { if case .commit = $0 { true } else { false } } == 60)
    }

    /// Whatever is read from the store for a user is charged to them.
    @Test func readingTheStoreIsCounted() throws {
        let world = try Self.world(lists: 1, tokens: ["ada": .everything])
        let ada = Self.connect(world, "ada")
        ada.subscribe("list0000", request: 1)
        world.settle()
        for sequence in 1...UInt64(100) {
            ada.submit(SequenceNumber(sequence), base: Int(sequence) - 1, "item")
            world.settle()
        }
        let history = Self.ask(.history(request: 2, name: "list0000", from: 1, limit: 100), ada, world)
        guard case .history(2, let commits, _)? = history.answer else {
            Issue.record("\(String(describing: history.answer))")
            return
        }
        #expect(commits.count == 100 && history.work >= 100 * 50)
        let first = Self.ask(.history(request: 3, name: "list0000", from: 1, limit: 1), ada, world)
        #expect(first.work < history.work / 10)
        // A list that must be loaded first.
        ada.end()
        world.now += world.limits.unloadDelay * 2
        world.timeout()
        world.settle()
        let ben = Self.connect(world, "ada")
        let loaded = Self.ask(
            .subscribe(UpMessage.Subscribe(request: 1, name: "list0000", logID: 0, revision: 0)), ben, world)
        #expect(loaded.work >= 100 * 50)
    }
}
