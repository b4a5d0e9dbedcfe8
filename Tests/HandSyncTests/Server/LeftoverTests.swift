import HandCore
import HandSimulation
import HandSync
import HandTestSupport
import HandWire
import Testing

/// What is over leaves nothing behind: no entry in any table, no work that is repeated, and no question to the store
/// that is never asked again. The tests walk all fields, so that fields of later versions are seen too.
@Suite struct LeftoverTests {
    /// A server's day. Clients, lists, addresses and guests are new each time; `regular` stays and is the same client.
    private final class Day {
        let world: TestWorld
        let number: UInt64
        var people: [TestStream] = []

        init(_ world: TestWorld, _ number: UInt64) {
            (self.world, self.number) = (world, number)
        }

        var name: String { "list\(number)" }
        var address: String { "10.\(number / 250).\(number % 250).1" }

        func person(_ index: UInt64) -> TestStream {
            let stream = world.connect(number * 100 + index, token: "user \(number)", from: address)
            world.settle()
            people.append(stream)
            return stream
        }

        func ask(_ stream: TestStream, _ message: UpMessage) {
            stream.say(message)
            world.settle()
        }

        /// Follows a list, and returns its number.
        func follow(_ stream: TestStream, _ name: String) -> ListNumber {
            stream.subscribe(name, request: 2)
            world.settle()
            return stream.lastStart?.list ?? 0
        }

        /// Adds a note at the top, then takes it away.
        func edit(_ stream: TestStream, _ list: ListNumber, _ sequence: SequenceNumber) {
            let revision = { stream.commits.last?.revision ?? 0 }
            stream.insert(number << 20 + sequence.rawValue, sequence, base: revision(), list: list)
            world.settle()
            stream.say(
                .submit(Submission(list: list, base: revision(), sequence: sequence + 1, delta: .deleting(0..<1))))
            world.settle()
        }

        /// Everything that people do.
        func pass() {
            let (ada, ben) = (person(1), person(2))
            ask(ada, .create(request: 1, name: name, rules: Rules()))
            let list = follow(ada, name)
            _ = follow(ben, name)
            for sequence in stride(from: UInt64(1), to: 9, by: 2) { edit(ada, list, SequenceNumber(sequence)) }
            let ends = Delta.deleting(0..<1).composed(with: .inserting([note(3), note(4)], at: 0, .after))
            ben.insert(number << 20 + 77, 1, base: 8, list: list)
            world.settle()
            ada.say(.submit(Submission(list: list, base: 9, sequence: 9, delta: ends)))
            ada.say(.presence(list: list, Focus(ItemID(rawValue: 3))))
            world.settle()
            ask(ada, .lists(request: 3, after: ""))
            ask(ada, .deletedLists(request: 3, before: nil))
            ask(ada, .history(request: 3, name: name, from: 1, limit: 5))
            ask(ada, .fetch(request: 3, name: name, revision: 1))
            ask(ada, .excerpt(.init(request: 3, name: name, [.positions(start: 0, count: 1)])))
            ask(ada, .rename(request: 4, name: name, newName: name + "b"))
            ask(ada, .rename(request: 4, name: name + "b", newName: name))
            ask(ben, .unsubscribe(list: list))
            world.failure = .failed("full")
            ada.insert(number << 20 + 99, 10, base: 10, list: list)
            world.settle()
            world.failure = nil
            _ = world.connect(number * 100 + 3, token: "wrong", from: address)
            world.settle()
            _ = world.machine.mayShakeHands(with: address, at: world.time)
            world.pass(3_000)
            ask(ada, .delete(request: 5, name: name))
            ask(ada, .undelete(request: 5, name: name, deletion: nil, newName: name))
            ask(ada, .delete(request: 5, name: name))
            for stream in people { stream.end() }
            // Leaves without waiting for an answer.
            let eve = person(4)
            eve.say(.history(request: 3, name: "always", from: 1, limit: 5))
            eve.end()
            world.settle()
        }

        private func note(_ id: UInt64) -> Item { Item(id: ItemID(rawValue: number << 20 + id), content: .note("n")) }
    }

