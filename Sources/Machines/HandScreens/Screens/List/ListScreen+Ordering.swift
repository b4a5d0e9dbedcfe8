import HandCore
import HandFormats

// Keeping a list in order: sorting, unticking, sending items to another list.

extension ListScreen {
    // MARK: Ticked tasks

    /// The ticked tasks in the selected range, or else all of them that match the filter.
    private func ticked(_ app: AppState) -> [Range<Int>] {
        let hand = app.list(list).hand
        var runs: [Range<Int>] = []
        for run in anchor == nil ? [0..<hand.count] : selection(app) {
            var place = run.lowerBound
            for item in hand.items(in: run) {
                if item.content.isTicked, filter?.isWanted(item.content) != false { runs.append(place..<place + 1) }
                place += 1
            }
        }
        return runs
    }

    mutating func clearTicked(_ app: inout AppState) -> [Command] {
        let runs = ticked(app)
        if runs.isEmpty { return [.say("nothing is ticked")] }
        return delete(runs, "deleted; \(app.keys.symbol(for: .undo)) undoes", &app)
    }

    mutating func untickAll(_ app: inout AppState) -> [Command] {
        let runs = ticked(app)
        if runs.isEmpty { return [.say("nothing is ticked")] }
        let what = EditText.name(runs, of: app.list(list).hand)
        return finish(.changing(runs, Change(done: false)), &app) + [
            .say("\(what) unticked; \(app.keys.symbol(for: .undo)) undoes")
        ]
    }

    // MARK: Ticked tasks last

    /// After how many milliseconds a ticked task goes to where it is shown. Until then, one sees which one it was, and
    /// ticks others without losing the place.
    private static let settlingTime: UInt64 = 1_200

    /// Shows ticked tasks below the others, or in their places. Nothing moves in the list.
    mutating func showTickedLast(_ app: AppState) -> [Command] {
        let (here, isOn, key) = (placeBeforeChange(), shown.tickedLast == nil, app.keys.symbol(for: .tickedLast))
        shown.setTickedLast(isOn, in: app.list(list).hand)
        settlingDue = nil
        goTo(here, app)
        settle(app)
        return [.say("ticked tasks are shown \(isOn ? "last" : "in their places"); \(key) changes it")]
    }

    /// Lets tasks that have just been ticked stay for a moment: after others' edits, the moment does not begin anew.
    mutating func holdTicked(_ isOwn: Bool, _ now: UInt64) {
        guard shown.tickedLast?.isHolding == true else {
            settlingDue = nil
            return
        }
        if isOwn || settlingDue == nil { settlingDue = now + Self.settlingTime }
    }

    /// Puts ticked tasks where they are shown, after that moment. If the current item goes, the cursor stays.
    mutating func settleTicked(_ app: AppState) -> [Command] {
        guard let due = settlingDue, due <= app.now else { return [] }
        settlingDue = nil
        let (selected, cursor) = (selectedPlaces(app), place(app))
        let (here, goes) = (placeBeforeChange(), current(app).map { shown.tickedLast?.isHeld($0.id) == true } == true)
        shown.settle(in: app.list(list).hand)
        if !goes || draft != nil { goTo(here, app) }
        settle(app)
        return keepSelection(of: selected, cursor: cursor, app)
    }

    /// The place to which the selection moves, past so many items beside it on the screen: among the ticked ones or
    /// among the others. Nil if there is none.
    func gapBeside(_ count: Int, _ app: AppState) -> Int? {
        guard let order = shown.tickedLast, let first = branches(app).first?.lowerBound else { return nil }
        let (hand, rows) = (app.list(list).hand, rows(app))
        let (level, isUp, isLast) = (hand.shownLevel(at: first), count < 0, order.isLast(first))
        func isBelow(_ row: Int) -> Bool {
            rows.place(ofRow: row).map { hand.shownLevel(at: $0) > level } == true
        }
        let selected = selectedRows(app) ?? table.cursor...table.cursor
        var row = isUp ? selected.lowerBound : selected.upperBound
        var gap: Int?
        for _ in 0..<abs(count) {
            if isUp {
                repeat { row -= 1 } while row > 0 && isBelow(row)
            } else {
                repeat { row += 1 } while isBelow(row)
            }
            guard let place = rows.place(ofRow: row), order.isLast(place) == isLast else { break }
            gap = isUp ? place : hand.shownLevel(at: place) == level ? hand.subitems(of: place).upperBound : place + 1
        }
        return gap
    }

    // MARK: Sorting

