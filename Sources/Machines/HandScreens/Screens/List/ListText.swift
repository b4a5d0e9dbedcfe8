import HandFormats
import HandSync

/// The text on a list's screens when there is nothing to show.
enum ListText {
    static func empty(_ data: ListData, _ app: AppState) -> [Line] {
        if let refusal = data.refusal { return refused(refusal, data.name, app) }
        if data.state.isLoaded {
            let (key, summary) = data.hand.rules.hasDeck ? (Action.deal, "deals a card") : (.addEnd, "adds an item")
            let isAllowed = app.refusal(of: key, on: data.name) == nil
            let more = isAllowed ? "\(app.keys.symbol(for: key)) \(summary); " : ""
            return [
                Line("The list is empty.", .bold),
                Line("\(more)\(app.keys.symbol(for: .help)) shows all keys.", .dim),
            ]
        }
        if !data.isLookedUp { return [Line("Looking for a copy on this machine…", .dim)] }
        if let progress = data.progress {
            return [
                Line("Loading \(progress.total) items: \(ListScreen.percent(progress))"),
                Line(bar(progress, width: min(40, max(4, app.size.columns - 4)))),
            ]
        }
        let isRefused = app.refusal != nil
        return trouble(
            app, "Nothing of this list is kept here.\(isRefused ? "" : " It opens as soon as the server answers.")")
            ?? [Line("Loading…", .dim)]
    }

    /// Why there is no connection, and what to do; nil if there is a connection, or may soon be one.
    static func trouble(_ app: AppState, _ more: String) -> [Line]? {
        guard case .offline(let reason, _) = app.connection, let trouble = Trouble(app) else { return nil }
        let advice = [trouble.advice(app), more].compactMap(\.self).joined(separator: " ")
        return [
            Line(trouble.sentence(Printable.clean(reason), app) + ".", Style(.yellow, [.bold])), Line(advice, .dim),
        ]
    }

    private static func refused(_ refusal: String, _ name: String, _ app: AppState) -> [Line] {
        var lines = [Line(refusal, Style(.red, [.bold]))]
        let others = (app.catalog ?? []).map(\.name).filter { $0 != name }
        if !others.isEmpty {
            let shown = others.prefix(20)
            let more = others.count > shown.count ? " and \(others.count - shown.count) more" : ""
            let names = shown.joined(separator: ", ")
            lines.append(Line("There are: \(names)\(more).\(Spelling.question(name, among: others))"))
        }
        lines.append(
            Line(
                "\(app.keys.symbol(for: .back)) leads to the lists, where \(app.keys.symbol(for: .newList)) makes one.",
                .dim))
        return lines
    }

    private static func bar(_ progress: ListData.Progress, width: Int) -> String {
        let full = width * progress.items / max(1, progress.total)
        return String(repeating: "█", count: min(width, full)) + String(repeating: "░", count: max(0, width - full))
    }
}
