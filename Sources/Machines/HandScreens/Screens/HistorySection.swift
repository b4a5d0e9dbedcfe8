import HandCore
import HandFormats
import HandSync

/// What happened to the item of an item's screen: who added it and who changed it last, or each step.
struct HistorySection: Sendable {
    /// Whether each step is shown.
    var isShown = false
    private var history: ItemHistory?
    /// How many commits were asked for; nil before the first question.
    private var limit: Int?
    /// Whether the item has changed since the history was asked for.
    private var isOld = false

    /// How many commits are read for the first and the last step.
    private static let glance = 1_000

    /// Asks for the history, as far back as it is shown, unless it is known.
    mutating func ask(for item: ItemID, in list: String, _ app: AppState) -> [Command] {
        let wanted = isShown ? Int.max : limit ?? Self.glance
        guard app.isOnline, isOld || wanted != limit, !app.list(list).unsent.contains(item) else { return [] }
        (limit, isOld) = (wanted, false)
        return [.fetchItemHistory(list: list, item, limit: wanted)]
    }

    /// Asks again after a change of the item, once the server has the change.
    mutating func follow(_ delta: Delta, to place: Int, of item: ItemID, in list: String, _ app: AppState) -> [Command]
    {
        isOld = isOld || delta.placed.contains { $0.mark != nil && $0.new.contains(place) }
        return ask(for: item, in: list, app)
    }

    mutating func take(_ new: ItemHistory) { history = new }

    // MARK: Drawing

    func lines(_ app: AppState) -> [Line] {
        guard let history, let newest = history.steps.first, let oldest = history.steps.last else {
            if history?.isForgotten == true { return [Line(), Line(Self.forgotten, .dim)] }
            return history?.isCut == true && !isShown ? [Line(), advice("", app)] : []
        }
        if isShown {
            let steps = history.steps.map { row($0, history, app) }
            return [Line()] + steps + reading(history) + (history.isForgotten ? [Line(Self.forgotten, .dim)] : [])
        }
        var words = Line()
        if history.isWhole { words.append(text(oldest, history, app)) }
        if newest != oldest || !history.isWhole {
            words.append(words.text.isEmpty ? "" : ", ")
            words.append(text(newest, history, app))
        }
        if history.isForgotten { words.append("; \(Self.forgotten)") }
        let isAll = history.isWhole || history.isForgotten
        return [Line(), isAll ? words.restyled { $0.with(.dim) } : advice(words.text + "; ", app)]
    }

    private static let forgotten = "older changes are no longer kept"

    private func advice(_ words: String, _ app: AppState) -> Line {
        Line(words + "\(app.keys.symbol(for: .history)) reads further back", .dim)
    }

    private func reading(_ history: ItemHistory) -> [Line] {
        history.request == nil ? [] : [Line("reading, \(Amount.count(history.next, "commit")) to look at", .dim)]
    }

    /// `added by Ada 3 days ago`.
    private func text(_ step: ItemHistory.Step, _ history: ItemHistory, _ app: AppState) -> String {
        "\(step.verb) by \(name(of: step.author, history)) \(app.age(of: step.time))"
    }

    private func row(_ step: ItemHistory.Step, _ history: ItemHistory, _ app: AppState) -> Line {
        var line = Line("\(step.revision)", .bold)
        line.append("  \(app.text(of: step.time))  ", .dim)
        line.append(name(of: step.author, history), Style(PersonColor.of(step.author), [.bold]))
        return line + Line("  " + (step.change.map(CommitText.words) ?? step.verb))
    }

    private func name(of author: AuthorID, _ history: ItemHistory) -> String {
        Printable.clean(history.people[author] ?? "somebody")
    }
}