    private static func world(isShared: Bool) -> TestWorld {
        var limits = Limits()
        (limits.windowBytes, limits.snapshotCommits, limits.unloadDelay) = (1_000, 4, 2_000)
        limits.userRequests = 1_000
        limits.idleDeadline = 1_000_000_000
        let world = TestWorld(limits: limits, store: SimulatedStore(isShared: isShared), serverID: isShared ? 1 : 0)
        world.retention = Retention(commits: 2, age: nil)
        world.retention.deleted = 1_000
        world.tokens = Dictionary(uniqueKeysWithValues: (0..<400).map { ("user \($0)", .everything) })
        return world
    }

    /// Somebody who always follows one list, on which others come and go.
    private static func regular(_ world: TestWorld) -> (TestStream, ListNumber) {
        let day = Day(world, 0)
        let regular = day.person(9)
        day.ask(regular, .create(request: 1, name: "always", rules: Rules()))
        return (regular, day.follow(regular, "always"))
    }

    /// The number of entries in each table that can be reached from a value, by the names of the fields that lead there.
    private static func sizes(of root: Any) -> [String: Int] {
        var sizes: [String: Int] = [:]
        var seen: Set<ObjectIdentifier> = []
        func walk(_ value: Any, _ path: String, _ depth: Int) {
            if depth > 12 || value is Hand || value is TestWorld || value is TestStream || value is Delta { return }
            let mirror = Mirror(reflecting: value)
            if mirror.displayStyle == .class, !seen.insert(ObjectIdentifier(value as AnyObject)).inserted { return }
            switch mirror.displayStyle {
            case .collection, .dictionary, .set:
                sizes[path, default: 0] += mirror.children.count
                for child in mirror.children { walk(child.value, path, depth + 1) }
            default:
                for child in mirror.children {
                    let label = child.label ?? ""
                    walk(child.value, label.hasPrefix(".") || label == "some" ? path : path + "." + label, depth + 1)
                }
                if let parent = mirror.superclassMirror {
                    for child in parent.children { walk(child.value, path, depth + 1) }
                }
            }
        }
        walk(root, "", 0)
        return sizes
    }

    /// Tables that grow with the number of days, in what `pass` returns after each. Some are tidied only from time to time.
    private static func growing(_ days: Range<Int>, _ pass: (Int) -> Any) -> [String] {
        var peaks: [[String: Int]] = [[:], [:]]
        for day in days {
            let half = (day - days.lowerBound) * 2 / days.count
            peaks[half].merge(sizes(of: pass(day))) { max($0, $1) }
        }
        return peaks[1].filter { $0.value > peaks[0][$0.key, default: 0] + 10 }.map {
            "\($0.key): \(peaks[0][$0.key, default: 0]), then \($0.value)"
        }
    }

    /// Once everybody has gone, a server's tables have as many entries as before, and so they have on a list that is
    /// never left.
    @Test(arguments: [false, true]) func noTableOfAServerGrows(isShared: Bool) throws {
        let world = Self.world(isShared: isShared)
        let (regular, list) = Self.regular(world)
        var sequence: SequenceNumber = 1
        let grown = Self.growing(1..<81) { number in
            let day = Day(world, UInt64(number))
            day.pass()
            let guest = world.connect(7, token: "user 0")
            world.settle()
            _ = day.follow(guest, "always")
            guest.say(.presence(list: list, Focus(ItemID(rawValue: UInt64(number)))))
            // So the guest has the same author number every day.
            if number == 1 { day.edit(guest, list, 1) }
            day.edit(regular, list, sequence)
            sequence += 2
            world.pass(1_000)
            guest.end()
            world.pass(130_000)
            return world.machine
        }
        #expect(grown == [])
        #expect(world.machine.load.accounts == 1 && world.machine.brokenInvariant() == nil)
    }

