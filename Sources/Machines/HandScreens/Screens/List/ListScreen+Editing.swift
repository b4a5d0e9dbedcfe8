import HandCore
import HandSync

extension ListScreen {
    func refusal(of action: Action, _ app: AppState) -> String? {
        let data = app.list(list)
        if action.needs.contains(.list), let gone = data.refusal { return gone }
        if action.needs.contains(.list), !data.state.isLoaded { return "the list is not loaded yet" }
        if action.needs.contains(.item), shown.count(in: data.hand) == 0 { return "there is no item here" }
        switch action {
        case .addBelow, .addAbove, .addTop, .addEnd: return Self.refusalToAdd(data.hand)
        case .deal:
            if !data.hand.rules.hasDeck { return "this list has no deck" }
            return data.hand.violation(inserting: .card(.faceDown)).map { "\(Rejection.violation($0))" }
        case .pasteBelow, .pasteAbove: return Self.refusalToPaste(app.clipboard, data.hand)
        case .moveToList, .copyToList: return app.isOnline ? nil : Self.refusalToSend(app.keys)
        case .retrieve: return data.notices.contains(where: \.canRetrieve) ? nil : "nothing was overridden or rejected"
        case .fold, .foldAll: return refusalToFold(action, data.hand, app)
        default: return current(app).flatMap { Self.refusal(of: action, for: $0.content) }
        }
    }

    /// Why an action is impossible for an item of that kind; nil if it is possible.
    static func refusal(of action: Action, for content: Content) -> String? {
        let fields = content.kind.fields
        switch action {
        case .edit where !fields.contains(.text): return "a \(content.kind.name) has no text to edit"
        case .editAddress where !fields.contains(.url): return "a \(content.kind.name) has no address"
        case .follow where !fields.contains(.url): return "a \(content.kind.name) leads nowhere"
        default: return nil
        }
    }

    private static func refusalToAdd(_ hand: Hand) -> String? {
        let kinds = Typed.kinds(hand.rules)
        guard let kind = kinds.first else { return "this program knows none of the kinds that this list accepts" }
        let empty = Typed.content("", as: kind, hand.rules) ?? .card(.faceDown)
        return hand.violation(inserting: empty).map { "\(Rejection.violation($0))" }
    }

    static func refusalToPaste(_ clipboard: AppState.Clipboard, _ hand: Hand) -> String? {
        if clipboard.contents.isEmpty { return "nothing was cut or copied" }
        for content in clipboard.largest.values {
            if let violation = hand.violation(inserting: content) { return "\(Rejection.violation(violation))" }
        }
        let (count, room) = (clipboard.contents.count, hand.rules.maximumCount - hand.count)
        return count > room ? "\(count) items do not fit: there is room for \(room)" : nil
    }

    mutating func performOwn(_ action: Action, count: Int?, _ app: inout AppState) -> [Command]? {
        home = nil
        switch action {
        case .addBelow: return beginAddingBelow(&app)
        case .addAbove: return beginAdding(at: place(app) ?? 0, .before, &app)
        case .addTop: return beginAdding(at: 0, .after, &app)
        case .addEnd: return beginAdding(at: app.list(list).hand.count, .before, &app)
        case .edit: return beginEditing(.text, &app)
        case .editAddress: return beginEditing(.address, &app)
        case .delete: return delete(selection(app), "deleted; \(app.keys.symbol(for: .undo)) undoes", &app)
        case .deleteBranch: return delete(branches(app), "deleted; \(app.keys.symbol(for: .undo)) undoes", &app)
        case .clearTicked: return clearTicked(&app)
        case .cut:
            copy(&app)
            return delete(branches(app), "cut; \(app.keys.symbol(for: .pasteBelow)) pastes", &app)
        case .copy:
            copy(&app)
            let what = EditText.name(branches(app), of: app.list(list).hand)
            anchor = nil
            return [.say("\(what) copied; \(app.keys.symbol(for: .pasteBelow)) pastes")]
        case .pasteBelow: return paste(at: place(app).map(shown.end(ofPlace:)) ?? 0, .after, &app)
        case .pasteAbove: return paste(at: place(app) ?? 0, .before, &app)
        case .moveUp: return move(by: -(count ?? 1), &app)
        case .moveDown: return move(by: count ?? 1, &app)
        case .moveTop: return move(to: 0, .after, app)
        case .moveEnd: return move(to: app.list(list).hand.count, .before, app)
        case .indent: return shift(by: 1, app)
        case .outdent: return shift(by: -1, app)
        case .tick: return tick(&app)
        case .untickAll: return untickAll(&app)
        case .sort:
            mode = .asking(Prompt(purpose: .sort, question: "sort:"), from: anchor)
            return []
        case .moveToList, .copyToList: return ask(isMove: action == .moveToList, app)
        case .deal: return deal(max(1, count ?? 1), &app)
        case .undo: return [.undo(list)]
        case .redo: return [.redo(list)]
        case .retrieve: return Retrieval.newest(of: list, &app)
        default: return look(action, count: count, &app)
        }
    }

