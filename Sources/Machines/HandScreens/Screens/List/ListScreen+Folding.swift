import HandCore

extension ListScreen {
    func refusalToFold(_ action: Action, _ hand: Hand, _ app: AppState) -> String? {
        if let filter, filter.ignoresFolds {
            return "what is looked for is shown even if it is folded; \(app.keys.symbol(for: .back)) shows everything"
        }
        guard action == .fold, let place = place(app) else { return nil }
        return hand.hasSubitems(at: place) || hand.shownLevel(at: place) > 0 ? nil : "this item has no sub-items"
    }

    /// Folds or unfolds the current item, or else the item that it is a sub-item of, and goes there.
    mutating func fold(_ app: inout AppState) -> [Command] {
        let hand = app.list(list).hand
        var head = place(app)
        if let place = head, !hand.hasSubitems(at: place) {
            repeat { head = head.flatMap(hand.superitem(of:)) } while head.map(isFilteredOut) == true
        }
        guard let head else { return [.say("the item that this one belongs to is hidden")] }
        _ = select(row: row(ofPlace: head), &app)
        refold(app) { $0.isFolded(at: head) ? $0.unfold(at: head) : $0.fold(at: head, in: hand) }
        return keepFolds(&app)
    }

    private func isFilteredOut(_ place: Int) -> Bool { filter.map { $0.row(ofIndex: place) == nil } ?? false }

    /// Unfolds everything if anything is folded, and otherwise folds everything.
    mutating func foldAll(_ app: inout AppState) -> [Command] {
        let (hand, key) = (app.list(list).hand, app.keys.symbol(for: .foldAll))
        if !shown.folds.isEmpty {
            refold(app) { $0.unfoldAll() }
            return keepFolds(&app) + [.say("everything is unfolded; \(key) folds it")]
        }
        refold(app) { $0.foldAll(in: hand) }
        if shown.folds.isEmpty { return [.say("no item has sub-items")] }
        return keepFolds(&app) + [.say("everything is folded; \(key) unfolds it")]
    }

    /// Folds what was folded when the list was last closed, once that and the list are known. What the user folded
    /// before is kept with it.
    mutating func recallFolds(_ app: inout AppState) -> [Command] {
        let data = app.list(list)
        guard !hasRecalledFolds, data.state.isLoaded, let items = data.folded else { return [] }
        hasRecalledFolds = true
        let hasEarlyFolds = !shown.folds.isEmpty
        if !items.isEmpty {
            refold(app) {
                $0.expect(items)
                $0.find(in: data.hand)
            }
        }
        return hasEarlyFolds ? keepFolds(&app) : []
    }

    /// Remembers what is folded. Before the earlier folds are known, nothing replaces them.
    mutating func keepFolds(_ app: inout AppState) -> [Command] {
        let items = shown.folds.ids
        guard hasRecalledFolds, items != app.list(list).folded else { return [] }
        app.withList(list) { $0.folded = items }
        return [.keepFolds(list: list, items)]
    }

    /// Changes what is folded. The cursor stays on its item, or goes to the row that hides it.
    private mutating func refold(_ app: AppState, _ body: (inout Folds) -> Void) {
        let (here, data) = (placeBeforeChange(), app.list(list))
        shown.changeFolds(in: data.hand, body)
        places.find(in: data)
        goTo(here, app)
        settle(app)
    }
}
