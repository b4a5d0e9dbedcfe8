import HandCore
import HandSync
import HandTestSupport
import HandWire
import Testing

/// The law of prices: for each message, and however large its work is, what its user is charged and what is done
/// differ by no more than three times.
///
/// What is done is counted from outside: writes to streams, their bytes, what the store has read, and the items that
/// were looked at, by the definition of the message. `cost` weighs the counts in steps of 100 nanoseconds, as measured
/// on a release build. What is less than 50 microseconds is paid for as a request.
@Suite struct PriceTests {
    /// A message whose work grows with a size.
    private struct Growth {
        let what: String
        let scale: Int
        /// Prepares a server, and returns who sends the message, the message, and the items that are to be looked at.
        let prepare: (TestWorld, Int) throws -> (TestStream, UpMessage, looks: Int)

        init(
            _ what: String, scale: Int = 1,
            _ prepare: @escaping (TestWorld, Int) throws -> (TestStream, UpMessage, looks: Int)
        ) {
            (self.what, self.scale, self.prepare) = (what, scale, prepare)
        }
    }

    private static let small = 500

    /// What grows with each message. A new message does not compile without its line here.
    private static func growths(of message: UpMessage) -> [Growth] {
        switch message {
        case .hello: []  // Its price is fixed, and charged before anything is done.
        case .ping, .create: [Growth("") { world, _ in (connect(world), message, 0) }]
        case .subscribe: subscribing
        case .unsubscribe:
            [Growth("followers") { world, size in (followers(world, size), .unsubscribe(list: 1), 0) }]
        case .presence:
            [
                Growth("followers") { world, size in
                    (followers(world, size), .presence(list: 1, Focus(ItemID(rawValue: 1))), 0)
                }
            ]
        case .submit:
            [
                Growth("items", scale: 30) { world, size in (owner(world), insertion(of: size, at: 2), size * 10) },
                Growth("followers") { world, size in (followers(world, size), insertion(of: 1, at: 1), 0) },
            ]
        case .delete, .rename, .undelete: naming(message)
        case .lists:
            [
                Growth("lists", scale: 1) { world, size in
                    for list in 0..<size {
                        _ = try world.store.create("l\(list)", rules: Rules(), logID: UInt64(list + 2), deckSeed: nil)
                    }
                    return (connect(world), message, 0)
                },
                Growth("roles", scale: 10) { world, size in
                    let roles = (0..<size).map { ("other\($0)", Role.none) }
                    world.tokens?["ada"] = Access(everywhere: .none, lists: Dictionary(uniqueKeysWithValues: roles))
                    return (connect(world), message, size)
                },
            ]
        case .deletedLists:
            [
                Growth("lists", scale: 1) { world, size in
                    for list in 0..<size {
                        _ = try world.store.create("l", rules: Rules(), logID: UInt64(list + 2), deckSeed: nil)
                        try world.store.delete("l", by: "p", at: 900)
                    }
                    return (connect(world), message, 0)
                }
            ]
        case .history:
            [
                Growth("commits", scale: 3) { world, size in
                    (owner(world, commits: size), .history(request: 9, name: "list", from: 1, limit: 1_000), 0)
                }
            ]
        case .fetch:
            [
                Growth("items", scale: 30) { world, size in
                    (owner(world, items: size), .fetch(request: 9, name: "list", revision: nil), 0)
                },
                Growth("items of a past state", scale: 30) { world, size in
                    let ada = owner(world, items: size)
                    // Longer ago than what is in memory.
                    for revision in 1...100 {
                        ada.insert(1 << 60 + UInt64(revision), SequenceNumber(revision + 1), base: revision)
                        world.settle()
                    }
                    return (ada, .fetch(request: 9, name: "list", revision: 1), 0)
                },
            ]
        case .excerpt: excerpts
        }
    }

    private static var subscribing: [Growth] {
        [
            Growth("items", scale: 30) { world, size in
                _ = owner(world, items: size)
                return (connect(world, 3), .subscribe(.init(request: 9, name: "list", logID: 0, revision: 0)), 0)
            },
            Growth("items to load", scale: 30) { world, size in
                owner(world, items: size).end()
                world.pass(200_000)
                return (connect(world, 3), .subscribe(.init(request: 9, name: "list", logID: 0, revision: 0)), 0)
            },
            Growth("commits in memory", scale: 3) { world, size in
                let ada = owner(world, commits: size)
                let log = ada.lastStart?.logID ?? 0
                return (connect(world, 3), .subscribe(.init(request: 9, name: "list", logID: log, revision: 0)), 0)
            },
            Growth("people") { world, size in
                _ = followers(world, size)
                return (connect(world, 3), .subscribe(.init(request: 9, name: "list", logID: 0, revision: 0)), 0)
            },
        ]
    }

