import HandCore
import HandSimulation
import HandTestSupport
import Testing

@Suite struct SupersededTests {
    private func superseded(_ a: Delta, _ b: Delta) -> [Superseded] {
        Delta.superseded(earlier: a, later: b)
    }

    @Test func deletingBeatsMovingAndEditing() {
        let edit = Delta.editing(at: 0, Change(letter: "x", done: true))
        #expect(
            superseded(.deleting(0..<1), edit) == [Superseded(index: 0, loss: .edit([.text, .done]), loser: .later)])
        #expect(
            superseded(edit, .deleting(0..<1)) == [Superseded(index: 0, loss: .edit([.text, .done]), loser: .earlier)])
        let move = Delta.moving(0..<1, to: 3, .after)
        #expect(superseded(.deleting(0..<2), move) == [Superseded(index: 0, loss: .move, loser: .later)])
        #expect(superseded(.deleting(0..<1), .deleting(0..<1)).isEmpty)
    }

    @Test func theLaterMoveAndTheLaterFieldWin() {
        let first = Delta.moving(1..<3, to: 0, .after)
        let second = Delta.moving(2..<3, to: 5, .before)
        #expect(superseded(first, second) == [Superseded(index: 2, loss: .move, loser: .earlier)])
        let both = superseded(.editing(at: 4, Change(letter: "a", done: true)), .editing(at: 4, Change(letter: "b")))
        let words = TextChange.Loss(at: 0, original: "t", lost: "a", present: "b")
        #expect(both == [Superseded(index: 4, loss: .words(words, in: .text), loser: .earlier)])
        let ticks = superseded(.editing(at: 4, Change(done: true)), .editing(at: 4, Change(done: false)))
        #expect(ticks == [Superseded(index: 4, loss: .edit(.done), loser: .earlier)])
        #expect(superseded(.editing(at: 4, Change(letter: "a")), .editing(at: 4, Change(done: true))).isEmpty)
        #expect(superseded(.editing(at: 4, Change(letter: "a")), .moving(4..<5, to: 0, .after)).isEmpty)
    }

    /// Two people want the same: nobody lost anything.
    @Test func theSameValueIsNoLoss() throws {
        let tick = Delta.editing(at: 4, Change(done: true))
        #expect(superseded(tick, tick).isEmpty)
        let (ace, king) = (try #require(Card(code: 1)), try #require(Card(code: 13)))
        #expect(superseded(.editing(at: 4, Change(card: ace)), .editing(at: 4, Change(card: ace))).isEmpty)
        #expect(
            superseded(.editing(at: 4, Change(card: ace)), .editing(at: 4, Change(card: king)))
                == [Superseded(index: 4, loss: .edit(.card), loser: .earlier)])
        #expect(superseded(.editing(at: 4, Change(bytes: [1])), .editing(at: 4, Change(bytes: [1]))).isEmpty)
        #expect(!superseded(.editing(at: 4, Change(bytes: [1])), .editing(at: 4, Change(bytes: []))).isEmpty)
        let address = Change(url: TextChange(from: "a", to: "b"))
        #expect(superseded(.editing(at: 4, address), .editing(at: 4, address)).isEmpty)
        // A move to the same gap, whatever it holds on to and whatever else moves there; with a change, too.
        let (top, bottom) = (Delta.moving(2..<3, to: 0, .after), Delta.moving(2..<3, to: 5, .before))
        #expect(superseded(top, .moving(2..<3, to: 0, .before)).isEmpty)
        #expect(superseded(top, .moving(1..<4, to: 0, .after)).isEmpty)
        #expect(superseded(top, bottom) == [Superseded(index: 2, loss: .move, loser: .earlier)])
        let ticked = try Delta([
            .drop(0..<1, .after, Change(done: true)), .keep(2), .pick(1),
        ])
        let unticked = try Delta([.drop(0..<1, .after, Change(done: false)), .keep(2), .pick(1)])
        #expect(superseded(ticked, top).isEmpty && superseded(top, ticked).isEmpty)
        #expect(superseded(ticked, ticked).isEmpty)
        #expect(superseded(ticked, unticked) == [Superseded(index: 2, loss: .edit(.done), loser: .earlier)])
        // A deletion overrides also a value that was set twice.
        #expect(superseded(tick, .deleting(4..<5)) == [Superseded(index: 4, loss: .edit(.done), loser: .earlier)])
    }

    /// A loss is reported exactly where the merge differs from what a delta wanted.
    @Test func aLossIsReportedWhereTheMergeOverrides() throws {
        let list = tasks(2)
        let left = everyDelta(on: 2, inserting: TransformTests.first, edit: Change(letter: "x"), limit: 2)
        let right = everyDelta(on: 2, inserting: TransformTests.second, edit: Change(letter: "y"), limit: 2)
        for a in left {
            for b in right {
                let (first, second) = (NaiveView(a, count: 2), NaiveView(b, count: 2))
                let losses = Delta.superseded(earlier: a, later: b)
                for index in list.indices {
                    let mine = losses.filter { $0.index == index }
                    let isContested = first.fates[index] != .stays || !first.changes[index].isEmpty
                    let isShared = isContested && (second.fates[index] != .stays || !second.changes[index].isEmpty)
                    let differ = first.fates[index] != second.fates[index] || first.fates[index] == .picked
                    let orthogonal =
                        Set([first.fates[index] == .picked, second.fates[index] == .picked]).count == 2
                        && first.fates[index] != .deleted && second.fates[index] != .deleted
                    let bothEdit = !first.changes[index].isEmpty && !second.changes[index].isEmpty
                    let isSamePlace =
                        first.fates[index] == .picked && second.fates[index] == .picked
                        && first.gap(of: index) == second.gap(of: index)
                    #expect(mine.isEmpty == !(isShared && ((differ && !orthogonal && !isSamePlace) || bothEdit)))
                }
            }
        }
    }
}
