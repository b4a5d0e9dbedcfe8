import HandCore
import HandSimulation
import HandSync
import HandTestSupport
import HandWire
import Testing

/// Two people edit one text: whatever each of them wrote stays, or its loss is reported; an undo removes only one's own
/// words.
@Suite struct SharedTextTests {
    private static func world(_ text: String) -> TestNetwork {
        TestNetwork([Item(id: ItemID(rawValue: 1), content: .note(text))], replicas: 2)
    }

    private static func text(_ world: TestNetwork, _ index: Int = 0) -> String {
        world.replicas[index].view[0].content.text
    }

    /// Makes both edits before either author knows of the other's. The first one's is committed first.
    private static func cross(_ world: inout TestNetwork, _ first: String, _ second: String) throws {
        try world.edit(0, world.replicas[0].view.rewording(0, first))
        try world.edit(1, world.replicas[1].view.rewording(0, second))
        world.notices = [[], []]
        try world.settle()
        #expect(text(world, 0) == text(world, 1))
    }

    private static func losses(_ notices: [Replica.Notice]) -> [TextChange.Loss] {
        notices.compactMap { if case .superseded(_, .words(let loss, in: .text), _) = $0 { loss } else { nil } }
    }

    /// The basic case for merging texts.
    @Test func bothMayAppend() throws {
        var world = Self.world("cheese")
        try Self.cross(&world, "cheese [one]", "cheese [two]")
        #expect(Self.text(world) == "cheese [one] [two]")
        #expect(Self.losses(world.notices[0]).isEmpty && Self.losses(world.notices[1]).isEmpty)
    }

    @Test(arguments: [
        ("12 eggs", "13 eggs", "22 eggs", "22 eggs", TextChange.Loss(at: 0, original: "12", lost: "13", present: "22")),
        // The other's text before the lost words is longer.
        (
            "12 eggs", "13 eggs", "at most 22 eggs", "at most 22 eggs",
            TextChange.Loss(at: 0, original: "12", lost: "13", present: "at most 22")
        ),
        (
            "é 12 eggs", "é 13 eggs", "買 é 22 eggs", "買 é 22 eggs",
            TextChange.Loss(at: 7, original: "12", lost: "13", present: "22")
        ),
        // Whoever removed words is told that they are back, but not what is next to them.
        ("a b c d", "a d", "a B c d", "a B c d", TextChange.Loss(at: 1, original: " b c", lost: "", present: " B c")),
    ]) func theEarlierAuthorIsNotifiedOfLosses(
        text: String, first: String, second: String, merged: String, loss: TextChange.Loss
    ) throws {
        var world = Self.world(text)
        try Self.cross(&world, first, second)
        #expect(Self.text(world) == merged)
        #expect(Self.losses(world.notices[0]) == [loss] && Self.losses(world.notices[1]).isEmpty)
        // The recovery of a loss restores exactly the lost words.
        let back = try loss.recovery.applied(to: merged)
        #expect(back == merged.replacing(loss.present, with: loss.lost))
    }

    @Test(arguments: [
        ("a b c", "a c", "a x b c", "a x c"), ("a b", "a b", "a b c", "a b c"), ("a b c", "a c", "a b c d", "a c d"),
    ]) func nobodyIsNotifiedWithoutALoss(text: String, first: String, second: String, merged: String) throws {
        var world = Self.world(text)
        try Self.cross(&world, first, second)
        #expect(Self.text(world) == merged)
        #expect(Self.losses(world.notices[0]).isEmpty && Self.losses(world.notices[1]).isEmpty)
    }

