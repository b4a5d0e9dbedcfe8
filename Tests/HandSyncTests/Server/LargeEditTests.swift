import HandCore
import HandSync
import HandWire
import Testing

/// Slow work is done off the loop, where only editors of the same list wait for it.
@Suite struct LargeEditTests {
    /// Ada, Ben and Cem, who all follow a list of ten items; and another list, which is Cem's own.
    private struct Scene {
        let world: TestWorld
        let ada: TestStream
        let ben: TestStream
        let cem: TestStream

        init(inlineWork: Int = 90) {
            var limits = Limits()
            limits.inlineWork = inlineWork
            world = TestWorld(limits: limits)
            world.tokens = ["ada": .everything, "ben": .everything, "cem": .everything]
            (ada, ben, cem) = (
                world.connect(1, token: "ada"), world.connect(2, token: "ben"), world.connect(3, token: "cem")
            )
            world.settle()
            ada.say(.create(request: 1, name: "list", rules: Rules()))
            world.settle()
            ada.say(.create(request: 2, name: "other", rules: Rules()))
            world.settle()
            for stream in [ada, ben, cem] {
                stream.subscribe("list", request: 3)
                world.settle()
            }
            cem.subscribe("other", request: 4)
            world.settle()
            for sequence in UInt64(1)...10 {
                ada.submit(SequenceNumber(sequence), base: Int(sequence) - 1, "item \(sequence)")
                world.settle()
            }
        }

        /// Returns edits of that many items: their "i" becomes an "x".
        static func rewordings(_ count: Int, of old: String = "i", to text: String = "x") -> [Delta.Component] {
            [Delta.Component](
                repeating: .edit(Change(text: TextChange(replacing: old, at: 0, with: text))), count: count)
        }

        /// Ada edits all ten items at once.
        func editAll(
            _ text: String = "x", sequence: SequenceNumber = 11, base: Int = 10, exact: Bool = false,
            at old: String = "i"
        ) {
            guard let delta = try? Delta(Self.rewordings(10, of: old, to: text)) else { return }
            ada.say(.submit(Submission(list: 1, base: base, sequence: sequence, isExact: exact, delta: delta)))
        }

        /// Applies the edit and frees what it has replaced. The edit is not written yet.
        func make() {
            world.answer()
            world.answer()
            #expect(world.waiting == 1)
        }

        var texts: [String] { world.machine.durable("list")?.hand.map(\.content.text) ?? [] }
        var revision: Int { world.machine.durable("list")?.revision ?? -1 }

        func check() { #expect(world.machine.brokenInvariant() == nil) }
    }

    private static func commits(_ stream: TestStream, list: ListNumber = 1) -> [Commit] {
        stream.heard.compactMap { if case .commit(list, let commit) = $0 { commit } else { nil } }
    }

    @Test func aLargeEditIsMadeOffTheLoop() {
        let scene = Scene()
        let before = scene.world.computations
        scene.editAll()
        #expect(scene.world.computations == before + 1)
        #expect(scene.revision == 10 && !scene.texts.contains { $0.hasPrefix("x") })
        // Lists that others edit do not wait, whatever else takes long.
        scene.cem.submit(1, base: 0, "mine", list: 2)
        #expect(scene.world.waiting == 2)
        scene.world.answer(1)
        #expect(Self.commits(scene.cem, list: 2).map(\.revision) == [1])
        #expect(scene.revision == 10)
        scene.world.settle()
        #expect(scene.texts.count { $0.hasPrefix("xtem ") } == 10)
        for stream in [scene.ada, scene.ben, scene.cem] {
            #expect(Self.commits(stream).last.map { [$0.revision, Int($0.sequence.rawValue)] } == [11, 11])
        }
        scene.check()
    }

    /// A small one is made at once, and so is a large one if there is no such limit.
    @Test func aSmallEditIsMadeOnTheLoop() {
        let scene = Scene(inlineWork: 20_000)
        let before = scene.world.computations
        scene.editAll()
        #expect(scene.world.computations == before && scene.world.waiting == 1)
        scene.world.settle()
        #expect(scene.texts.count { $0.hasPrefix("xtem ") } == 10)
    }

