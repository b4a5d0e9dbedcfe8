import HandSync

/// The text on a list's screens when there is nothing to show.
enum ListText {
    static func unreachable(_ reason: String, _ app: AppState) -> String {
        // With several servers, the reason names the one that was tried.
        "No server answers\(app.server.places.count > 1 ? "" : " at \(app.server)"): \(reason)."
    }

    static func empty(_ data: ListData, _ app: AppState) -> [Line] {
        if let refusal = data.refusal { return refused(refusal, data.name, app) }
        if data.state.isLoaded {
            return [
                Line("The list is empty.", .bold),
                Line(
                    "\(app.keys.symbol(for: .addEnd)) adds an item; \(app.keys.symbol(for: .help)) shows all keys.",
                    .dim),
            ]
        }
        if !data.isLookedUp { return [Line("Looking for a copy on this machine…", .dim)] }
        if let progress = data.progress {
            return [
                Line("Loading \(progress.total) items: \(ListScreen.percent(progress))"),
                Line(bar(progress, width: min(40, max(4, app.size.columns - 4)))),
            ]
        }
        if case .offline(let reason, _) = app.connection {
            return [
                Line(unreachable(reason, app), Style(.yellow, [.bold])),
                Line("Nothing of this list is kept here. It opens as soon as the server answers.", .dim),
            ]
        }
        return [Line("Loading…", .dim)]
    }

    private static func refused(_ refusal: String, _ name: String, _ app: AppState) -> [Line] {
        var lines = [Line(refusal, Style(.red, [.bold]))]
        let others = (app.catalog ?? []).map(\.name).prefix(20).joined(separator: ", ")
        if !others.isEmpty { lines.append(Line("There are: \(others).")) }
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