    private static func naming(_ message: UpMessage) -> [Growth] {
        [
            Growth("connections") { world, size in
                let ada = owner(world)
                if case .undelete = message {
                    ada.say(.delete(request: 8, name: "list"))
                    world.settle()
                }
                for number in 0..<size { _ = connect(world, 10 + UInt64(number)) }
                return (ada, message, size * 10)
            },
            Growth("followers") { world, size in
                let ada = followers(world, size)
                if case .undelete = message {
                    ada.say(.delete(request: 8, name: "list"))
                    world.settle()
                }
                return (ada, message, size * 10)
            },
        ]
    }

    private static var excerpts: [Growth] {
        [
            Growth("positions", scale: 3) { world, size in
                (owner(world, items: size), excerpt([.positions(start: 0, count: size)]), size * 7)
            },
            Growth("selections", scale: 3) { world, size in
                let selections = (0..<min(size, 1_000)).map { Excerpt.Selection.positions(start: $0, count: 0) }
                return (owner(world, items: 1), excerpt(selections), min(size, 1_000) * 5)
            },
            Growth("items to search", scale: 30) { world, size in
                (owner(world, items: size), excerpt([.ids(ItemID(rawValue: 1)...ItemID(rawValue: 1))]), size / 2)
            },
            Growth("items to search for many ids", scale: 10) { world, size in
                let ids = (0..<1_000).map { ItemID(rawValue: .max - $0 * 2) }
                return (owner(world, items: size), excerpt(ids.map { .ids($0...$0) }), size * 5 + 5_000)
            },
        ]
    }

    /// A message of each type.
    private static let samples: [UpMessage] = [
        .hello(.init(client: ClientID(high: 0, low: 1), person: "", program: "")),
        .subscribe(.init(request: 9, name: "list", logID: 0, revision: 0)), .unsubscribe(list: 1),
        insertion(of: 1, at: 1), .presence(list: 1, nil), .ping(1),
        .create(request: 9, name: "new", rules: Rules()), .delete(request: 9, name: "list"),
        .lists(request: 9, after: ""), .history(request: 9, name: "list", from: 1, limit: 9),
        .fetch(request: 9, name: "list", revision: nil), excerpt([]),
        .rename(request: 9, name: "list", newName: "new"),
        .undelete(request: 9, name: "list", deletion: nil, newName: "list"), .deletedLists(request: 9, before: nil),
    ]

    @Test func thereIsASampleOfEachMessage() {
        let types = (UInt8.min...UInt8.max).filter { type in
            do {
                _ = try [type].withUnsafeBytes { try UpMessage($0) }
            } catch WireError.unknownValue(field: "message type", _) {
                return false
            } catch {}
            return true
        }
        #expect(types == Self.samples.map { DrivenClient.type(of: $0) })
    }