    /// Sorts the selected items with their sub-items, or else the whole list.
    mutating func sort(by order: ItemOrder, _ app: inout AppState) -> [Command] {
        let (hand, branches) = (app.list(list).hand, branches(app))
        let range = anchor == nil ? nil : branches.first.map { $0.lowerBound..<(branches.last ?? $0).upperBound }
        guard order == .newest else { return sort(range, order.sorting(hand, range), order, &app) }
        sorting = range.map { [hand[$0.lowerBound].id, hand[$0.upperBound - 1].id] } ?? []
        return [.fetchArrivals(list: list), .say("reading the history…")]
    }

    /// Sorts by when the items came, once that is known.
    mutating func sortByArrival(_ revisions: [ItemID: Int], _ app: inout AppState) -> [Command] {
        guard let ends = sorting.take() else { return [] }
        let hand = app.list(list).hand
        let places = ends.compactMap(hand.index(of:))
        guard places.count == ends.count, (places.first ?? 0) <= (places.last ?? 0) else {
            return [.say("the items to sort have moved; nothing was done")]
        }
        let range = places.isEmpty ? nil : hand.withSubitems([places[0]..<places[1] + 1]).first
        return sort(range, ItemOrder.newest.sorting(hand, range, arrivals: revisions), .newest, &app)
    }

    private mutating func sort(
        _ range: Range<Int>?, _ delta: Delta, _ order: ItemOrder, _ app: inout AppState
    ) -> [Command] {
        let what = range.map { EditText.name([$0], of: app.list(list).hand) } ?? "the list"
        if delta.isIdentity { return [.say("\(what) is in this order already: \(order.summary)")] }
        return finish(delta, &app) + [
            .say("\(what) sorted, \(order.summary); \(app.keys.symbol(for: .undo)) undoes")
        ]
    }

    // MARK: Other lists

    static func refusalToSend(_ keys: KeyMap) -> String {
        "the server cannot be reached; \(keys.symbol(for: .cut)) cuts, to paste in another list"
    }

    /// Asks to which list the selection goes.
    mutating func ask(isMove: Bool, _ app: AppState) -> [Command] {
        let hand = app.list(list).hand
        let items = branches(app).joined().map { hand[$0].id }
        mode = .asking(Prompt(purpose: .send(isMove: isMove, items), question: ""), from: anchor)
        offerLists(app)
        // There may be other lists than when this program asked last.
        return [.fetchLists]
    }

    /// Offers the server's lists as answers.
    mutating func offerLists(_ app: AppState) {
        guard case .asking(var prompt, let place) = mode, case .send(let isMove, let items) = prompt.purpose else {
            return
        }
        let hand = app.list(list).hand
        let names = (app.catalog ?? []).map(\.name).filter { $0 != list }
        func short(_ text: String) -> String {
            Wrapping.lines(text, width: max(8, app.size.columns / 4), limit: 1)[0]
        }
        let what = short(EditText.name(hand.runs(of: items), of: hand))
        let known = short(names.joined(separator: ", "))
        let question = "\(isMove ? "move" : "copy") \(what) to\(names.isEmpty ? "" : " (\(known))"):"
        prompt = Prompt(purpose: prompt.purpose, question: question, editor: prompt.editor, candidates: names)
        mode = .asking(prompt, from: place)
    }

    /// Sends items to the list of that name, or to the only one whose name begins like that.
    mutating func send(_ items: [ItemID], to text: String, isMove: Bool, _ app: inout AppState) -> [Command] {
        let names = (app.catalog ?? []).map(\.name)
        let near = names.filter { $0.lowercased().hasPrefix(text.lowercased()) && $0 != list }
        if text.isEmpty { return [] }
        if text == list { return [.say("the items are in '\(list)' already")] }
        guard app.catalog == nil || names.contains(text) || near.count == 1 else {
            return [.say(near.isEmpty ? "there is no list '\(text)'" : "which one? \(near.joined(separator: ", "))")]
        }
        let target = names.contains(text) ? text : near.first ?? text
        if let refusal = app.refusal(of: .addEnd, on: target) { return [.say(refusal)] }
        let hand = app.list(list).hand
        let runs = hand.runs(of: items)
        if runs.isEmpty { return [.say("somebody deleted the items meanwhile; nothing was sent")] }
        let places = runs.joined()
        let copies = app.mint(
            places.map { hand[$0].content }, levels: places.map(hand.shownLevel(at:)).relative)
        anchor = nil
        return [
            .transfer(
                ItemTransfer(
                    source: list, target: target, originals: isMove ? places.map { hand[$0].id } : [], copies: copies,
                    what: EditText.name(runs, of: hand)))
        ]
    }
}

extension [Int] {
    /// These levels of items, with sub-items as far below the items that they belong to as before.
    fileprivate var relative: [Int] {
        var least = Int.max
        return map { level in
            least = Swift.min(least, level)
            return level - least
        }
    }
}
