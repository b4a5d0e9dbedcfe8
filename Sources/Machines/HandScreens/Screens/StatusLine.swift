import HandFormats
import HandSync

/// The status line at the bottom: list, revision, people, whether everything is saved, the server's latency.
enum StatusLine {
    static func line(of screen: any Screen, _ app: AppState, width: Int) -> Line {
        let list = screen.route.list.map { app.list($0) }
        let left = list.map { identity($0, app) } ?? Line(app.server.description, .dim)
        let right = notices(list, screen) + safety(list, app) + latency(app)
        let room = max(0, width - right.width - 1)
        var line = left
        if line.width > room {
            line = Line(Wrapping.lines(left.text, width: max(1, room), limit: 1).first ?? "")
        }
        return line.padded(to: width - right.width) + right
    }

    private static func identity(_ list: ListData, _ app: AppState) -> Line {
        var line = Line(list.name, .bold)
        line.append(" r\(list.state.revision)")
        let people = list.people.count + 1
        if let restriction = app.restriction(on: list.name) { line.append(" · \(restriction)", Style(.yellow)) }
        if list.state.isLive { line.append(people == 1 ? " · alone" : " · \(people) people") }
        return line
    }

    /// The number of notices, on screens that do not show them. Rejections are counted apart.
    private static func notices(_ list: ListData?, _ screen: any Screen) -> Line {
        let count = list.map { list in list.notices.count { !$0.isSeen } - list.rejectedCount } ?? 0
        guard count > 0, !ScreenFrame.showsNotices(screen) else { return Line() }
        return Line(Amount.count(count, "notice") + " ", Style(.red, [.bold]))
    }

    /// Whether the user's edits are safe.
    static func safety(_ list: ListData?, _ app: AppState) -> Line {
        let rejected = list.map {
            $0.rejectedCount > 0 ? Line("rejected \($0.rejectedCount) ", Style(.red, [.bold])) : Line()
        }
        return (rejected ?? Line()) + saved(list, app)
    }

    private static func saved(_ list: ListData?, _ app: AppState) -> Line {
        let unconfirmed = list?.state.pendingCount ?? 0
        if list?.refusal != nil {
            return Line(
                "not on the server" + (unconfirmed > 0 ? ", \(unconfirmed) not sent" : ""), Style(.red, [.bold]))
        }
        switch app.connection {
        case .offline:
            let trouble = Trouble(app) ?? .unreachable
            let waiting = trouble == .unreachable ? "queued" : "not sent"
            let queued = unconfirmed > 0 ? ", \(unconfirmed) \(waiting)" : ""
            return Line(trouble.words + queued, Style(trouble == .unreachable ? .yellow : .red, [.bold]))
        case .connecting where list?.state.isLive != true:
            let place = app.place.map { " to \($0)" } ?? ""
            let queued = unconfirmed > 0 ? ", \(unconfirmed) queued" : ""
            return Line("connecting" + place + queued, Style(.yellow)) + silence(app)
        default:
            if app.silence != nil {
                return Line(unconfirmed > 0 ? "\(unconfirmed) not saved," : "", Style(.yellow)) + silence(app)
            }
            guard let list else { return Line("online", Style(.green)) }
            if unconfirmed > 0 { return Line("saving \(unconfirmed)", Style(.yellow)) }
            return list.state.isLive ? Line("synced", Style(.green)) : Line("loading", Style(.yellow))
        }
    }

    private static func silence(_ app: AppState) -> Line {
        app.silence.map { Line(" no answer for \($0) s", Style(.red, [.bold])) } ?? Line()
    }

    private static func latency(_ app: AppState) -> Line {
        guard app.isOnline, app.silence == nil, let latency = app.latency else { return Line() }
        return Line(latency == 0 ? " · <1 ms" : " · \(latency) ms", .dim)
    }
}