    /// Makes an edit of the selection, and ends the selection.
    mutating func finish(_ delta: Delta, _ app: inout AppState) -> [Command] {
        anchor = nil
        return delta.isIdentity ? [.bell] : [.edit(list: list, delta)]
    }

    mutating func delete(_ runs: [Range<Int>], _ words: String, _ app: inout AppState) -> [Command] {
        let what = EditText.name(runs, of: app.list(list).hand)
        let hidden = shown.folds.hiddenCount == 0 ? 0 : shown.hiddenCount(in: runs)
        let also = hidden == 0 ? "" : ", \(hidden) of them hidden,"
        return finish(app.list(list).hand.deleting(runs), &app) + [.say("\(what)\(also) \(words)")]
    }

    /// The selection with all sub-items.
    func branches(_ app: AppState) -> [Range<Int>] { app.list(list).hand.withSubitems(selection(app)) }

    private func copy(_ app: inout AppState) {
        let (hand, places) = (app.list(list).hand, branches(app).flatMap { $0 })
        app.clipboard = AppState.Clipboard(
            places.map { hand[$0].content }, levels: places.map(hand.shownLevel(at:)),
            folded: places.indices.filter { shown.folds.isFolded(at: places[$0]) })
    }

    private mutating func paste(at gap: Int, _ side: Side, _ app: inout AppState) -> [Command] {
        let hand = app.list(list).hand
        let (clipboard, allowed) = (app.clipboard, shown.levels(at: gap, in: hand))
        let first = clipboard.levels.first ?? 0
        let shift = min(max(first, allowed.lowerBound), allowed.upperBound) - first
        let (levels, words) = Self.fitting(clipboard.levels.map { $0 + shift }, in: hand)
        let items = app.mint(clipboard.contents, levels: levels)
        shown.changeFolds(in: hand) { $0.expect(clipboard.folded.map { items[$0].id }) }
        return [.edit(list: list, Delta.inserting(items, at: gap, side))] + words
    }

    /// The levels of new items, none higher than the list allows, and what to say if some were.
    static func fitting(_ levels: [Int], in hand: Hand) -> (levels: [Int], words: [Command]) {
        let maximum = Int(hand.rules.maximumLevel)
        guard levels.contains(where: { $0 > maximum }) else { return (levels, []) }
        let words =
            maximum == 0
            ? "the items of this list have no levels: the sub-items are beside the others now"
            : "the highest level of this list is \(maximum): deeper items have it now"
        return (levels.map { min($0, maximum) }, [.say(words)])
    }

    /// Changes the levels of the selection and its sub-items.
    private func shift(by steps: Int, _ app: AppState) -> [Command] {
        let (hand, branches) = (app.list(list).hand, branches(app))
        guard let delta = hand.shifting(branches, by: steps) else {
            return [.say(steps > 0 ? "there is no item above that it could belong to" : "it is at the left already")]
        }
        if steps > 0, let first = branches.first?.lowerBound {
            let parent = hand.gap(above: first, hand.shownLevel(at: first))
            let isApart = shown.tickedLast.map { $0.isLast(parent) != $0.isLast(first) } == true
            if isApart || filter.map({ $0.row(ofIndex: parent) == nil }) == true {
                let name = EditText.name([parent..<parent + 1], of: hand)
                return [.say("it would belong to \(name), which is not shown above it")]
            }
        }
        let (highest, maximum) = (delta.changes.compactMap(\.level).max() ?? 0, hand.rules.maximumLevel)
        if highest > maximum { return [.say("\(Rejection.violation(.levelTooHigh(highest, maximum: maximum)))")] }
        return delta.isIdentity ? [.bell] : [.edit(list: list, delta)]
    }

    /// Moves the selection by that many rows: up if the number is negative. It goes past the items beside it together
    /// with their sub-items, and past all that have no rows.
    private mutating func move(by count: Int, _ app: inout AppState) -> [Command] {
        if shown.tickedLast != nil {
            guard let gap = gapBeside(count, app) else { return [.bell] }
            return move(to: gap, count < 0 ? .before : .after, app)
        }
        let branches = branches(app)
        guard let first = branches.first, let last = branches.last else { return [] }
        let start = count < 0 ? first.lowerBound : last.upperBound
        var gap = start
        let hand = app.list(list).hand
        let level = branches.joined().reduce(Int.max) { min($0, hand.shownLevel(at: $1)) }
        for _ in 0..<abs(count) {
            guard let next = self.gap(past: gap, isUp: count < 0, level, app) else { break }
            gap = next
        }
        return gap == start ? [.bell] : move(to: gap, count < 0 ? .before : .after, app)
    }