    /// Ids are looked up in the whole list. In a long list this happens off the loop, and nobody waits except the
    /// client that asked.
    @Test(arguments: [(160, 0), (180, 1)]) func idsOfALongListAreLookedUpOffTheLoop(more: Int, computations: Int) {
        let scene = Scene()
        let items = (0..<more).map { Item(id: ItemID(rawValue: UInt64($0)), content: .note("")) }
        let delta = Delta.inserting(items, at: 0, .after)
        scene.cem.say(.submit(Submission(list: 1, base: 10, sequence: 1, delta: delta)))
        scene.world.settle()
        let before = scene.world.computations
        scene.ben.say(.excerpt(.init(request: 8, name: "list", [.ids(ItemID(rawValue: 0)...ItemID(rawValue: 9))])))
        scene.ben.say(.fetch(request: 9, name: "list", revision: nil))
        #expect(scene.world.computations == before + computations)
        if computations > 0 {
            scene.ada.say(.ping(1))
            #expect(scene.ada.heard.last == .pong(1), "Ada must not wait")
            if case .excerpt? = scene.ben.heard.last { Issue.record("Ben must wait") }
        }
        scene.world.settle()
        let answers = scene.ben.heard.compactMap { message in
            switch message {
            case .excerpt(8, let excerpt): excerpt.entries.count
            case .state(9, _, let count, _, _): count
            default: nil as Int?
            }
        }
        #expect(answers == [10, more + 10])
        scene.check()
    }

    /// The cost of carrying an edit over the commits since its base counts, too.
    @Test func anOldEditIsMadeOffTheLoop() throws {
        for (count, computations) in [(7, 1), (6, 0)] {
            let scene = Scene()
            let before = scene.world.computations
            let delta = try Delta(Scene.rewordings(count))
            scene.cem.say(.submit(Submission(list: 1, base: 7, sequence: 1, delta: delta)))
            #expect(scene.world.computations == before + computations)
            scene.world.settle()
            #expect(scene.texts.count { $0.hasPrefix("x") } == count)
        }
    }

    /// Other edits of the list wait, with all later messages; then they are made after the large one, in order.
    @Test func otherEditsOfTheListWait() {
        let scene = Scene()
        scene.editAll()
        scene.ben.submit(1, base: 10, "first of Ben")
        scene.ben.submit(2, base: 10, "second of Ben")
        scene.ben.say(.fetch(request: 9, name: "list", revision: nil))
        scene.cem.submit(1, base: 9, "first of Cem")
        #expect(scene.world.waiting == 1)
        scene.world.settle()
        #expect(Self.commits(scene.ben).map(\.revision).suffix(4) == [11, 12, 13, 14])
        #expect(Self.commits(scene.ben).suffix(4).map(\.sequence) == [11, 1, 2, 1])
        #expect(scene.ben.errors.isEmpty)
        #expect(scene.texts.prefix(4).sorted() == ["first of Ben", "first of Cem", "second of Ben", "xtem 10"])
        #expect(scene.ben.heard.contains { if case .state(9, _, _, _, _) = $0 { true } else { false } })
        scene.check()
    }

    /// The edit itself waits until earlier commits are written, and later edits wait for it.
    @Test func aLargeEditWaitsForARunningWrite() {
        let scene = Scene()
        scene.ben.submit(1, base: 10, "before")
        let before = scene.world.computations
        scene.editAll()
        scene.cem.submit(1, base: 9, "behind")
        #expect(scene.world.computations == before)
        scene.world.answer()
        #expect(scene.world.computations == before + 1 && scene.revision == 11)
        scene.world.settle()
        #expect(Self.commits(scene.cem).suffix(3).map(\.sequence) == [1, 11, 1])
        scene.check()
    }

    /// If the earlier commits could not be written, it is made on the list without them.
    @Test func aFailedEarlierWriteIsNotTheBase() {
        let scene = Scene()
        scene.ben.submit(1, base: 10, "lost")
        scene.editAll()
        scene.world.failure = .failed("full")
        scene.world.answer()
        scene.world.failure = nil
        scene.world.settle()
        #expect(scene.texts.count { $0.hasPrefix("xtem ") } == 10 && scene.revision == 11)
        scene.check()
    }

    /// If it cannot be written itself, the list is as before, and the edit can be made again.
    @Test func aFailedWriteUndoesALargeEdit() {
        let scene = Scene()
        let texts = scene.texts
        scene.editAll()
        scene.make()
        // A client that subscribes now gets the list without it.
        let late = scene.world.connect(9, token: "ben")
        scene.world.failure = .failed("full")
        scene.world.answer()
        scene.world.failure = nil
        scene.world.settle()
        late.subscribe("list", request: 3)
        scene.world.settle()
        #expect(scene.texts == texts && scene.revision == 10)
        #expect(scene.ada.heard.contains { if case .rejected(1, 11, .notStored) = $0 { true } else { false } })
        scene.editAll()
        scene.world.settle()
        #expect(scene.texts.count { $0.hasPrefix("xtem ") } == 10)
        scene.check()
    }

