import HandCore
import HandSync
import HandTestSupport
import HandWire
import Testing

/// Presence is a state: a client that does not read it costs nothing, and gets the newest state when it reads.
@Suite struct PresenceTests {
    /// A reader of a board, with the presence that it was sent.
    private struct Reader {
        var told = 0
        var knownGone: Int
        var picture: [AuthorID: Focus?] = [:]

        mutating func hear(_ board: PresenceBoard, atMost limit: Int) {
            let (entries, end) = board.entries(
                after: told, through: board.last, knownGone: knownGone, atMost: limit)
            #expect(entries.count <= limit && end <= board.last && (end == board.last || entries.count == limit))
            #expect(Set(entries.map(\.author)).count == entries.count)
            for entry in entries {
                if case .here(_, let focus) = entry.place {
                    picture[entry.author] = .some(focus)
                } else {
                    picture[entry.author] = nil
                }
            }
            told = end
        }
    }

    @Test(arguments: 1...20) func everyReaderKnowsWhoIsPresent(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var board = PresenceBoard()
        var truth: [AuthorID: Focus?] = [:]
        // People at other servers. For a person who is present at both, this server's entry counts.
        var remotePeople: [AuthorID: PresenceBoard.RemotePerson] = [:]
        var connections: [AuthorID: Int] = [:]
        var readers: [Reader] = []
        for _ in 0..<600 {
            let author = AuthorID(1 + random.next(below: 30))
            switch random.next(below: 7) {
            case 0:
                board.join(author, name: "p\(author)")
                connections[author, default: 0] += 1
                // A connection that has not sent its presence yet.
                truth[author] = .some(nil)
            case 1:
                board.leave(author)
                connections[author] = max(0, (connections[author] ?? 0) - 1)
                if connections[author] == 0 { truth[author] = nil }
            case 2, 3:
                let item = ItemID(rawValue: UInt64(random.next(below: 4)))
                let focus = random.next(below: 5) == 0 ? nil : Focus(item, isEditing: random.next() & 1 == 0)
                board.move(author, to: focus)
                if truth[author] != nil { truth[author] = .some(focus) }
            case 4: if readers.count < 5 { readers.append(Reader(knownGone: board.last)) }
            case 5:
                let focus = random.next() & 1 == 0 ? nil : Focus(ItemID(rawValue: 9))
                remotePeople[author] = remotePeople[author] == nil ? .init(name: "v", focus: focus) : nil
                let (before, own) = (board.last, board.ownChanges)
                board.setPeers(remotePeople)
                // Other servers are sent only the people who are present here, and nothing has changed if nobody can
                // see it.
                #expect(board.ownChanges == own && board.last == before + (truth[author] == nil ? 1 : 0))
                board.setPeers(remotePeople)
                #expect(board.last <= before + 1)
            default:
                guard !readers.isEmpty else { continue }
                readers[random.next(below: readers.count)].hear(board, atMost: 1 + random.next(below: 8))
            }
        }
        for var reader in readers + [Reader(knownGone: board.last)] {
            while reader.told < board.last { reader.hear(board, atMost: 7) }
            #expect(reader.picture == remotePeople.mapValues(\.focus).merging(truth) { $1 })
            #expect(board.everybody == Set(truth.keys) && board.ownEntries.map(\.author) == truth.keys.sorted())
        }
    }

    /// Only some of the people who have left are remembered, and it is known which ones are not.
    @Test func departuresAreEventuallyForgotten() {
        var board = PresenceBoard()
        for author in (1...10_000).map(AuthorID.init) {
            board.join(author, name: "p")
            board.leave(author)
        }
        board.join(20_000, name: "q")
        let (entries, end) = board.entries(after: 0, through: board.last, atMost: .max)
        #expect(end == board.last && entries.count <= 3_000 && board.floor > 0)
        #expect(entries.last == DownMessage.Presence(author: 20_000, place: .here(person: "q", nil)))
        // All changes after the floor are sent.
        let gone = entries.filter { $0.place == .gone }.map(\.author)
        #expect(gone == ((10_000 - gone.count + 1)...10_000).map(AuthorID.init))
        // People at other servers are not forgotten while they are present.
        board.setPeers([1: .init(name: "v", focus: nil)])
        for author in (2...10_000).map(AuthorID.init) {
            board.join(author, name: "p")
            board.leave(author)
        }
        let later = board.entries(after: 0, through: board.last, atMost: .max).entries
        #expect(later.contains { $0.author == 1 } && later.count <= 3_000)
    }

