import HandCore
import HandSync
import HandWire
import Testing

/// Answers of the store, and results of computations, that come when what they were for has gone.
@Suite struct LateAnswersTests {
    private let world: TestWorld
    private let ada: TestStream
    private let ben: TestStream

    /// Ada and Ben follow a list of ten items.
    init() {
        var limits = Limits()
        limits.inlineWork = 90
        world = TestWorld(limits: limits)
        (ada, ben) = (world.connect(1), world.connect(2))
        world.settle()
        ada.say(.create(request: 1, name: "list", rules: Rules()))
        world.settle()
        for stream in [ada, ben] { stream.subscribe("list", request: 2) }
        world.settle()
        for sequence in UInt64(1)...10 {
            ada.submit(SequenceNumber(sequence), base: Int(sequence) - 1, "item \(sequence)")
            world.settle()
        }
    }

    /// The list is deleted, brought back and loaded anew, while something else waits to be answered.
    private func loadAnew() {
        ben.say(.delete(request: 3, name: "list"))
        world.answer(1)
        ben.say(.undelete(request: 4, name: "list", deletion: nil, newName: "list"))
        world.answer(1)
        ben.subscribe("list", request: 5)
        world.answer(1)
        #expect(ben.lastStart?.request == 5 && world.waiting == 1)
    }

    @Test func aLargeEditOfAListThatIsLoadedAnew() throws {
        let edit = Delta.Component.edit(Change(text: TextChange(replacing: "i", at: 0, with: "x")))
        let delta = try Delta([Delta.Component](repeating: edit, count: 10))
        ada.say(.submit(Submission(list: 1, base: 10, sequence: 11, delta: delta)))
        loadAnew()
        #expect(ada.errors == [.listDeleted])
        world.settle()
        let durable = try #require(world.machine.durable("list"))
        #expect(durable.revision == 10 && durable.hand.allSatisfy { $0.content.text.hasPrefix("item ") })
        // The list is not held: others edit it.
        ben.submit(1, base: 10, "another")
        world.settle()
        #expect(world.machine.durable("list")?.revision == 11 && world.machine.brokenInvariant() == nil)
    }

    /// An edit that waits for a large one waits no longer when the list is gone, and its client is told.
    @Test func anEditThatWaitsForOne() throws {
        let edit = Delta.Component.edit(Change(text: TextChange(replacing: "i", at: 0, with: "x")))
        let delta = try Delta([Delta.Component](repeating: edit, count: 10))
        let cem = world.connect(3)
        world.settle()
        cem.subscribe("list", request: 1)
        world.settle()
        ada.say(.submit(Submission(list: 1, base: 10, sequence: 11, delta: delta)))
        cem.submit(1, base: 10, "mine")
        cem.say(.ping(7))
        ben.say(.delete(request: 3, name: "list"))
        world.answer(1)
        #expect(cem.errors == [.listDeleted, .notSubscribed] && world.waiting == 1)
        world.settle()
        #expect(ada.errors == [.listDeleted] && world.machine.brokenInvariant() == nil)
    }

    /// What the store says goes nowhere, and counts as nothing that the server closed. Its work is counted.
    @Test(arguments: [nil, StoreError.unreachable("test", why: "test"), .damaged("test")])
    func aConnectionThatHasGone(failure: StoreError?) {
        let requests: [UpMessage] = [
            .history(request: 9, name: "list", from: 0, limit: 10),
            .lists(request: 9, after: ""),
            .fetch(request: 9, name: "other", revision: nil),
            .subscribe(UpMessage.Subscribe(request: 9, name: "other", logID: 0, revision: 0)),
            .create(request: 9, name: "third", rules: Rules()),
            .rename(request: 9, name: "list", newName: "other"),
        ]
        for (index, request) in requests.enumerated() {
            let stream = world.connect(UInt64(10 + index))
            world.settle()
            stream.say(request)
            #expect(world.waiting == 1)
            stream.end()
            let (bytes, work) = (stream.bytes, world.machine.workDone)
            world.failure = failure
            world.settle()
            world.failure = nil
            #expect(stream.bytes == bytes && world.machine.figures.closings.isEmpty)
            if index < 2, failure == nil { #expect(world.machine.workDone > work) }
            #expect(world.machine.brokenInvariant() == nil)
        }
        #expect((world.machine.durable("other") != nil) == (failure == nil))
    }

    /// A client that hangs up before its hello is answered is nobody.
    @Test func aHelloOfAConnectionThatHasGone() {
        let stream = world.connect(9)
        stream.end()
        world.settle()
        #expect(stream.heard.isEmpty && world.letIn.count == 2 && world.machine.brokenInvariant() == nil)
    }
}
