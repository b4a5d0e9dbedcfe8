import HandCore
import HandSimulation
import HandSync
import HandWire
import Testing

/// Lists that are renamed, deleted and restored while people follow them. Here: renaming.
@Suite struct NamesTests {
    let world: TestWorld
    let ada: TestStream
    let ben: TestStream

    /// Creates a list with one item that both clients follow.
    init() {
        world = TestWorld()
        (ada, ben) = (world.connect(1), world.connect(2))
        world.settle()
        ada.say(.create(request: 1, name: "list", rules: Rules()))
        world.settle()
        for stream in [ada, ben] { stream.subscribe("list", request: 2) }
        world.settle()
        ada.submit(1, base: 0, "milk")
        world.settle()
    }

    func delete(_ name: String = "list", _ stream: TestStream? = nil) {
        (stream ?? ada).say(.delete(request: 3, name: name))
        world.settle()
    }

    func undelete(_ name: String = "list", _ deletion: UInt64? = nil, as new: String? = nil) {
        ada.say(.undelete(request: 4, name: name, deletion: deletion, newName: new ?? name))
        world.settle()
    }

    func revisions(_ stream: TestStream) -> [Int] {
        stream.heard.compactMap { if case .commit(_, let commit) = $0 { commit.revision } else { nil } }
    }

