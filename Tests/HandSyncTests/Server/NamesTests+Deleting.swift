import HandCore
import HandSimulation
import HandSync
import HandWire
import Testing

// Deleting lists, restoring them, and removing them for good.

extension NamesTests {
    private func deleted(_ stream: TestStream, before: UInt64? = nil) -> [DownMessage.DeletedEntry] {
        stream.say(.deletedLists(request: 9, before: before))
        world.settle()
        for case .deletedLists(9, let entries, _) in stream.heard.reversed() { return entries }
        return []
    }

    @Test func aDeletedListComesBackWithItsHistory() throws {
        let logID = try #require(ben.lastStart).logID
        delete()
        #expect(ben.errors == [.listDeleted])
        let entry = try #require(deleted(ben).first)
        #expect(entry.list.name == "list" && entry.list.count == 1 && entry.person == "p1" && entry.time == 1_000)
        #expect(entry.keptUntil == 1_000 + Retention.week)
        undelete()
        #expect(ada.heard.last == .done(request: 4) && deleted(ben).isEmpty)
        ben.subscribe("list", request: 7, logID: logID, revision: 1)
        world.settle()
        #expect(ben.lastStart?.start.resumedHead == 1 && ben.lastStart?.logID == logID)
        ben.submit(1, base: 1, "bread")
        world.settle()
        #expect(revisions(ben) == [1, 2])
        #expect(world.machine.brokenInvariant() == nil)
    }

    /// A submission that was under way when the list was deleted was not committed. After the list is restored, it is
    /// committed once.
    @Test func aSubmissionToADeletedListIsSentAgain() throws {
        let logID = try #require(ada.lastStart).logID
        ada.submit(2, base: 1, "bread")
        ben.say(.delete(request: 3, name: "list"))
        ada.submit(3, base: 1, "eggs")
        world.settle()
        #expect(ada.errors.contains(.listDeleted))
        undelete()
        ada.subscribe("list", request: 7, logID: logID, revision: 1)
        world.settle()
        let last = try #require(ada.lastStart).lastSequence
        for sequence in (last.rawValue + 1...4).map(SequenceNumber.init) {
            ada.submit(sequence, base: 2, "again \(sequence)")
        }
        world.settle()
        let head = try #require(world.machine.listReports().first).revision
        #expect(head == 4, "each of the sequences 1 to 4 once")
    }

    @Test func theLastOrTheNamedDeletionIsRestored() throws {
        for text in ["second", "third"] {
            delete()
            ada.say(.create(request: 1, name: "list", rules: Rules(maximumCount: text.utf8.count)))
            world.settle()
        }
        delete()
        let all = deleted(ada)
        #expect(all.map(\.list.rules.maximumCount) == [5, 6, Rules.unlimitedCount])
        undelete("list", all[1].deletion)
        undelete()
        #expect(ada.errors.last == .listExists)
        undelete("list", nil, as: "other")
        undelete("list", all[2].deletion, as: "third")
        ada.say(.lists(request: 8, after: ""))
        world.settle()
        var rules: [String: Int] = [:]
        for case .lists(8, let entries, _) in ada.heard {
            for entry in entries { rules[entry.name] = entry.rules.maximumCount }
        }
        #expect(rules == ["list": 6, "other": 5, "third": Rules.unlimitedCount])
        // The number of a deletion of another name is invalid here.
        delete("other")
        undelete("third", deleted(ada)[0].deletion, as: "fourth")
        #expect(ada.errors.last == .noSuchList)
    }

    /// Returns a server that keeps deleted lists for ten minutes, and has one.
    private static func withDeletion() -> TestWorld {
        let world = TestWorld()
        world.retention = Retention(deleted: 600_000)
        let ada = world.connect(1)
        world.settle()
        world.pass(1_000)
        ada.say(.create(request: 1, name: "list", rules: Rules()))
        ada.say(.delete(request: 2, name: "list"))
        world.settle()
        return world
    }

