import HandCore
import HandSimulation
import HandSync
import HandTestSupport
import HandWire
import Testing

/// Two servers on one store: people at one of them are shown at the other.
@Suite struct SharedPresenceTests {
    private let store: SimulatedStore
    private let one: TestWorld
    private let two: TestWorld
    private let ada: TestStream
    private let ben: TestStream
    private let nowhere: Focus? = nil

    init() throws {
        (store, one, two) = TestWorld.pair()
        store.now = { [two] in two.now }
        _ = try store.create("list", rules: Rules(), logID: 9, deckSeed: nil)
        ada = one.follower(1)
        ben = two.follower(2)
    }

    /// Advances the servers by one interval, after which changes may be sent.
    private func pass(_ worlds: TestWorld...) {
        for world in worlds {
            world.pass(world.limits.presenceInterval)
            world.settle()
        }
    }

    private func passSeconds(_ count: Int, _ worlds: TestWorld...) {
        for _ in 0..<count * 10 { for world in worlds { pass(world) } }
    }

    /// Returns the last reported presence of others, by name.
    private func places(_ stream: TestStream) -> [String: Focus?] {
        var people: [AuthorID: (String, Focus?)] = [:]
        for case .presence(_, let entries) in stream.heard {
            for entry in entries {
                if case .here(let name, let focus) = entry.place {
                    people[entry.author] = (name, focus)
                } else {
                    people[entry.author] = nil
                }
            }
        }
        return Dictionary(people.values.map { ($0.0, $0.1) }) { $1 }
    }

    /// Waits until a hint has taken effect: three intervals, one for this server's exchange, one for the other's, one
    /// until the result is sent.
    private func passOne() {
        pass(one, two)
        for world in [one, two] { world.machine.heard(.presence(list: 1), at: world.time) }
        pass(one, two)
        pass(one, two)
    }

    @Test func peopleAtAnotherServerAreShown() {
        passOne()
        #expect(places(ada) == ["p1": nowhere, "p2": nowhere] && places(ben) == places(ada))
        let focus = Focus(ItemID(rawValue: 7), isEditing: true)
        ben.say(.presence(list: 1, focus))
        passOne()
        #expect(places(ada) == ["p1": nowhere, "p2": .some(focus)])
        ben.say(.unsubscribe(list: 1))
        passOne()
        #expect(places(ada) == ["p1": nowhere])
    }

    /// A newcomer is sent everybody at once: many do not stay for more.
    @Test func theFirstPresenceIsComplete() throws {
        let kim = one.follower(3)
        while places(kim).isEmpty { pass(one) }
        #expect(places(kim).keys.sorted() == ["p1", "p3"], "the other server has reported nothing yet")
        passSeconds(2, one, two)
        ada.say(.unsubscribe(list: 1))
        kim.say(.unsubscribe(list: 1))
        passSeconds(1, one)
        ben.say(.presence(list: 1, Focus(ItemID(rawValue: 7))))
        passSeconds(1, two)
        let eve = one.follower(4)
        while places(eve).isEmpty { pass(one) }
        #expect(places(eve) == ["p2": Focus(ItemID(rawValue: 7)), "p4": nowhere])
        // An unreachable store does not leave them without any presence either.
        one.failure = .unreachable("test", why: "it is away")
        eve.say(.unsubscribe(list: 1))
        passSeconds(1, one)
        eve.subscribe("list", request: 9)
        one.failure = nil
        while eve.lastStart?.request != 9 { one.answer() }
        one.failure = .unreachable("test", why: "it is away")
        let before = eve.heard.count
        passSeconds(1, one)
        #expect(eve.heard.dropFirst(before).contains { if case .presence = $0 { true } else { false } })
    }

    /// Without hints it takes a second.
    @Test func hintsAreNotNeeded() {
        passSeconds(2, one, two)
        #expect(places(ada).count == 2)
        ben.end()
        passSeconds(2, one, two)
        #expect(places(ada) == ["p1": nowhere])
    }

    /// Its people are removed after some seconds, and not earlier, so that they do not come and go with each delay.
    @Test func aSilentServersPeopleAreRemoved() {
        passSeconds(2, one, two)
        two.now += 3_000
        passSeconds(1, one)
        #expect(places(ada).count == 2)
        two.now += 3_000
        passSeconds(2, one)
        #expect(places(ada) == ["p1": nowhere])
        passSeconds(2, two, one)
        #expect(places(ada).count == 2)
    }

    /// Presence is in a table that is not flushed: each server writes its entries again when it finds them missing.
    @Test func lostPresenceIsWrittenAgain() {
        passSeconds(2, one, two)
        store.presence = [:]
        passSeconds(3, one, two)
        #expect(places(ada).count == 2 && places(ben).count == 2 && store.presence.count == 2)
    }