    /// Words are followed through others' changes of the text, and each loss is reported once.
    @Test func ownWordsAreFollowed() throws {
        var world = Self.world("a z")
        try world.edit(0, world.replicas[0].view.rewording(0, "a mine z"))
        try world.settle()
        let base = world.replicas[1].revision - 1
        for text in ["longer a mine z", "longer a mine z and more"] {
            try world.edit(1, world.replicas[1].view.rewording(0, text))
            try world.settle()
        }
        world.notices = [[], []]
        // A commit whose author had seen none of it.
        let hand = world.replicas[0].confirmed
        let delta = hand.rewording(0, "longer a yours z and more")
        let after = try hand.applying(delta)
        for told in [[TextChange.Loss(at: 9, original: "", lost: "mine", present: "yours")], []] {
            var replica = world.replicas[0]
            let commit = Commit(
                revision: replica.revision + 1, author: 2, sequence: 9, base: told.isEmpty ? replica.revision : base,
                time: 0, count: after.count, digest: after.digest, delta: delta)
            let found = Self.losses(try replica.receive(commit).notices)
            #expect(found.count == told.count)
            for (found, told) in zip(found, told) {
                #expect(found.lost.contains(told.lost) && found.present.contains(told.present))
            }
        }
    }

    /// One's own words stay one's own if somebody has written inside of them, or removed some of them.
    @Test(arguments: ["my hard cheese", "my cheese", "cheese", "my own hard soft cheese"])
    func ownWordsSurviveOthersChanges(text: String) throws {
        var world = Self.world("plain")
        try world.edit(0, world.replicas[0].view.rewording(0, "my soft cheese"))
        try world.settle()
        let base = world.replicas[0].revision - 1
        try world.edit(1, world.replicas[1].view.rewording(0, text))
        try world.settle()
        let hand = world.replicas[0].confirmed
        let delta = hand.rewording(0, "nothing")
        let after = try hand.applying(delta)
        let commit = Commit(
            revision: world.replicas[0].revision + 1, author: 2, sequence: 9, base: base, time: 0, count: after.count,
            digest: after.digest, delta: delta)
        let lost = Self.losses(try world.replicas[0].receive(commit).notices).map(\.lost).joined(separator: " ")
        for word in ["my", "soft", "cheese"] where text.contains(word) {
            #expect(lost.contains(word), "\(word) of '\(text)' is lost, but the reported loss is '\(lost)'")
        }
    }

    /// Any number of edits of one text can be distinguished.
    @Test func manyEditsOfOneTextAreDistinguished() throws {
        var world = Self.world("start")
        for number in 0..<40 {
            try world.edit(0, world.replicas[0].view.rewording(0, Self.text(world) + " own\(number)"))
            try world.settle()
        }
        let hand = world.replicas[0].confirmed
        let delta = hand.rewording(
            0, Self.text(world).replacing(" own3 ", with: " theirs ").replacing("own38", with: "x"))
        let after = try hand.applying(delta)
        let commit = Commit(
            revision: 41, author: 2, sequence: 1, base: 0, time: 0, count: 1, digest: after.digest, delta: delta)
        let lost = Self.losses(try world.replicas[0].receive(commit).notices).map(\.lost)
        #expect(lost.contains { $0.contains("own3") } && lost.contains { $0.contains("own38") })
        #expect(!lost.contains { $0.contains("own39") })
    }

    /// The number of remembered edits of one's own, and the bytes of their words, are limited: the last ones are kept.
    @Test(arguments: [false, true]) func rememberedOwnEditsAreBounded(isOfTexts: Bool) throws {
        let count = isOfTexts ? 6 : 2_500
        let items = (1...count).map { Item(id: ItemID(rawValue: UInt64($0)), content: .task("start", done: false)) }
        var world = TestNetwork(items, replicas: 1, rules: Rules(maximumSize: 1 << 20))
        let portion = isOfTexts ? 1 : 500
        for start in stride(from: 0, to: count, by: portion) {
            let text = "\(start)" + String(repeating: "x", count: 900_000)
            let ticks = (0..<portion).map { _ in Delta.Component.edit(Change(done: true)) }
            try world.edit(
                0, isOfTexts ? world.replicas[0].view.rewording(start, text) : try Delta([.keep(start)] + ticks))
            try world.settle()
        }
        let hand = world.replicas[0].confirmed
        for (part, isTold) in [(5, true), (4, true), (3, true), (2, false), (0, false)] {
            let index = isOfTexts ? part : min(part, 4) * portion
            let delta = isOfTexts ? hand.rewording(index, "theirs") : Delta.deleting(index..<index + 1)
            let after = try hand.applying(delta)
            let commit = Commit(
                revision: world.replicas[0].revision + 1, author: 9, sequence: 1, base: 0, time: 0,
                count: after.count, digest: after.digest, delta: delta)
            var replica = world.replicas[0]
            #expect(try replica.receive(commit).notices.isEmpty != isTold, "part \(part)")
        }
    }