    private static let name = String(repeating: "x", count: 60)

    /// Returns a list with many people, who have long names.
    private static func crowd(
        _ count: Int, lists: Int = 1, chunk: Int = Limits().chunkBytes
    ) throws -> (TestWorld, [TestStream]) {
        var limits = Limits()
        limits.chunkBytes = chunk
        let world = TestWorld(limits: limits)
        for list in 1...lists {
            _ = try world.store.create("list\(list)", rules: Rules(), logID: UInt64(list), deckSeed: nil)
        }
        let streams = (1...UInt64(count)).map {
            world.connect($0, person: name)
        }
        world.settle()
        for stream in streams { follow(lists, stream, world) }
        passInterval(world)
        return (world, streams)
    }

    private static func follow(_ lists: Int, _ stream: TestStream, _ world: TestWorld) {
        for list in 1...lists { stream.subscribe("list\(list)", request: RequestNumber(list)) }
        world.settle()
    }

    /// Returns a client that follows the first list and its presence.
    private static func reader(_ client: UInt64, _ world: TestWorld) -> TestStream {
        let reader = world.connect(client)
        world.settle()
        follow(1, reader, world)
        passInterval(world)
        return reader
    }

    private static func passInterval(_ world: TestWorld) {
        world.now += world.limits.presenceInterval
        world.timeout()
        world.settle()
    }

    /// A client that follows many lists and reads nothing makes the server hold at most a chunk and a frame.
    @Test func unreadPresenceIsNotProduced() throws {
        let (world, _) = try Self.crowd(200, lists: 16)
        let reader = world.connect(1_000)
        world.settle()
        reader.stalls = true
        Self.follow(16, reader, world)
        Self.passInterval(world)
        let before = reader.bytes
        reader.drain()
        #expect(reader.bytes - before <= 128 << 10)
        for _ in 0..<40 { Self.passInterval(world) }
        #expect(reader.bytes - before <= 128 << 10 && world.machine.brokenInvariant() == nil)
    }

    /// Whatever did not fit into one write follows at once.
    @Test func allPresenceArrivesEventually() throws {
        let (world, people) = try Self.crowd(30, lists: 3, chunk: 1_000)
        people[7].end()
        Self.passInterval(world)
        let reader = world.connect(1_000)
        world.settle()
        reader.stalls = true
        Self.follow(3, reader, world)
        reader.stalls = false
        reader.drain()
        var told: [ListNumber: Int] = [:]
        for case .presence(let list, let entries) in reader.heard {
            told[list, default: 0] += entries.count
            // It never knew the people who have left.
            #expect(entries.allSatisfy { $0.place != .gone })
        }
        #expect(told == [1: 30, 2: 30, 3: 30])
    }

    /// Whatever happened while it did not read, in the end it knows who is present.
    @Test func aResumedReaderKnowsTheNewestPresence() throws {
        let (world, people) = try Self.crowd(30)
        let reader = Self.reader(1_000, world)
        #expect(reader.present().count == 31)
        reader.stalls = true
        people[0].say(.presence(list: 1, Focus(ItemID(rawValue: 1))))
        Self.passInterval(world)
        let before = reader.heard.count
        for round in 1...50 {
            people[3].say(.presence(list: 1, Focus(ItemID(rawValue: UInt64(round)))))
            if round == 10 { people[5].end() }
            if round == 20 { people[6].say(.unsubscribe(list: 1)) }
            Self.passInterval(world)
        }
        #expect(reader.heard.count == before)
        reader.stalls = false
        reader.drain()
        #expect(reader.heard.count == before + 1 && reader.present().count == 29)
        guard case .presence(1, let entries)? = reader.heard.last else {
            Issue.record("\(reader.heard.last.map { "\($0)" } ?? "nothing")")
            return
        }
        #expect(entries.count == 3)
        #expect(entries.contains { $0.place == .here(person: Self.name, Focus(ItemID(rawValue: 50))) })
    }

