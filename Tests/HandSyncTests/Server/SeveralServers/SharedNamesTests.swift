import HandCore
import HandSimulation
import HandSync
import HandTestSupport
import HandWire
import Testing

/// Two servers on one store: the names of lists, and the rights on them, are the same on both.
@Suite struct SharedNamesTests {
    private let store: SimulatedStore
    private let one: TestWorld
    private let two: TestWorld

    init() throws {
        (store, one, two) = TestWorld.pair()
        for (name, logID) in [("a", UInt64(1)), ("b", 2)] {
            _ = try store.create(name, rules: Rules(), logID: logID, deckSeed: nil)
        }
    }

    private func client(_ number: UInt64, at world: TestWorld, token: String? = nil) -> TestStream {
        let stream = world.connect(number, token: token)
        world.settle()
        return stream
    }

    /// Makes a server answer a message.
    @discardableResult
    private func ask(_ message: UpMessage, _ stream: TestStream, _ world: TestWorld) -> [DownMessage] {
        let count = stream.heard.count
        stream.say(message)
        world.settle()
        return Array(stream.heard.dropFirst(count))
    }

    /// Returns the log id of the list that a client finds under a name, or nil if there is none.
    private func follow(_ name: String, _ stream: TestStream, _ world: TestWorld) -> UInt64? {
        let answers = ask(.subscribe(.init(request: 7, name: name, logID: 0, revision: 0)), stream, world)
        return answers.compactMap { if case .subscribed(let start) = $0 { start.logID } else { nil } }.first
    }

    private func rename(_ name: String, to new: String) {
        ask(.rename(request: 3, name: name, newName: new), client(9, at: one), one)
    }

    private func look(_ world: TestWorld) {
        world.pass(1_000)
        world.settle()
        #expect(world.machine.brokenInvariant() == nil)
    }

    /// The list's followers are notified, and continue.
    @Test func followersOfAListRenamedElsewhereContinue() throws {
        let ben = client(2, at: two)
        #expect(follow("a", ben, two) == 1)
        rename("a", to: "c")
        look(two)
        #expect(ben.heard.contains { if case .renamed(1, "c") = $0 { true } else { false } })
        let item = Item(id: ItemID(rawValue: 5), content: .note("n"))
        ask(
            .submit(Submission(list: 1, base: 0, sequence: 1, delta: .inserting([item], at: 0, .after))), ben, two)
        #expect(try store.load(1).revision == 1)
        #expect(two.machine.durable("c")?.revision == 1 && two.machine.durable("a") == nil)
    }

    /// A client finds the list that a name currently means, even before the server has checked by itself.
    @Test func namesAreResolvedByTheStore() throws {
        let (ada, ben) = (client(1, at: two), client(2, at: two))
        #expect(follow("a", ben, two) == 1 && follow("b", ben, two) == 2)
        rename("a", to: "c")
        rename("b", to: "a")
        rename("c", to: "b")
        #expect(follow("b", ada, two) == 1 && follow("a", ada, two) == 2)
        #expect(ask(.fetch(request: 4, name: "c", revision: nil), ada, two).errors == [.noSuchList])
        look(two)
        #expect(follow("b", ada, two) == 1 && follow("a", ada, two) == 2)
        rename("a", to: "d")
        #expect(follow("a", ada, two) == nil && follow("d", ada, two) == 2)
        look(two)
    }

    /// A new list with the name of one that was deleted on the other server.
    @Test func aNewListWithTheNameOfADeletedOneIsFound() throws {
        let (ada, ben) = (client(1, at: two), client(2, at: two))
        #expect(follow("a", ben, two) == 1)
        let root = client(9, at: one)
        ask(.delete(request: 3, name: "a"), root, one)
        ask(.create(request: 4, name: "a", rules: Rules()), root, one)
        let logID = try #require(try store.list(named: "a")?.logID)
        #expect(logID != 1 && follow("a", ada, two) == logID)
        look(two)
        #expect(ben.errors == [.listDeleted])
    }

    /// A server that nobody uses for a while unloads its lists, including one whose name another list has taken.
    @Test func unusedListsAreUnloaded() throws {
        let ada = client(1, at: two)
        #expect(follow("a", ada, two) == 1)
        ask(.unsubscribe(list: 1), ada, two)
        rename("a", to: "c")
        rename("b", to: "a")
        #expect(follow("a", ada, two) == 2)
        for _ in 0..<70 { look(two) }
        #expect(two.machine.durable("a") != nil && two.machine.durable("c") == nil)
        #expect(follow("c", client(2, at: two), two) == 1)
    }

    /// A role belongs to a list, whatever its name: if another server has given the name to another list, the role does
    /// not apply to that list, even though this server has not been notified.
    @Test func rolesBelongToListsNotNames() throws {
        var access = Access(everywhere: .none)
        access.add(.admin, on: 1, named: "a")
        two.tokens = ["ben": access]
        let ben = client(2, at: two, token: "ben")
        #expect(follow("a", ben, two) == 1)
        rename("a", to: "c")
        rename("b", to: "a")
        for message: UpMessage in [
            .subscribe(.init(request: 5, name: "a", logID: 0, revision: 0)),
            .fetch(request: 5, name: "a", revision: nil),
            .history(request: 5, name: "a", from: 1, limit: 5), .rename(request: 5, name: "a", newName: "e"),
            .delete(request: 5, name: "a"),
            .excerpt(.init(request: 5, name: "a", [.positions(start: 0, count: 1)])),
        ] {
            let answers = ask(message, ben, two)
            #expect(answers.errors == [.noSuchList] || answers.errors == [.notAllowed], "\(message): \(answers)")
        }
        let lists = ask(.lists(request: 6, after: ""), ben, two)
        #expect(lists.contains { if case .lists(6, [], hasMore: false) = $0 { true } else { false } }, "\(lists)")
        // On its own list it still applies.
        let item = Item(id: ItemID(rawValue: 5), content: .note("n"))
        ask(
            .submit(Submission(list: 1, base: 0, sequence: 1, delta: .inserting([item], at: 0, .after))), ben, two)
        #expect(try store.load(1).revision == 1 && store.load(2).revision == 0)
        #expect(try store.list(named: "a")?.number == 2)
    }
}

extension [DownMessage] {
    fileprivate var errors: [ErrorCode] {
        compactMap { if case .error(let code, _, _, _, _) = $0 { code } else { nil } }
    }
}