    /// However long the text is, only its changes are sent.
    @Test func onlyChangesOfALongTextAreSent() throws {
        let text = String(repeating: "many words ", count: 100_000)
        let hand = Hand([Item(id: ItemID(rawValue: 1), content: .note(text))])
        let middle = text.index(text.startIndex, offsetBy: text.count / 2)
        let delta = hand.rewording(0, text[..<middle] + "one more " + text[middle...])
        let after = try hand.applying(delta)
        let commit = Commit(
            revision: 1, author: 1, sequence: 1, base: 0, time: 1_767_225_600_000, count: 1, digest: after.digest,
            delta: delta)
        #expect(text.utf8.count > 1 << 20 && DownMessage.commit(list: 1, commit).frame.count < 200)
    }

    /// A snapshot contains my new item in the form in which another program with my id has sent it: without what I have
    /// written in it since.
    @Test func wordsMissingInASnapshotAreReported() throws {
        var replica = Replica(confirmed: Hand(), revision: 1, logID: 7, sequence: 0)
        replica.author = 1
        let item = Item(id: ItemID(rawValue: 5), content: .note("milk"))
        try replica.edit(Delta.inserting([item]))
        try replica.edit(replica.view.rewording(0, "milk and words"))
        _ = replica.takeSubmission(list: 1)
        let notices = replica.reset(to: Hand([item]), revision: 2, logID: 7, lastSequence: 1).notices
        #expect(Self.losses(notices).contains { $0.lost.contains("and words") })
        var other = Replica(confirmed: Hand(), revision: 1, logID: 7, sequence: 0)
        try other.edit(Delta.inserting([item]))
        _ = other.takeSubmission(list: 1)
        #expect(Self.losses(other.reset(to: Hand([item]), revision: 2, logID: 7, lastSequence: 1).notices).isEmpty)
    }

    // MARK: Undo

    @Test func anUndoLeavesOthersWords() throws {
        var world = Self.world("cheese")
        try world.edit(0, world.replicas[0].view.rewording(0, "goat cheese"))
        try world.settle()
        try world.edit(1, world.replicas[1].view.rewording(0, "goat cheese, 200 g"))
        try world.settle()
        let undo = try #require(try world.replicas[0].take(.undo))
        #expect(undo.keptWords.isEmpty && Self.text(world) == "cheese, 200 g")
        world.submit(0)
        try world.settle()
        _ = try world.replicas[0].take(.redo)
        #expect(Self.text(world) == "goat cheese, 200 g")
    }

