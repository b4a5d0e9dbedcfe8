import HandCore
import HandSync
import HandWire
import Testing

/// A store that must not grow any more.
@Suite struct FullStoreTests {
    /// A server whose store is full accepts no edits and creates no lists until something is deleted.
    @Test func aFullStoreRefusesEditsAndLists() {
        let world = TestWorld.ofTwoUsers { $0.storeBytes = 500 }
        let ada = world.connect(1, token: "ada")
        world.settle()
        for name in ["list", "other"] { ada.say(.create(request: 1, name: name, rules: Rules())) }
        world.settle()
        ada.subscribe("list", request: 2)
        world.settle()
        ada.submit(1, base: 0, String(repeating: "x", count: 600))
        world.settle()
        world.pass(1_000)
        #expect(world.machine.load.storeBytes > 500)
        ada.submit(2, base: 1, "y")
        ada.say(.create(request: 3, name: "third", rules: Rules()))
        world.settle()
        let rejections = ada.heard.compactMap { if case .rejected(_, _, let reason) = $0 { reason } else { nil } }
        #expect(rejections == [.storeFull(limit: 500)] && ada.errors == [.tooManyLists])
        ada.say(.delete(request: 4, name: "list"))
        world.settle()
        world.pass(1_000)
        ada.subscribe("other", request: 5)
        world.settle()
        ada.submit(1, base: 0, "y", list: 2)
        world.settle()
        #expect(ada.heard.contains { if case .commit(2, _) = $0 { true } else { false } })
    }

    /// A size that could not be measured is measured again, though nothing is written to a full store.
    @Test func aFailedMeasurementIsRepeated() {
        let world = TestWorld.ofTwoUsers { $0.storeBytes = 500 }
        let ada = world.ownerOfList()
        ada.submit(1, base: 0, String(repeating: "x", count: 600))
        world.settle()
        world.pass(1_000)
        #expect(world.machine.load.storeBytes > 500)
        (world.failure, world.failingKind) = (.failed("test"), "measure")
        ada.say(.delete(request: 4, name: "list"))
        world.settle()
        world.pass(2_000)
        let asked = world.kinds["measure"] ?? 0
        world.failure = nil
        world.pass(2_000)
        #expect((world.kinds["measure"] ?? 0) > asked)
    }

    /// A full store forgets old history even without new commits, and then edits are accepted again.
    @Test func aFullStoreForgetsOldHistory() {
        let world = TestWorld.ofTwoUsers { $0.storeBytes = 5_000 }
        world.retention = Retention(commits: 2, age: nil)
        let ada = world.ownerOfList()
        for sequence in 1...60 {
            ada.submit(SequenceNumber(sequence), base: sequence - 1, String(repeating: "x", count: 100))
            world.pass(200)
            world.settle()
        }
        world.pass(10_000)
        #expect(world.machine.load.storeBytes < 2_000)
    }

    /// A list that is removed because it was deleted long ago no longer counts, though nothing else is written.
    @Test func aRemovedListFreesItsSpace() {
        let world = TestWorld.ofTwoUsers { $0.storeBytes = 5_000 }
        world.retention.deleted = 1_000
        let ada = world.ownerOfList()
        ada.submit(1, base: 0, String(repeating: "x", count: 3_000))
        world.pass(20_000)
        ada.say(.delete(request: 4, name: "list"))
        world.pass(20_000)
        #expect(world.machine.load.storeBytes > 3_000, "it can still be restored")
        world.pass(240_000)
        #expect(world.machine.load.storeBytes < 1_000)
    }

    /// Committed submissions are acknowledged even if the store is full.
    @Test func aFullStoreAcknowledgesItsCommits() {
        let world = TestWorld.ofTwoUsers { $0.storeBytes = 100 }
        let ada = world.ownerOfList()
        ada.submit(1, base: 0, String(repeating: "x", count: 200))
        world.settle()
        world.pass(1_000)
        ada.submit(1, base: 0, "again")
        ada.submit(2, base: 1, "more")
        world.settle()
        #expect(ada.heard.contains { if case .acknowledged(1, 1, 1) = $0 { true } else { false } })
        #expect(ada.heard.contains { if case .rejected(1, 2, .storeFull(limit: 100)) = $0 { true } else { false } })
    }

    /// What is written while the store is being measured counts at the next measurement.
    @Test func whatIsWrittenDuringAMeasurementIsMeasured() {
        let world = TestWorld.ofTwoUsers { $0.storeBytes = 100_000 }
        let ada = world.ownerOfList()
        world.pass(5_000)
        ada.submit(1, base: 0, "x")
        world.settle()
        world.now = world.machine.deadline
        world.timeout()
        world.turn()
        #expect(world.waiting == 1)
        let measured = world.look(0)
        ada.submit(2, base: 1, String(repeating: "x", count: 3_000))
        world.settle()
        measured()
        let before = world.machine.load.storeBytes
        world.pass(3_000)
        #expect(world.machine.load.storeBytes > before + 2_000)
    }
}