    /// The gap on the other side of the next items of a level that have rows; nil if there are none.
    private func gap(past gap: Int, isUp: Bool, _ level: Int, _ app: AppState) -> Int? {
        let hand = app.list(list).hand
        var next = gap
        repeat {
            let former = next
            next = isUp ? hand.gap(above: next, level) : hand.gap(below: next, level)
            let hidden = shown.folds.hidden(aroundGap: next)
            next = hidden.map { isUp ? $0.lowerBound - 1 : $0.upperBound } ?? next
            if next == former { return nil }
        } while shown.hiddenCount(in: [min(gap, next)..<max(gap, next)]) == abs(next - gap)
        return next
    }

    /// Moves the selection. A range stays selected, so that it can be moved again.
    private func move(to gap: Int, _ side: Side, _ app: AppState) -> [Command] {
        let hand = app.list(list).hand
        let delta = shown.moving(branches(app), to: gap, side, in: hand)
        return hand.isUnchanged(by: delta) ? [.bell] : [.edit(list: list, delta)]
    }

    /// Ticks all selected tasks that have rows, or unticks them if all are ticked.
    private mutating func tick(_ app: inout AppState) -> [Command] {
        let hand = app.list(list).hand
        var tasks: [(place: Int, isDone: Bool)] = []
        for run in selection(app, withHidden: false) {
            for (offset, item) in hand.items(in: run).enumerated() {
                if case .task(_, let done) = item.content { tasks.append((run.lowerBound + offset, done)) }
            }
        }
        if tasks.isEmpty { return [.say("only tasks can be ticked")] }
        let done = !tasks.allSatisfy(\.isDone)
        let runs = tasks.filter { $0.isDone != done }.map { $0.place..<$0.place + 1 }
        return finish(.changing(runs, Change(done: done)), &app)
    }

    private func deal(_ count: Int, _ app: inout AppState) -> [Command] {
        let hand = app.list(list).hand
        let room = max(1, hand.rules.maximumCount - hand.count)
        let cards = app.mint(Array(repeating: .card(.faceDown), count: min(52, room, count)))
        return [.edit(list: list, Delta.inserting(cards, at: hand.count, .before))]
    }
}

extension Hand {
    /// The level of a new item at a gap: that of the item above it.
    func levelOfNewItem(at gap: Int) -> UInt8 {
        gap == 0 || isEmpty ? 0 : UInt8(Swift.min(shownLevel(at: Swift.min(gap, count) - 1), Int(rules.maximumLevel)))
    }

    /// The gap above the item that is above a gap, or above the nearest one that is shown no further right than that
    /// level.
    fileprivate func gap(above gap: Int, _ level: Int) -> Int {
        var place = Swift.max(0, gap - 1)
        while place > 0, shownLevel(at: place) > level { place -= 1 }
        return place
    }

    /// The gap below the item that is below a gap; below its sub-items, too, if the item is shown at that level.
    fileprivate func gap(below gap: Int, _ level: Int) -> Int {
        guard gap < count else { return gap }
        return shownLevel(at: gap) == level ? subitems(of: gap).upperBound : gap + 1
    }
}

/// Makes overridden or rejected edits again.
enum Retrieval {
    static func newest(of list: String, _ app: inout AppState) -> [Command] {
        guard let index = app.list(list).notices.lastIndex(where: \.canRetrieve) else { return [.bell] }
        return retrieve(index, of: list, &app)
    }

    /// Makes the edit of a notice again. The notice goes once that is done.
    static func retrieve(_ index: Int, of list: String, _ app: inout AppState) -> [Command] {
        let data = app.list(list)
        if let refusal = data.refusal { return [.say(refusal)] }
        guard let loss = data.notices[index].loss,
            let delta = loss.delta(on: data.hand, { .random(using: &app.random) })
        else { return [.say("the item is gone; there is nothing to get back")] }
        return [.retrieve(list: list, delta, loss)]
    }

    /// A lost edit was made again.
    static func finish(_ loss: Loss, of list: String, _ app: inout AppState) -> String? {
        guard let index = app.list(list).notices.lastIndex(where: { $0.loss == loss }) else { return nil }
        let text = app.list(list).notices[index].text(in: app.list(list))
        app.withList(list) { _ = $0.notices.remove(at: index) }
        return "got back: \(text)"
    }
}
