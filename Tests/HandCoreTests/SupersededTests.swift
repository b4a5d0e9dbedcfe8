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
                    #expect(mine.isEmpty == !(isShared && ((differ && !orthogonal) || bothEdit)))
                }
            }
        }
    }
}
