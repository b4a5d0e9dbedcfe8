import HandCore
import HandSimulation
import HandSync
import HandTestSupport
import HandWire
import Testing

/// Excerpts of a list, from the list in memory, from the stored inverses of commits, and from the store.
@Suite struct ExcerptTests {
    /// A list with a history of `revisions`. The test keeps each of them.
    private struct Scene {
        let world: TestWorld
        let stream: TestStream
        var past = [Hand()]

        init(revisions: Int, seed: UInt64, limits: Limits = Limits()) throws {
            world = TestWorld(limits: limits)
            _ = try world.store.create("list", rules: Rules(), logID: 9, deckSeed: nil)
            stream = world.connect(1)
            world.settle()
            stream.subscribe("list", request: 1)
            world.settle()
            var chaos = Chaos(seed: seed)
            for revision in 0..<revisions {
                let delta = chaos.delta(on: past[revision], size: 3)
                stream.say(
                    .submit(Submission(list: 1, base: revision, sequence: SequenceNumber(revision + 1), delta: delta)))
                world.settle()
                past.append(try past[revision].applying(delta))
            }
        }

        func ask(
            _ selections: [Excerpt.Selection], at revision: Int? = nil, from start: Int = 0
        ) throws -> Excerpt {
            stream.say(.excerpt(.init(request: 5, name: "list", revision: revision, from: start, selections)))
            world.settle()
            guard case .excerpt(5, let excerpt) = stream.heard.last else {
                throw Problem(text: "\(String(describing: stream.heard.last))")
            }
            return excerpt
        }
    }

    private struct Problem: Error { let text: String }

    /// Returns the expected entries: the definition, item by item.
    private func entries(of hand: Hand, _ selections: [Excerpt.Selection], from start: Int) -> [Excerpt.Entry] {
        hand.enumerated().filter { offset, item in
            offset >= start
                && selections.contains { selection in
                    switch selection {
                    case .positions(let first, let number): offset >= first && offset < first + number
                    case .ids(let range): range.contains(item.id)
                    }
                }
        }.map { Excerpt.Entry(position: $0.offset, item: $0.element) }
    }

    @Test func everyRevisionAndManySelections() throws {
        var random = SplitMix64(seed: testSeed(131))
        // More commits than are kept in memory, so that some revisions come from the store.
        let scene = try Scene(revisions: 100, seed: random.next())
        for revision in 0...100 {
            let hand = scene.past[revision]
            for _ in 0..<4 {
                let selections: [Excerpt.Selection] = (0..<random.next(below: 4)).map { _ in
                    if random.next(below: 2) == 0 {
                        return .positions(start: random.next(below: 12), count: random.next(below: 6))
                    }
                    let ids = hand.isEmpty ? [ItemID(rawValue: 4)] : [hand[0].id, hand[hand.count / 2].id]
                    let other = ItemID(rawValue: random.next())
                    return random.next(below: 2) == 0
                        ? .ids(ids[0]...ids[0]) : .ids(min(ids.last!, other)...max(ids.last!, other))
                }
                let start = random.next(below: 3) == 0 ? random.next(below: 6) : 0
                let excerpt = try scene.ask(selections, at: revision, from: start)
                #expect(excerpt.revision == revision && excerpt.count == hand.count && excerpt.logID == 9)
                #expect(excerpt.entries == entries(of: hand, selections, from: start))
                #expect(!excerpt.isCut)
            }
        }
        let now = try scene.ask([.positions(start: 0, count: 1_000)])
        #expect(now.revision == 100 && now.entries.map(\.item) == Array(scene.past[100]))
    }

    /// An answer is limited; asking repeatedly after its end returns everything once.
    @Test(arguments: [false, true], [400, 1 << 20]) func aCutExcerptCanBeContinued(byID: Bool, answerBytes: Int) throws
    {
        var limits = Limits()
        limits.answerBytes = answerBytes
        let world = TestWorld(limits: limits)
        _ = try world.store.create("list", rules: Rules(), logID: 9, deckSeed: nil)
        let stream = world.connect(1)
        world.settle()
        stream.subscribe("list", request: 1)
        world.settle()
        let items = (1...2_500).map { Item(id: ItemID(rawValue: UInt64($0)), content: .note("item \($0)")) }
        stream.say(
            .submit(
                Submission(
                    list: 1, base: 0, sequence: 1, delta: Delta.inserting(items, at: 0, .before))))
        world.settle()
        let all: [Excerpt.Selection] =
            byID
            ? [.ids(ItemID(rawValue: 0)...ItemID(rawValue: .max)), .positions(start: 2_490, count: 10)]
            : [.positions(start: 10, count: 3_000), .positions(start: 0, count: 20)]
        var (found, start, answers): ([Excerpt.Entry], Int, Int) = ([], 0, 0)
        while answers < 5_000 {
            stream.say(.excerpt(.init(request: 5, name: "list", from: start, all)))
            world.settle()
            guard case .excerpt(_, let excerpt) = stream.heard.last else { break }
            found += excerpt.entries
            answers += 1
            guard excerpt.isCut, let last = excerpt.entries.last else { break }
            start = last.position + 1
        }
        #expect(found == entries(of: Hand(items), all, from: 0))
        #expect(answerBytes > 400 || answers > 100)
        #expect(!byID || answers > 2)
    }