    /// The first write about somebody may be executed last.
    @Test func anOvertakenWriteIsIgnored() throws {
        passSeconds(2, one, two)
        let old = try #require(store.presence[PresencePlace(list: 1, server: 2)])
        ben.say(.presence(list: 1, Focus(ItemID(rawValue: 7))))
        passSeconds(2, one, two)
        store.presence[old.place] = old
        passSeconds(3, two, one)
        #expect(places(ada)["p2"] == .some(Focus(ItemID(rawValue: 7))))
        ben.end()
        passSeconds(2, one, two)
        store.presence[old.place] = old
        passSeconds(3, two, one)
        #expect(places(ada) == ["p1": nowhere])
    }

    /// If the store is unreachable, changes are sent later, and it is asked no more often than before.
    @Test func anUnreachableStoreDelaysPresence() {
        two.failure = .unreachable("test", why: "it is away")
        ben.say(.presence(list: 1, Focus(ItemID(rawValue: 7))))
        let before = two.questions
        passSeconds(3, two)
        #expect((1...60).contains(two.questions - before))
        two.failure = nil
        passSeconds(3, one, two)
        #expect(places(ada)["p2"] == .some(Focus(ItemID(rawValue: 7))))
    }

    /// A client that moves is present at two servers for a while, until the one that it left has noticed.
    @Test func aMovingClientIsShownOnce() {
        passSeconds(2, one, two)
        let moved = one.follower(2)
        moved.say(.presence(list: 1, Focus(ItemID(rawValue: 3))))
        passSeconds(2, one, two)
        #expect(places(ada) == ["p1": nowhere, "p2": .some(Focus(ItemID(rawValue: 3)))])
        ben.end()
        passSeconds(2, one, two)
        #expect(places(ada) == ["p1": nowhere, "p2": .some(Focus(ItemID(rawValue: 3)))])
        moved.end()
        passSeconds(2, one, two)
        #expect(places(ada) == ["p1": nowhere])
    }

    /// The departure of the last person, too.
    @Test func lastDeparturesSurviveAnUnreachableStore() {
        passSeconds(2, one, two)
        two.failure = .unreachable("test", why: "it is away")
        ben.end()
        passSeconds(2, two)
        two.failure = nil
        passSeconds(3, one, two)
        #expect(places(ada) == ["p1": nowhere])
    }

    /// Changes that happen before the store has answered are sent in the next interval.
    @Test func changesDuringASlowAnswerFollow() throws {
        passSeconds(2, one, two)
        ben.say(.presence(list: 1, Focus(ItemID(rawValue: 7))))
        while two.waiting == 0 { two.pass(two.limits.presenceInterval, settles: false) }
        ben.say(.presence(list: 1, Focus(ItemID(rawValue: 8))))
        two.pass(20 * two.limits.presenceInterval, settles: false)
        #expect(two.machine.deadline > two.now)
        two.settle()
        pass(two)
        two.machine.heard(.presence(list: 1), at: two.time)
        pass(one)
        one.machine.heard(.presence(list: 1), at: one.time)
        pass(one)
        #expect(places(ada)["p2"] == .some(Focus(ItemID(rawValue: 8))))
        // It is not asked less often afterwards either.
        two.pass(2_000, settles: false)
        two.settle()
        store.presence = [:]
        passSeconds(3, two)
        #expect(store.presence.keys.map(\.server) == [2])
    }

    /// A list that is no longer in memory has nobody on it, whatever a delayed write says.
    @Test func anUnloadedListHasNobodyOnIt() throws {
        passSeconds(2, one, two)
        let old = try #require(store.presence[PresencePlace(list: 1, server: 2)])
        ben.end()
        two.pass(2 * two.limits.unloadDelay)
        #expect(two.machine.durable("list") == nil)
        store.presence[old.place] = old
        passSeconds(3, two, one)
        #expect(places(ada) == ["p1": nowhere] && store.presence.keys.map(\.server) == [1])
    }

    /// A list that is loaded again at the same moment counts from zero, and may reach the same number as before.
    @Test func aReloadedListCountsFromZero() throws {
        passSeconds(2, one, two)
        try store.delete("list", by: "x", at: 1)
        two.machine.heard(.commits(list: 1, revision: 1), at: two.time)
        two.settle()
        #expect(ben.errors == [.listDeleted])
        try store.undelete(#require(store.deletedLists(before: .max, limit: 1).first).deletion, as: "list")
        let kim = two.follower(3)
        passSeconds(3, one, two)
        #expect(places(ada) == ["p1": nowhere, "p3": nowhere] && places(kim) == places(ada))
    }

    /// Unchanged presence is written once, and read once.
    @Test func unchangedPresenceCostsNothing() throws {
        passSeconds(2, one, two)
        let place = PresencePlace(list: 1, server: 2)
        let version = try #require(store.presence[place]).version
        let found = try store.exchange([], at: 1, on: [1], knowing: [place: version])
        #expect(found.contains { $0.place == place && $0.frames == nil })
        let before = (one.questions, ada.heard.count)
        passSeconds(10, one, two)
        #expect(store.presence[place]?.version == version && ada.heard.count == before.1)
        #expect(one.questions - before.0 <= 30)
        ada.say(.unsubscribe(list: 1))
        passSeconds(2, one, two)
        #expect(store.presence.keys.map(\.server) == [2])
        #expect(try store.exchange([], at: 1, on: [], knowing: [:]).isEmpty)
    }
}