    @Test func followersOfARenamedListContinue() throws {
        ben.say(.rename(request: 5, name: "list", newName: "new"))
        world.settle()
        #expect(ben.heard.contains(.done(request: 5)) && ada.errors.isEmpty)
        ada.submit(2, base: 1, "bread")
        world.settle()
        #expect(revisions(ben) == [1, 2])
        ben.subscribe("list", request: 6, logID: try #require(ben.lastStart).logID, revision: 2)
        world.settle()
        #expect(ben.errors == [.noSuchList])
        ben.subscribe("new", request: 7, logID: try #require(ben.lastStart).logID, revision: 2)
        world.settle()
        #expect(ben.lastStart?.request == 7 && ben.lastStart?.list == 1 && ben.lastStart?.start.resumedHead == 2)
        #expect(world.machine.listReports().map(\.name) == ["new"])
        #expect(world.machine.brokenInvariant() == nil)
    }

    /// A client whose subscription waits for a write of its own edit is not subscribed to a list that has been renamed
    /// by then.
    @Test func aWaitingSubscriptionToARenamedListFails() {
        ben.say(.rename(request: 5, name: "list", newName: "new"))
        ada.submit(2, base: 1, "bread")
        ada.say(.unsubscribe(list: 1))
        ada.subscribe("list", request: 6)
        world.settle()
        #expect(ben.heard.contains(.done(request: 5)) && revisions(ben) == [1, 2])
        #expect(ada.errors == [.noSuchList] && ada.lastStart?.request == 2)
        #expect(world.machine.brokenInvariant() == nil)
    }

    /// A list's followers are notified of its new name. A client that was away finds the list by its log id only.
    @Test func aRenamedListIsFoundByItsLogID() throws {
        let logID = try #require(ben.lastStart).logID
        let away = world.connect(4)
        world.settle()
        ada.say(.rename(request: 5, name: "list", newName: "new"))
        world.settle()
        let told = DownMessage.renamed(list: 1, name: "new")
        #expect(ada.heard.filter { $0 == told }.count == 1 && ben.heard.contains(told))
        // Another history of the same list is the same list.
        for (count, asked) in [(1, logID), (2, logID ^ 1 << 40)] {
            let request = RequestNumber(5 + count)
            away.subscribe("", request: request, logID: asked, revision: 1)
            world.settle()
            #expect(away.lastStart?.request == request && away.lastStart?.logID == logID)
            #expect(away.heard.count { $0 == told } == count)
        }
        away.subscribe("", request: 8, logID: logID ^ 1, revision: 1)
        away.subscribe("", request: 9)
        world.settle()
        delete("new")
        away.subscribe("", request: 10, logID: logID, revision: 1)
        world.settle()
        #expect(away.errors == [.noSuchList, .noSuchList, .listDeleted, .noSuchList])
        undelete("new", as: "third")
        away.subscribe("", request: 11, logID: logID, revision: 1)
        world.settle()
        #expect(away.lastStart?.request == 11 && away.heard.contains(.renamed(list: 1, name: "third")))
    }

    /// Found by the simulator: a subscription to the new name while the list was being renamed loaded the list a second
    /// time.
    @Test func aListIsNotLoadedTwice() {
        let cara = world.connect(3)
        world.settle()
        ada.say(.rename(request: 5, name: "list", newName: "new"))
        world.turn()
        cara.subscribe("new", request: 6)
        world.settle()
        #expect(cara.lastStart?.request == 6)
        ada.submit(2, base: 1, "bread")
        world.settle()
        #expect(revisions(ben) == [1, 2] && revisions(cara) == [2])
        #expect(world.machine.brokenInvariant() == nil)
    }

    @Test func aLogIDFindsOnlyReadableLists() throws {
        let world = TestWorld()
        world.tokens = [
            "root": Access(name: "root", everywhere: .admin), "eve": Access(name: "eve", everywhere: .none),
        ]
        let (root, eve) = (world.connect(1, token: "root"), world.connect(2, token: "eve"))
        world.settle()
        root.say(.create(request: 1, name: "list", rules: Rules()))
        root.subscribe("list", request: 2)
        world.settle()
        eve.subscribe("", request: 3, logID: try #require(root.lastStart).logID)
        world.settle()
        #expect(eve.errors == [.noSuchList] && eve.lastStart == nil)
    }

    @Test func takenAndInvalidNamesAreRefused() {
        ada.say(.create(request: 1, name: "taken", rules: Rules()))
        world.settle()
        for (name, new, expected) in [
            ("list", "taken", ErrorCode.listExists), ("list", "list", .listExists), ("none", "new", .noSuchList),
            ("list", "a/b", .badListName), ("list", " a", .badListName), ("list", "", .badListName),
            ("list", "a\u{3164}", .badListName),
        ] {
            ada.say(.rename(request: 5, name: name, newName: new))
            world.settle()
            #expect(ada.errors.last == expected, "\(name) to \(new)")
        }
        ada.submit(2, base: 1, "bread")
        world.settle()
        #expect(revisions(ben) == [1, 2])
    }

    /// A client asks for the new name while the store renames: the list is in memory once, not twice.
    @Test func aListLoadedDuringItsRenamingIsInMemoryOnce() {
        for order in [0, 1] {
            let world = TestWorld()
            let (ada, ben) = (world.connect(1), world.connect(2))
            world.settle()
            ada.say(.create(request: 1, name: "list", rules: Rules()))
            world.settle()
            // One is being loaded as "list", the other is requested as "new".
            ada.subscribe("list", request: 2)
            world.turn()
            ben.say(.rename(request: 3, name: "list", newName: "new"))
            world.turn()
            let carl = world.connect(3)
            while world.waiting > 2 { world.answer(world.waiting - 1) }
            carl.subscribe("new", request: 4)
            while world.waiting > 0 { world.answer(order == 0 ? 0 : world.waiting - 1) }
            world.settle()
            #expect(world.machine.listReports().count <= 1)
            #expect(world.machine.brokenInvariant() == nil)
            if ada.errors.isEmpty, let start = ada.lastStart {
                carl.submit(1, base: 0, "x", list: start.list)
                world.settle()
                #expect(revisions(ada) == revisions(carl))
            }
        }
    }

    /// A role on a list stays with it, and does not apply to a list that gets its old name.
    @Test func rolesStayWithARenamedList() {
        let world = TestWorld()
        world.tokens = [
            "admin": Access(name: "root", everywhere: .admin),
            "ben": Access(name: "ben", everywhere: .none, lists: ["list": .read]),
        ]
        let (root, ben) = (world.connect(1, token: "admin"), world.connect(2, token: "ben"))
        world.settle()
        root.say(.create(request: 1, name: "list", rules: Rules()))
        world.settle()
        for stream in [root, ben] { stream.subscribe("list", request: 2) }
        world.settle()
        root.say(.rename(request: 3, name: "list", newName: "new"))
        root.say(.create(request: 4, name: "list", rules: Rules()))
        world.settle()
        root.submit(1, base: 0, "secret")
        world.settle()
        #expect(ben.errors.isEmpty && revisions(ben) == [1])
        ben.subscribe("list", request: 5)
        world.settle()
        #expect(ben.errors == [.noSuchList])
        ben.subscribe("new", request: 6)
        world.settle()
        #expect(ben.lastStart?.request == 6)
    }
}
