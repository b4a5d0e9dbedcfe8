import HandCore
import HandSync

/// The status line at the bottom: list, revision, people, whether everything is saved, the server's latency.
enum StatusLine {
    static func line(of screen: any Screen, _ app: AppState, width: Int) -> Line {
        let list = screen.route.list.map { app.list($0) }
        let left = list.map { identity($0) } ?? Line(app.server.description, .dim)
        let right = safety(list, app) + latency(app)
        let room = max(0, width - right.width - 1)
        var line = left
        if line.width > room {
            line = Line(Wrapping.lines(left.text, width: max(1, room), limit: 1).first ?? "")
        }
        return line.padded(to: width - right.width) + right
    }

    private static func identity(_ list: ListData) -> Line {
        var line = Line(list.name, .bold)
        line.append(" r\(list.state.revision)")
        let people = list.people.count + 1
        if list.state.isLive { line.append(people == 1 ? " · alone" : " · \(people) people") }
        return line
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
        if list?.refusal != nil { return Line("not on the server", Style(.red, [.bold])) }
        switch app.connection {
        case .offline:
            let queued = unconfirmed > 0 ? ", \(unconfirmed) queued" : ""
            return Line("offline" + queued, Style(.yellow, [.bold]))
        case .connecting where list?.state.isLive != true:
            let place = app.place.map { " to \($0)" } ?? ""
            return Line("connecting" + place + (unconfirmed > 0 ? ", \(unconfirmed) queued" : ""), Style(.yellow))
        default:
            guard let list else { return Line("online", Style(.green)) }
            if unconfirmed > 0 { return Line("saving \(unconfirmed)", Style(.yellow)) }
            return list.state.isLive ? Line("synced", Style(.green)) : Line("loading", Style(.yellow))
        }
    }

    private static func latency(_ app: AppState) -> Line {
        guard app.isOnline, let latency = app.latency else { return Line() }
        return Line(latency == 0 ? " · <1 ms" : " · \(latency) ms", .dim)
    }
}