    @Test(arguments: samples) func whatIsDoneIsCharged(message: UpMessage) throws {
        for growth in Self.growths(of: message) {
            var largest = 0
            for size in [1, 10, 100, 300].map({ $0 * growth.scale }) {
                var limits = Limits()
                (limits.subscriptions, limits.connections, limits.listsPage) = (100_000, 100_000, 100_000)
                let world = TestWorld(limits: limits)
                world.tokens = ["ada": .everything]
                let (stream, message, looks) = try growth.prepare(world, size)
                world.pass(30_000)
                let (work, heard) = (world.machine.workDone, stream.heard.count)
                world.done = TestWorld.Done()
                stream.say(message)
                world.settle()
                world.pass(200)
                let charged = world.machine.workDone - work + Price.message
                let done = world.done.cost + looks + Self.decoded(stream.heard[heard...])
                largest = max(largest, done)
                if max(charged, done) <= Self.small { continue }
                #expect(
                    charged <= 3 * done && done <= 3 * charged,
                    "\(message.name), \(size) \(growth.what): charged \(charged), done \(done) \(world.done)")
            }
            #expect(largest > Self.small || growth.what.isEmpty, "\(message.name): \(growth.what) cost \(largest)")
        }
    }

    /// The work of decoding what an answer contains.
    private static func decoded(_ answers: ArraySlice<DownMessage>) -> Int {
        answers.reduce(0) { sum, answer in
            if case .history(_, let commits, _) = answer { sum + commits.count * 100 } else { sum }
        }
    }

    /// Whoever hangs up pays for what was asked for.
    @Test func whoHangsUpPays() {
        let world = TestWorld.ofTwoUsers { $0.userWork = 300 }
        let ada = world.ownerOfList()
        for part in 0..<UInt64(20) {
            ada.say(Self.insertion(of: 50, at: SequenceNumber(part)))
            world.settle()
            world.pass(10_000)
        }
        ada.end()
        world.pass(200_000)
        let again = world.connect(5, token: "ada")
        world.settle()
        again.subscribe("list", request: 1)
        again.end()
        let before = world.machine.workDone
        world.settle()
        #expect(world.machine.workDone - before >= 2_000, "the list was loaded")
        // The budget of 3,000 was full; the hello took 2,000 of it, and the list more than the rest.
        let next = world.connect(6, token: "ada")
        world.settle()
        #expect(next.heard.isEmpty && world.machine.load.slowed == 1)
    }

    // MARK: Scenes

    private static func connect(_ world: TestWorld, _ client: UInt64 = 1) -> TestStream {
        let stream = world.connect(client, token: "ada")
        world.settle()
        return stream
    }

    /// Returns a client that has made a list with that many items and commits, and follows it.
    private static func owner(_ world: TestWorld, items: Int = 0, commits: Int = 0) -> TestStream {
        let ada = connect(world)
        ada.say(.create(request: 1, name: "list", rules: Rules()))
        world.settle()
        ada.subscribe("list", request: 2)
        world.settle()
        if items > 0 { ada.say(insertion(of: items, at: 0)) }
        world.settle()
        for commit in 0..<commits {
            ada.submit(SequenceNumber(commit + 1), base: commit, "item")
            world.settle()
        }
        return ada
    }

    /// Returns a client that follows a list together with others.
    private static func followers(_ world: TestWorld, _ count: Int) -> TestStream {
        let ada = owner(world, items: 1)
        for number in 0..<count {
            let stream = connect(world, 10 + UInt64(number))
            stream.subscribe("list", request: 1)
        }
        world.settle()
        world.pass(1_000)
        return ada
    }

    private static func insertion(of count: Int, at sequence: SequenceNumber) -> UpMessage {
        let items = (0..<count).map {
            Item(id: ItemID(rawValue: sequence.rawValue << 32 + UInt64($0)), content: .note("item \($0)"))
        }
        return .submit(Submission(list: 1, base: 0, sequence: sequence + 1, delta: .inserting(items, at: 0, .after)))
    }

    private static func excerpt(_ selections: [Excerpt.Selection]) -> UpMessage {
        .excerpt(.init(request: 9, name: "list", selections))
    }
}

extension DrivenClient {
    /// The number of a message's type on the wire.
    fileprivate static func type(of message: UpMessage) -> UInt8 {
        let frame = message.frame
        return frame[frame.firstIndex { $0 < 0x80 }.map { $0 + 1 } ?? 0]
    }
}

extension TestWorld {
    /// What a server has done, as others see it.
    struct Done: CustomStringConvertible {
        var writes = 0
        var bytes = 0
        /// What the store has read: commits, lists, and items and commits of lists that were built.
        var frames = 0
        var lists = 0
        var items = 0
        var replayed = 0
        /// Transactions other than those of commits.
        var jobs = 0

        /// The work in steps.
        var cost: Int {
            writes * 20 + bytes / 40 + frames * 10 + lists * 200 + items * 2 + replayed * 100 + jobs * 4_000
        }

        var description: String {
            "writes \(writes) bytes \(bytes) frames \(frames) lists \(lists) items \(items) replayed \(replayed) jobs \(jobs)"
        }
    }

    /// Counts what a request has read, and transactions.
    func count(_ reply: StoreReply) {
        switch reply {
        case .read(let answer): count(answer.result)
        case .wrote: done.jobs += 1
        default: break
        }
    }

    private func count(_ result: any Sendable) {
        if let frames = result as? Result<[StoredFrame], StoreError> {
            done.frames += (try? frames.get().count) ?? 0
        } else if case .success(let lists)? = result as? Result<[DeletedList], StoreError> {
            done.lists += 1 + lists.count
        } else if case .success(let (lists, _))? = result as? Result<ReadLists.Answer, StoreError> {
            done.lists += 1 + lists.count
        } else if case .success(let hand)? = result as? Result<Hand, StoreError> {
            done.items += hand.count
        } else if case .success(let (_, authority, snapshot))? = result as? Result<LoadList.Answer, StoreError> {
            done.items += authority.count
            done.replayed += authority.revision - snapshot
        }
    }
}