    private static func kept(_ world: TestWorld) throws -> Int {
        try world.store.deletedLists(before: .max, limit: 9).count
    }

    @Test func anOldDeletionCannotBeRestored() throws {
        let world = Self.withDeletion()
        world.pass(600_000)
        #expect(try Self.kept(world) == 1)
        world.pass(62_000)
        let ben = world.connect(2)
        ben.say(.undelete(request: 3, name: "list", deletion: nil, newName: "list"))
        world.settle()
        #expect(ben.errors == [.noSuchList])
        // The list is removed without any request.
        world.pass(60_000)
        #expect(try world.store.listCount(of: nil) == 0)
    }

    /// What a wrong clock says does not make a deletion older: neither a jump while the server runs, nor a clock that is
    /// ahead or behind when it starts.
    @Test(arguments: [Int64(86_400_000) * 365, -900]) func aWrongClockRemovesNoDeletedList(jump: Int64) throws {
        let world = Self.withDeletion()
        world.wallClock = UInt64(Int64(world.wallClock) + jump)
        world.pass(400_000)
        #expect(try Self.kept(world) == 1)
        // The server starts again. While none runs, no time is counted.
        let next = TestWorld(store: world.store)
        next.retention = world.retention
        next.wallClock = world.wallClock
        next.pass(61_000)
        next.wallClock = 2_000
        next.pass(1_000)
        #expect(try Self.kept(next) == 1)
        let ben = next.connect(2)
        next.settle()
        ben.say(.undelete(request: 3, name: "list", deletion: nil, newName: "list"))
        next.settle()
        #expect(ben.heard.last == .done(request: 3))
    }

    /// A client is told until when a list is kept, from the time that was seen to pass.
    @Test func theTimeLeftIsCountedFromNow() throws {
        let world = Self.withDeletion()
        world.pass(121_000)
        world.wallClock = 5_000_000
        let ben = world.connect(2)
        ben.say(.deletedLists(request: 9, before: nil))
        world.settle()
        guard case .deletedLists(9, let entries, _)? = ben.heard.last, let entry = entries.first else {
            Issue.record("no answer")
            return
        }
        #expect(entry.time == 1_000 && (5_420_000...5_540_000).contains(entry.keptUntil), "\(entry.keptUntil)")
    }

    /// After a failed removal, the next one follows, and the time until then is counted once.
    @Test func aFailedRemovalIsTriedAgain() throws {
        let world = Self.withDeletion()
        world.pass(300_000)
        for _ in 0..<2 {
            world.failure = .failed("disk")
            world.pass(60_000)
            world.failure = nil
            world.pass(61_000)
        }
        #expect(try Self.kept(world) == 1)
        world.pass(300_000)
        #expect(try Self.kept(world) == 0)
    }

    /// A commit has the server's present date, also after the clock was ahead for a while. A clock that is set back a
    /// little makes no commit older than the one before it.
    @Test func aCorrectedClockCountsAtOnce() throws {
        func dates() -> [UInt64] {
            ada.heard.compactMap { if case .commit(_, let commit) = $0 { commit.time } else { nil } }
        }
        for (sequence, time) in zip(2..., [UInt64(40_000_000), 39_990_000, 1_500_000, 40_000_000, 2_000]) {
            world.wallClock = time
            ada.submit(SequenceNumber(sequence), base: sequence - 1, "x")
            world.settle()
        }
        #expect(dates() == [1_000, 40_000_000, 40_000_000, 1_500_000, 40_000_000, 2_000])
    }