    /// The ids of the items that it has deleted are taken again, and those of its new items are free.
    @Test func aFailedWriteGivesIDsBack() throws {
        let scene = Scene()
        let item = Item(id: ItemID(rawValue: 77), content: .note("new"))
        let edits = Scene.rewordings(9) + [.delete(1), .insert([item], .before)]
        scene.ada.say(.submit(Submission(list: 1, base: 10, sequence: 11, delta: try Delta(edits))))
        scene.make()
        scene.check()
        scene.world.failure = .failed("full")
        scene.world.answer()
        scene.world.failure = nil
        scene.world.settle()
        #expect(scene.revision == 10)
        scene.check()
    }

    /// While it is being written, everybody sees the list before it.
    @Test func aLargeEditIsInvisibleUntilItIsWritten() {
        let scene = Scene()
        scene.editAll()
        scene.make()
        #expect(scene.revision == 10)
        #expect(scene.texts == (1...10).reversed().map { "item \($0)" })
        scene.world.settle()
        #expect(scene.revision == 11)
    }

    @Test func aWrongLargeEditIsRejectedWithItsReason() {
        let scene = Scene()
        scene.editAll(base: 9, exact: true)
        scene.world.settle()
        #expect(scene.ada.heard.contains { $0 == .rejected(list: 1, sequence: 11, .revisionMoved(now: 10)) })
        scene.editAll()
        scene.world.settle()
        #expect(scene.revision == 11)
        scene.editAll("again", sequence: 11, base: 11)
        scene.world.settle()
        #expect(scene.ada.heard.contains { $0 == .acknowledged(list: 1, sequence: 11, revision: 11) })
        #expect(scene.revision == 11 && scene.texts[0] == "xtem 10")
        scene.check()
    }

    /// If its author has disconnected, the edit has no effect, and those who waited continue; likewise if the list is
    /// deleted.
    @Test func aLargeEditOfADisconnectedAuthorIsDropped() {
        let scene = Scene()
        scene.editAll()
        scene.ben.submit(1, base: 10, "Ben's")
        scene.ada.end()
        scene.world.settle()
        #expect(scene.revision == 11 && scene.texts[0] == "Ben's" && scene.texts[1] == "item 10")
        scene.check()
        // It is made once when the author is back.
        let again = scene.world.connect(1, token: "ada")
        scene.world.settle()
        again.subscribe("list", request: 1)
        scene.world.settle()
        #expect(again.lastStart?.lastSequence == 10)
    }

    @Test func deletingTheListDropsALargeEdit() {
        let scene = Scene()
        scene.editAll()
        scene.ben.submit(1, base: 10, "Ben's")
        scene.cem.say(.delete(request: 7, name: "list"))
        // The list is deleted before the edit is made.
        for index in stride(from: scene.world.waiting - 1, through: 1, by: -1) { scene.world.answer(index) }
        #expect(scene.ada.errors == [.listDeleted])
        scene.world.settle()
        #expect(scene.ben.errors == [.listDeleted, .notSubscribed])
        scene.check()
        scene.ada.say(.create(request: 8, name: "list", rules: Rules()))
        scene.world.settle()
        #expect(scene.ada.heard.last == .done(request: 8))
    }

    /// A large edit waits for a write, and Ben's edit for the large one, when the list is deleted: no commit is
    /// numbered that nobody will write.
    @Test func deletingTheListDropsAWaitingLargeEdit() {
        let scene = Scene()
        scene.ben.submit(1, base: 10, "being written")
        scene.cem.say(.delete(request: 7, name: "list"))
        scene.ben.submit(2, base: 10, "to be written")
        scene.editAll()
        scene.ben.submit(3, base: 10, "behind the large one")
        while scene.world.waiting > 0 {
            scene.check()
            scene.world.answer()
        }
        #expect(scene.revision == -1)
        #expect(scene.ada.errors == [.listDeleted])
        #expect(scene.ben.errors == [.listDeleted, .notSubscribed])
        scene.check()
    }

    /// A right that was revoked in the meantime is not used.
    @Test func aRevokedRightRejectsALargeEdit() {
        let scene = Scene()
        scene.editAll()
        scene.world.tokens?["ada"] = Access(everywhere: .read)
        scene.world.accessChanged()
        scene.world.settle()
        #expect(scene.revision == 10)
        #expect(scene.ada.heard.contains { $0 == .rejected(list: 1, sequence: 11, .notAllowed) })
        scene.check()
    }

    /// A list on which a large edit is being made is not unloaded, even if nobody follows it any more.
    @Test func aListWithALargeEditIsNotUnloaded() {
        let scene = Scene()
        scene.editAll()
        for stream in [scene.ada, scene.ben, scene.cem] { stream.end() }
        scene.world.now += 10_000_000
        scene.world.timeout()
        #expect(scene.revision == 10)
        scene.world.settle()
        scene.check()
    }