    /// A client that subscribes again on its connection may have forgotten its presence, and not send it again.
    @Test func aNewSubscriptionIsOnNoItem() throws {
        let (world, people) = try Self.crowd(2)
        let reader = Self.reader(1_000, world)
        people[0].say(.presence(list: 1, Focus(ItemID(rawValue: 7), isEditing: true)))
        Self.passInterval(world)
        people[0].subscribe("list1", request: 9)
        world.settle()
        Self.passInterval(world)
        guard case .presence(1, let entries)? = reader.heard.last else { return #expect(Bool(false)) }
        #expect(entries.map(\.place) == [.here(person: Self.name, nil)])
        #expect(world.machine.brokenInvariant() == nil)
    }

    /// It is noticed only a moment later what the system has accepted: the frame for all would contain only the
    /// last change.
    @Test func aLaggingReaderGetsAllChanges() throws {
        let (world, people) = try Self.crowd(3)
        let reader = Self.reader(1_000, world)
        reader.stalls = true
        for (index, mover) in people.enumerated() {
            if index == 2 { (reader.stalls, reader.isWriting) = (false, false) }
            mover.say(.presence(list: 1, Focus(ItemID(rawValue: 70 + UInt64(index)))))
            Self.passInterval(world)
        }
        var places: [AuthorID: DownMessage.Presence.Place] = [:]
        for case .presence(1, let entries) in reader.heard {
            for entry in entries { places[entry.author] = entry.place }
        }
        for index in 0..<3 {
            let place = DownMessage.Presence.Place.here(person: Self.name, Focus(ItemID(rawValue: 70 + UInt64(index))))
            #expect(places.values.contains(place), "\(index)")
        }
    }

    /// A client that subscribes again has forgotten everybody, and is sent everybody who is present now.
    @Test func aNewSubscriptionReportsEverybody() throws {
        let (world, people) = try Self.crowd(5)
        let reader = Self.reader(1_000, world)
        reader.stalls = true
        people[0].say(.presence(list: 1, Focus(ItemID(rawValue: 1))))
        Self.passInterval(world)
        people[1].end()
        Self.passInterval(world)
        reader.subscribe("list1", request: 9)
        world.settle()
        reader.stalls = false
        reader.drain()
        Self.passInterval(world)
        #expect(reader.present().count == 5)
    }

    /// Editing an item is reported to the others like other presence: when it changes, at most once per interval. A
    /// client that reconnects edits nothing until it sends that again.
    @Test func editingIsReported() throws {
        let (world, people) = try Self.crowd(1)
        let reader = Self.reader(1_000, world)
        let item = ItemID(rawValue: 5)
        func told(_ body: () -> Void) -> [Focus?] {
            let before = reader.heard.count
            body()
            Self.passInterval(world)
            var places: [Focus?] = []
            for case .presence(1, let entries) in reader.heard.dropFirst(before) {
                places += entries.map(\.place.focus)
            }
            return places
        }
        func say(_ focus: Focus?) { people[0].say(.presence(list: 1, focus)) }
        #expect(told { say(Focus(item)) } == [Focus(item)])
        #expect(told { say(Focus(item, isEditing: true)) } == [Focus(item, isEditing: true)])
        #expect(told { for _ in 0..<5 { say(Focus(item, isEditing: true)) } } == [])
        #expect(told { for round in 0..<9 { say(Focus(item, isEditing: round % 2 == 1)) } } == [Focus(item)])
        #expect(told { say(Focus(item, isEditing: true)) } == [Focus(item, isEditing: true)])
        let again = told {
            let stream = world.connect(1, person: Self.name)
            world.settle()
            Self.follow(1, stream, world)
        }
        #expect(again == [nil] && people[0].errors == [.replaced])
    }

    /// The departures that are not remembered cannot be sent to anybody: the connection ends, and the client
    /// reconnects.
    @Test func aReaderThatMissedTooMuchReconnects() throws {
        let (world, _) = try Self.crowd(3)
        let reader = Self.reader(1_000, world)
        reader.stalls = true
        for client in 2_000..<UInt64(5_500) {
            let guest = world.connect(client)
            world.settle()
            Self.follow(1, guest, world)
            if client % 50 == 0 { Self.passInterval(world) }
            guest.end()
        }
        Self.passInterval(world)
        reader.stalls = false
        reader.drain()
        #expect(reader.errors == [.idleTimeout] && world.machine.brokenInvariant() == nil)
        let fresh = Self.reader(9_000, world)
        #expect(fresh.present().count == 4 && fresh.errors.isEmpty)
    }
}