    /// A client's tables do not grow with lists that it opens and closes, in any state of its connection.
    @Test func noTableOfAClientGrows() {
        var client = DrivenClient()
        client.connect()
        var now: UInt64 = 0
        func request() -> RequestNumber {
            for case .subscribe(let subscribe) in client.said.reversed() { return subscribe.request }
            return 0
        }
        let grown = Self.growing(1..<61) { number in
            let list = UInt64(number) * 10
            let names = (0..<4).map { "list\(number)-\($0)" }
            // Closed before the answer, which is a refusal, or never comes.
            for name in names[..<2] {
                client.perform { $0.open(name, isJournaled: true) }
                client.perform { $0.close(name) }
                if name == names[0] {
                    client.hear(.error(code: .noSuchList, request: request(), retryAfter: 0, message: ""))
                }
            }
            for (index, name) in names.enumerated().dropFirst(2) {
                client.perform { $0.open(name, isJournaled: true) }
                client.begin(request(), list: ListNumber(list + UInt64(index)))
                let item = Item(id: ItemID(rawValue: list), content: .note("n"))
                client.perform { try? $0.edit(name, Delta.inserting([item], at: 0, .after)) }
                client.hear(
                    .rejected(list: ListNumber(list + UInt64(index)), sequence: SequenceNumber(number), .notStored))
            }
            client.perform { $0.close(names[2]) }
            _ = client.perform { $0.ask { .lists(request: $0, after: "") } }
            client.perform { $0.disconnected(reason: "lost", now: now) }
            client.perform { $0.close(names[3]) }
            now += 1_000_000
            client.perform { $0.timer(now: now) }
            client.perform { $0.connected(now: now) }
            client.welcome(now: now)
            return client.machine
        }
        #expect(grown == [])
    }

    /// A server at rest asks the store no more than a new one at rest, whatever has happened before.
    @Test(arguments: [false, true]) func restCostsNothing(isShared: Bool) {
        func questions(_ world: TestWorld) -> Int {
            world.pass(5_000)
            let before = world.questions
            world.pass(60_000)
            return world.questions - before
        }
        let new = Self.world(isShared: isShared)
        _ = Self.regular(new)
        let atRest = questions(new)
        // Once a minute deleted lists are looked for; other servers are asked what is new every second.
        #expect(atRest <= (isShared ? 2 * 60 + 2 : 2))
        let world = Self.world(isShared: isShared)
        let (regular, list) = Self.regular(world)
        for number in 1..<5 {
            let day = Day(world, UInt64(number))
            day.pass()
            // Something changes while an exchange is under way, and the store does not answer.
            regular.say(.presence(list: list, Focus(ItemID(rawValue: UInt64(number)))))
            world.pass(world.limits.presenceInterval, settles: false)
            regular.say(.presence(list: list, nil))
            world.pass(world.limits.presenceInterval, settles: false)
            world.settle()
            world.failure = .unreachable("test", why: "it is away")
            day.edit(regular, list, SequenceNumber(number * 2 - 1))
            world.pass(3_000)
            world.failure = nil
            world.pass(200_000)
        }
        #expect(questions(world) == atRest)
    }

    /// Every kind of question is asked again after the store has failed to answer it, and everything works again.
    @Test(arguments: [false, true]) func eachFailureIsOvercome(isShared: Bool) throws {
        let first = Self.world(isShared: isShared)
        _ = Self.regular(first)
        Day(first, 1).pass()
        first.pass(130_000)
        let kinds = first.kinds.keys.sorted()
        #expect(kinds.count > 12, "\(kinds)")
        let writes: Set = ["append", "createList", "changeName", "saveSnapshot", "trim", "sweepDeleted"]
        #expect(first.writes == writes.intersection(kinds))
        for kind in kinds {
            let world = Self.world(isShared: isShared)
            _ = Self.regular(world)
            (world.failure, world.failingKind) = (.failed("test"), kind)
            for day in 1..<3 {
                Day(world, UInt64(day)).pass()
                world.failure = .failed("test")
                world.pass(70_000)
            }
            (world.failure, world.failingKind) = (nil, nil)
            world.pass(130_000)
            world.kinds = [:]
            let day = Day(world, 4)
            day.pass()
            world.pass(130_000)
            #expect(Set(kinds).subtracting(world.kinds.keys).isEmpty, "after a failed \(kind)")
            #expect(day.people[0].commits.count >= 8, "after a failed \(kind): \(day.people[0].errors)")
            #expect(world.machine.brokenInvariant() == nil)
        }
    }
}