    /// Long messages are read off the loop, in order with later messages; errors in them are reported.
    @Test func longMessagesAreReadOffTheLoop() {
        let scene = Scene()
        let text = String(repeating: "x", count: 300)
        let before = scene.world.computations
        scene.ada.submit(11, base: 10, text)
        scene.ada.submit(12, base: 10, "behind")
        #expect(scene.world.computations == before + 1 && scene.world.waiting == 1)
        scene.world.settle()
        #expect(scene.texts.prefix(2).sorted() == ["behind", text] && scene.revision == 12)
        #expect(Self.commits(scene.ben).suffix(2).map(\.sequence) == [11, 12])
        var broken = UpMessage.submit(
            Submission(
                list: 1, base: 12, sequence: 1,
                delta: Delta.inserting([Item(id: ItemID(rawValue: 5), content: .note(text))], at: 0, .after))
        ).frame
        broken[broken.count - 20] = 0xFF
        scene.ben.send(broken)
        scene.ben.submit(2, base: 12, "never")
        scene.world.settle()
        #expect(scene.ben.errors == [.malformedMessage] && scene.revision == 12)
        scene.check()
    }

    /// It may take longer than a client may be silent: neither its author nor waiting clients count as silent.
    @Test func waitingForALargeEditIsNotSilence() {
        let scene = Scene()
        scene.editAll()
        scene.ben.submit(1, base: 10, "Ben's")
        for _ in 0..<100 {
            scene.world.now += 1_000
            scene.cem.say(.ping(1))
            scene.world.timeout()
        }
        scene.world.settle()
        #expect(scene.ada.errors.isEmpty && scene.ben.errors.isEmpty && scene.cem.errors.isEmpty)
        #expect(scene.revision == 12)
        // From then on they may be silent for as long as usual, and no longer.
        for _ in 0..<44 {
            scene.world.now += 1_000
            scene.world.timeout()
        }
        #expect(scene.ada.errors.isEmpty && scene.ben.errors.isEmpty)
        for _ in 0..<3 {
            scene.world.now += 1_000
            scene.world.timeout()
        }
        scene.world.settle()
        #expect(scene.ada.errors == [.idleTimeout] && scene.ben.errors == [.idleTimeout])
    }

    /// A client that hangs up while the edit is made is still charged for the work.
    @Test func hangingUpDoesNotAvoidTheCharge() {
        let scene = Scene()
        let before = scene.world.machine.workDone
        scene.editAll()
        scene.ada.end()
        scene.world.settle()
        #expect(scene.world.machine.workDone - before >= 100)
    }

    /// Each byte of the items that an edit changes is read, copied and hashed, however small the edit is.
    @Test(arguments: [(5_900, 0), (6_100, 1)]) func aSmallEditOfALongTextIsMadeOffTheLoop(
        length: Int, computations: Int
    ) {
        let scene = Scene(inlineWork: 300)
        scene.editAll(String(repeating: "y", count: length / 10 - 5))
        scene.world.settle()
        let (before, work) = (scene.world.computations, scene.world.machine.workDone)
        scene.editAll("x", sequence: 12, base: 11, at: "y")
        #expect(scene.world.computations == before + computations)
        #expect(scene.world.waiting == 1)
        // Also if its author has gone.
        scene.ada.end()
        scene.world.settle()
        #expect((400...520).contains(scene.world.machine.workDone - work), "\(scene.world.machine.workDone - work)")
        scene.check()
    }

    /// Before a commit is written, the list is what it was: a commit that takes long to undo is skipped by its list.
    @Test func commitsOfLongTextsAreNotUndone() {
        let scene = Scene(inlineWork: 20_000)
        scene.editAll(String(repeating: "y", count: 5_000))
        scene.world.settle()
        let texts = scene.texts
        scene.ada.submit(12, base: 11, "small")
        scene.editAll("x", sequence: 13, base: 11, at: "y")
        scene.ada.submit(14, base: 11, "later")
        #expect(scene.revision == 11 && scene.texts == texts)
        scene.check()
        scene.world.settle()
        #expect(scene.revision == 14 && scene.texts.count { $0.hasPrefix("xyyy") } == 10)
        for revision in 11...14 {
            scene.ben.say(.fetch(request: RequestNumber(rawValue: UInt64(revision)), name: "list", revision: revision))
        }
        scene.world.settle()
        let counts = scene.ben.heard.compactMap { if case .state(_, _, let count, _, _) = $0 { count } else { nil } }
        #expect(counts == [10, 11, 11, 12])
        scene.check()
    }

    /// The author is charged what the edit costs.
    @Test func aLargeEditIsChargedToItsAuthor() {
        for inlineWork in [90, 20_000] {
            let scene = Scene(inlineWork: inlineWork)
            let before = scene.world.machine.workDone
            scene.editAll()
            scene.world.settle()
            #expect((100...200).contains(scene.world.machine.workDone - before))
        }
    }
}