    /// A client that knows the items that a delta touches can make it, describe it, and undo it, without the others.
    @Test func theTouchedItemsAreEnoughForADelta() throws {
        var chaos = Chaos(seed: testSeed(132))
        for count in 0..<60 {
            let list = Hand(chaos.items(count))
            let delta = chaos.delta(on: list, size: 4)
            let after = try list.applying(delta)
            let selections = delta.touched.map { Excerpt.Selection.positions(start: $0.lowerBound, count: $0.count) }
            let known = list.excerpt(selections, revision: 1)
            // Neighbors are asked for as one range.
            #expect(zip(delta.touched, delta.touched.dropFirst()).allSatisfy { $0.upperBound < $1.lowerBound })
            #expect(known.entries.count == delta.touched.reduce(0) { $0 + $1.count })
            var part = PartialList(known)
            #expect(part.count == count)
            // What is not known is never made up.
            for (position, item) in list.enumerated() {
                let isKnown = delta.touched.contains { $0.contains(position) }
                #expect(part.isKnown(position) == isKnown && (try? part.item(at: position)) == (isKnown ? item : nil))
                if isKnown { continue }
                let missing = #expect(throws: PartialList.Unknown.self) {
                    try part.hand(for: .deleting(position..<position + 1))
                }
                #expect(missing?.position == position)
            }
            let sparse = try part.hand(for: delta)
            #expect(delta.inverted(on: sparse) == delta.inverted(on: list))
            let made = try sparse.applying(delta)
            #expect(made.count == after.count)
            let origins = after.indices.map(delta.origin)
            for (index, origin) in origins.enumerated() {
                #expect(origin == list.firstIndex { $0.id == after[index].id })
                let isKnown = origin.map { origin in delta.touched.contains { $0.contains(origin) } } ?? true
                #expect(!isKnown || made[index] == after[index])
            }
            try part.follow(delta)
            #expect(part.revision == 2 && part.entries.allSatisfy { after[$0.position] == $0.item })
            #expect(delta.insertedItems.allSatisfy { part.positions(of: $0.id...$0.id).count == 1 })
        }
    }

    @Test func missingListsAndRevisionsAreErrors() throws {
        let scene = try Scene(revisions: 3, seed: 1)
        scene.stream.say(.excerpt(.init(request: 6, name: "nope", [])))
        scene.stream.say(.excerpt(.init(request: 7, name: "list", revision: 4, [])))
        scene.world.settle()
        #expect(scene.stream.errors == [.noSuchList, .noSuchRevision])
    }

    /// The memory for undoing commits is limited: beyond it, the store is asked, and gives the same answer.
    @Test func aLargeCommitIsUndoneFromTheStore() throws {
        var scene = try Scene(revisions: 0, seed: 1)
        let large = (1...2).map { id in
            Item(id: ItemID(rawValue: id), content: .note(String(repeating: "x", count: 12_000)))
        }
        let small = Item(id: ItemID(rawValue: 3), content: .note("small"))
        let operations: [Delta] = [
            .inserting(large + [small], at: 0, .before), .deleting(0..<2), .deleting(0..<1),
        ]
        for (base, operation) in operations.enumerated() {
            scene.stream.say(
                .submit(Submission(list: 1, base: base, sequence: SequenceNumber(base + 1), delta: operation)))
            scene.world.settle()
            scene.past.append(try scene.past[base].applying(operation))
        }
        for revision in 0...3 {
            let excerpt = try scene.ask([.positions(start: 0, count: 9)], at: revision)
            #expect(excerpt.entries.map(\.item) == Array(scene.past[revision]), "\(revision)")
        }
    }
}