    @Test func withoutRetentionADeletedListIsRemovedAtOnce() throws {
        let world = TestWorld()
        world.retention = Retention(deleted: 0)
        let ada = world.connect(1)
        world.settle()
        ada.say(.create(request: 1, name: "list", rules: Rules()))
        ada.say(.delete(request: 2, name: "list"))
        world.settle()
        #expect(ada.heard.contains(.done(request: 2)))
        #expect(try world.store.listCount(of: nil) == 0 && world.store.deletedLists(before: .max, limit: 9).isEmpty)
        #expect(world.removed == ["list"])
        ada.say(.undelete(request: 3, name: "list", deletion: nil, newName: "list"))
        world.settle()
        #expect(ada.errors == [.noSuchList])
    }

    /// Others' writes happen between the steps of a removal.
    @Test func aRemovalLetsOthersWrite() throws {
        let world = Self.withDeletion()
        let first = world.connect(2)
        world.settle()
        first.say(.create(request: 1, name: "list", rules: Rules()))
        world.settle()
        first.subscribe("list", request: 2)
        for sequence in UInt64(1)...40 {
            world.settle()
            first.submit(SequenceNumber(sequence), base: Int(sequence) - 1, "x")
        }
        world.settle()
        first.say(.delete(request: 3, name: "list"))
        world.settle()
        world.pass(700_000)
        let ada = world.connect(2)
        world.settle()
        ada.say(.create(request: 1, name: "other", rules: Rules()))
        world.settle()
        ada.subscribe("other", request: 2)
        world.settle()
        world.now = 721_000
        world.timeout()
        world.turn()
        let list = try #require(ada.lastStart).list
        ada.submit(1, base: 0, "in between", list: list)
        func isWritten() -> Bool { ada.heard.contains { if case .commit(list, _) = $0 { true } else { false } } }
        while world.waiting > 0, !isWritten() { world.answer() }
        let other = try #require(world.machine.listReports().first { $0.name == "other" })
        #expect(other.revision == 1 && world.waiting > 0, "the removal continues after the write")
        world.settle()
        #expect(try world.store.listCount(of: nil) == 1)
    }

    // MARK: Limits

    /// Deleted lists count towards the limit, and the oldest make room: deleting and recreating lists fills nothing,
    /// and locks nobody out.
    @Test func deletedListsMakeRoom() throws {
        var limits = Limits()
        limits.userLists = 2
        let world = TestWorld(limits: limits)
        world.tokens = ["t": Access(name: "ada", everywhere: .admin)]
        let ada = world.connect(1, token: "t")
        world.settle()
        for turn in 1...5 {
            ada.say(.create(request: 1, name: "list\(turn)", rules: Rules()))
            ada.say(.delete(request: 2, name: "list\(turn)"))
            world.settle()
            #expect(try world.store.listCount(of: nil) == min(turn, 2))
        }
        #expect(ada.errors.isEmpty)
        #expect(try world.store.deletedLists(before: .max, limit: 9).map(\.list.name) == ["list5", "list4"])
        #expect(world.removed == ["list1", "list2", "list3"])
        for name in ["a", "a"] { ada.say(.create(request: 3, name: name, rules: Rules())) }
        world.settle()
        #expect(ada.errors == [.listExists] && world.removed.last == "list4", "what is refused removes nothing")
        for name in ["b", "c"] { ada.say(.create(request: 3, name: name, rules: Rules())) }
        world.settle()
        #expect(ada.errors == [.listExists, .tooManyLists], "existing lists are not removed")
        #expect(world.removed.suffix(2) == ["list4", "list5"])
    }