    @Test func wordsLeftByAnUndoAreReported() throws {
        var world = Self.world("butter, bread")
        try world.edit(0, world.replicas[0].view.rewording(0, "unsalted butter, dark bread"))
        try world.settle()
        try world.edit(1, world.replicas[1].view.rewording(0, "salted butter, dark bread"))
        try world.settle()
        let undo = try #require(try world.replicas[0].take(.undo))
        #expect(Self.text(world) == "salted butter, bread")
        guard case .words(let loss, in: .text)? = undo.keptWords.first?.loss else { return #expect(Bool(false)) }
        #expect(undo.keptWords.count == 1 && undo.keptWords[0].index == 0)
        #expect(loss.original.contains("unsalted") && loss.present.contains("salted"))
        #expect(!loss.present.contains("unsalted"))
    }

    /// Of many words that were inserted at once, only those that somebody has changed stay.
    @Test func anUndoLeavesOnlyChangedWords() throws {
        var world = Self.world("start")
        try world.edit(0, world.replicas[0].view.rewording(0, "start one two three four five"))
        try world.settle()
        try world.edit(1, world.replicas[1].view.rewording(0, "start one two 3 four five"))
        try world.settle()
        let undo = try #require(try world.replicas[0].take(.undo))
        #expect(Self.text(world).split(separator: " ") == ["start", "3"] && undo.keptWords.count == 1)
        _ = try world.replicas[0].take(.redo)
        #expect(Self.text(world) == "start one two 3 four five")
    }

    /// The words that stay and the words that are restored are separate words.
    @Test(arguments: [
        ("salt", "sea salt", "fine salt", "fine salt"), ("pepper", "my own", "your own", "your pepper"),
        ("pepper", "my, own", "your, own", "your, pepper"), ("pepper", "my own", "my pick", "pepper pick"),
        ("salt", "one two salt", "1 two salt", "1 salt"), ("salt", "one two, salt", "1 two, salt", "1 salt"),
        ("salt", "salt one two", "salt 1 two", "salt 1"), ("salt, oil", "one, two", "1, two", "1, oil"),
        ("salt", "one two three salt", "one 2 three salt", " 2 salt"),
        ("salt", "one, two, three salt", "1, two, 3 salt", "1 3 salt"),
    ])
    func wordsLeftByAnUndoAreSeparate(text: String, mine: String, theirs: String, left: String) throws {
        var world = Self.world(text)
        try world.edit(0, world.replicas[0].view.rewording(0, mine))
        try world.settle()
        try world.edit(1, world.replicas[1].view.rewording(0, theirs))
        try world.settle()
        _ = try world.replicas[0].take(.undo)
        #expect(Self.text(world) == left)
        _ = try world.replicas[0].take(.redo)
        #expect(Self.text(world) == theirs)
    }

    /// An undo that leaves words behind does not disturb earlier undo steps, and can be redone.
    @Test func earlierUndoStepsStillWork() throws {
        var world = Self.world("a b c")
        for text in ["A b c", "A B c", "A B C"] {
            try world.edit(0, world.replicas[0].view.rewording(0, text))
            try world.settle()
        }
        try world.edit(1, world.replicas[1].view.rewording(0, "first A theirs C"))
        try world.settle()
        var seen: [String] = []
        while try world.replicas[0].take(.undo) != nil { seen.append(Self.text(world)) }
        #expect(seen == ["first A theirs c", "first A theirs c", "first a theirs c"])
        seen = []
        while try world.replicas[0].take(.redo) != nil { seen.append(Self.text(world)) }
        #expect(seen == ["first A theirs c", "first A theirs c", "first A theirs C"])
    }

    /// At random: undo removes none of the others' words, and all of one's own that nobody has touched.
    @Test func randomUndosKeepOthersWords() throws {
        var random = SplitMix64(seed: testSeed(71))
        var complete = 0
        for round in 0..<200 {
            var world = Self.world("0 1 2 3 4 5 6 7")
            var steps = 0
            var owners: [String: Int] = [:]
            for number in 0..<12 {
                let index = random.next(below: 2)
                var words = Self.text(world, index).split(separator: " ").map(String.init)
                let place = random.next(below: words.count + 1)
                let word = "w\(number)"
                owners[word] = index
                if index == 0 { steps += 1 }
                if place < words.count, random.next(below: 2) == 0 {
                    words[place] = word
                } else {
                    words.insert(word, at: place)
                }
                try world.edit(index, world.replicas[index].view.rewording(0, words.joined(separator: " ")))
                if random.next(below: 3) > 0 { try world.settle() }
            }
            try world.settle()
            func words(of index: Int) -> Set<String> {
                Set(Self.text(world).split(separator: " ").map(String.init).filter { owners[$0] == index })
            }
            let theirs = words(of: 1)
            var told = ""
            while let undo = try world.replicas[0].take(.undo) {
                steps -= 1
                for case .words(let loss, _) in undo.keptWords.map(\.loss) { told += loss.original }
            }
            #expect(theirs.isSubset(of: words(of: 1)), "round \(round): \(Self.text(world))")
            // An edit that overrode another one can no longer be undone here, nor can those before it.
            if steps > 0 { continue }
            complete += 1
            // If somebody has written inside, one's own words stay, too.
            #expect(words(of: 0).allSatisfy { told.contains($0) }, "round \(round): \(Self.text(world))")
        }
        #expect(complete > 100)
    }
}
