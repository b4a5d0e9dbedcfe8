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
        #expect(ben.lastStart?.start == .resumed(head: 1) && ben.lastStart?.logID == logID)
        ben.submit(1, base: 1, "bread")
        world.settle()
        #expect(revisions(ben) == [1, 2])
        #expect(world.service.brokenInvariant() == nil)
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
        for sequence in (last + 1)...4 { ada.submit(sequence, base: 2, "again \(sequence)") }
        world.settle()
        let head = try #require(world.service.listReports().first).revision
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

    @Test func anOldDeletionCannotBeRestored() {
        delete()
        world.wallClock += Retention.week - 1
        #expect(deleted(ada).count == 1)
        world.wallClock += 1
        #expect(deleted(ada).isEmpty)
        undelete()
        #expect(ada.errors.last == .noSuchList)
        // The list is removed without any request.
        world.now += 1_000
        world.service.timeout()
        world.settle()
        #expect(try! world.store.listCount(of: nil) == 0)
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
        ada.say(.undelete(request: 3, name: "list", deletion: nil, newName: "list"))
        world.settle()
        #expect(ada.errors == [.noSuchList])
    }

    /// Others' writes happen between the steps of a removal.
    @Test func aRemovalLetsOthersWrite() throws {
        for sequence in UInt64(2)...40 {
            ada.submit(sequence, base: Int(sequence) - 1, "x")
            world.settle()
        }
        ada.say(.create(request: 1, name: "other", rules: Rules()))
        world.settle()
        ada.subscribe("other", request: 2)
        delete()
        world.wallClock += Retention.week
        world.now += 1_000
        world.service.timeout()
        world.turn()
        let list = try #require(ada.lastStart).list
        ada.submit(1, base: 0, "in between", list: list)
        func isWritten() -> Bool { ada.heard.contains { if case .commit(list, _) = $0 { true } else { false } } }
        while world.waiting > 0, !isWritten() { world.answer() }
        let other = try #require(world.service.listReports().first { $0.name == "other" })
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
        for name in ["a", "b", "c"] { ada.say(.create(request: 3, name: name, rules: Rules())) }
        world.settle()
        #expect(ada.errors == [.tooManyLists], "existing lists are not removed")
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
            world.service.timeout()
            world.settle()
            counts.append(try world.store.deletedLists(before: .max, limit: 9).count)
        }
        #expect(counts.last == 2, "\(counts): removing one made enough room")
        #expect(try world.store.deletedLists(before: .max, limit: 9).map(\.list.name) == ["c", "b"])
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
        world.service.accessChanged()
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
        #expect(ben.heard.last == .done(request: 4))
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
