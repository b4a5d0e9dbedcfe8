import HandFormats
import HandSync

/// The connection, and the edits that wait for it.
struct ConnectionScreen: Screen {

    var route: Route { .connection }

    func title(_ app: AppState) -> Line { Line("Connection", .bold) }

    mutating func perform(_ action: Action, count: Int?, _ app: inout AppState) -> [Command]? {
        action == .refresh ? [.reconnect] : nil
    }

    func refusal(of action: Action, _ app: AppState) -> String? {
        action == .refresh && app.isOnline ? "the server is already connected" : nil
    }

    func draw(on canvas: inout Canvas, _ app: AppState) {
        var lines = [
            Line("server   \(app.server)"),
            Line("you      \(app.me)\(role(app))"), state(app),
        ]
        if let latency = app.latency, app.isOnline {
            lines.append(Line("answers  in \(latency == 0 ? "<1" : "\(latency)") ms"))
        }
        lines.append(Line())
        for list in app.lists.values.sorted(by: { $0.name < $1.name }) {
            let waiting = list.state.pendingCount
            lines.append(
                Line("\(list.name): revision \(list.state.revision), \(Amount.count(waiting, "edit")) not saved"))
            if let refusal = list.refusal, waiting > 0 {
                let command = "hand sync -l \(ShellWord.quoted(list.name))"
                lines.append(
                    Line(
                        "\(refusal). '\(command)' sends them when it can; with --discard, it forgets them", Style(.red))
                )
            }
        }
        ScreenFrame.write(lines, on: &canvas, app)
    }

    /// The role on all lists, and higher roles on single ones.
    private func role(_ app: AppState) -> String {
        guard let granted = app.granted else { return "" }
        let everywhere = granted.everywhere == .none ? [] : ["\(granted.everywhere) on all lists"]
        let roles = everywhere + granted.lists.map { "\($0.role) on '\($0.name)'" }
        let more = roles.count > 3 ? ", …" : ""
        return roles.isEmpty ? ", no role" : ", role \(roles.prefix(3).joined(separator: ", "))\(more)"
    }

    private func state(_ app: AppState) -> Line {
        switch app.connection {
        case .online: return Line("state    online" + (app.place.map { " at \($0)" } ?? ""), Style(.green))
        case .connecting: return Line("state    connecting" + (app.place.map { " to \($0)" } ?? ""), Style(.yellow))
        case .offline(let reason, _):
            let retry =
                app.retryAt.map { "; next try in \(($0 - min($0, app.now) + 999) / 1_000) s" } ?? "; gave up"
            let words = Trouble(app)?.words ?? ""
            return Line("state    \(words): \(Printable.clean(reason))\(retry)", Style(.yellow, [.bold]))
        }
    }
}