    /// If the store is full, the lists that were deleted first are removed, one after another, until there is room.
    @Test func aFullStoreRemovesTheOldestDeletions() throws {
        var limits = Limits()
        limits.storeBytes = 400
        let world = TestWorld(limits: limits)
        let ada = world.connect(1)
        world.settle()
        for name in ["a", "b", "c"] {
            ada.say(.create(request: 1, name: name, rules: Rules()))
            world.settle()
            ada.subscribe(name, request: 2)
            world.settle()
            let list = try #require(ada.lastStart).list
            ada.submit(1, base: 0, String(repeating: "x", count: 120), list: list)
            world.settle()
            ada.say(.delete(request: 3, name: name))
            world.settle()
        }
        var counts: [Int] = []
        for _ in 0..<12 {
            world.now += 1_000
            world.timeout()
            world.settle()
            counts.append(try world.store.deletedLists(before: .max, limit: 9).count)
        }
        #expect(counts.last == 2, "\(counts): removing one made enough room")
        #expect(try world.store.deletedLists(before: .max, limit: 9).map(\.list.name) == ["c", "b"])
        #expect(try world.store.size() < 400 && world.removed == ["a"])
        // It is full a second time.
        ada.say(.create(request: 1, name: "d", rules: Rules()))
        world.settle()
        ada.subscribe("d", request: 2)
        world.settle()
        ada.submit(1, base: 0, String(repeating: "x", count: 120), list: try #require(ada.lastStart).list)
        world.settle()
        world.pass(12_000)
        #expect(try world.store.deletedLists(before: .max, limit: 9).map(\.list.name) == ["c"])
        #expect(try world.store.size() < 400)
    }

    // MARK: Rights

    /// The admin of a list may restore it, but no list that had its name before or has it now.
    @Test func onlyAdminsOfAListMayRestoreIt() throws {
        let world = TestWorld()
        let names = ["root", "ben", "eve"]
        world.tokens = [
            "root": Access(name: "root", everywhere: .admin), "ben": Access(name: "ben", everywhere: .none),
            "eve": Access(name: "eve", everywhere: .write),
        ]
        let people = names.enumerated().map { world.connect(UInt64($0) + 1, token: $1) }
        let (root, ben, eve) = (people[0], people[1], people[2])
        world.settle()
        func ask(_ stream: TestStream, _ message: UpMessage) {
            stream.say(message)
            world.settle()
        }
        ask(root, .create(request: 1, name: "list", rules: Rules()))
        ask(root, .delete(request: 2, name: "list"))
        let rootsOwn = try #require(try world.store.deletedLists(before: .max, limit: 9).last)
        ask(root, .create(request: 1, name: "list", rules: Rules()))
        world.tokens?["ben"]?.lists["list"] = .admin
        world.tokens?["eve"]?.lists["list"] = .read
        world.accessChanged()
        ask(ben, .delete(request: 2, name: "list"))
        #expect(deletedNames(world, root).count == 2 && deletedNames(world, eve).isEmpty)
        #expect(deletedNames(world, ben) == ["ben"])
        // The new list of that name belongs only to its maker.
        ask(root, .create(request: 1, name: "list", rules: Rules()))
        ask(ben, .subscribe(.init(request: 3, name: "list", logID: 0, revision: 0)))
        ask(ben, .undelete(request: 3, name: "list", deletion: rootsOwn.deletion, newName: "list"))
        ask(eve, .undelete(request: 3, name: "list", deletion: nil, newName: "mine"))
        #expect(ben.errors == [.noSuchList, .noSuchList] && eve.errors == [.noSuchList])
        // A new name requires the same role as a new list.
        ask(ben, .undelete(request: 3, name: "list", deletion: nil, newName: "other"))
        #expect(ben.errors.last == .notAllowed)
        ask(root, .rename(request: 1, name: "list", newName: "third"))
        ask(ben, .undelete(request: 4, name: "list", deletion: nil, newName: "list"))
        #expect(ben.heard.contains(.done(request: 4)))
        ask(ben, .subscribe(.init(request: 5, name: "list", logID: 0, revision: 0)))
        #expect(ben.lastStart?.request == 5)
    }

    private func deletedNames(_ world: TestWorld, _ stream: TestStream) -> [String] {
        stream.say(.deletedLists(request: 9, before: nil))
        world.settle()
        for case .deletedLists(9, let entries, _) in stream.heard.reversed() { return entries.map(\.person) }
        return ["no answer"]
    }
}
