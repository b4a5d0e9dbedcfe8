import HandCore
import HandSync

/// The line at the very bottom: list, revision, people, whether everything is safe, how far away the server is.
enum StatusLine {
    static func line(of screen: any Screen, _ world: World, width: Int) -> Line {
        let list = screen.route.list.map { world.list($0) }
        let left = list.map { identity($0) } ?? Line(world.server.description, .dim)
        let right = safety(list, world) + latency(world)
        let room = max(0, width - right.width - 1)
        var line = left
        if line.width > room {
            line = Line(Wrapping.lines(left.text, width: max(1, room), limit: 1).first ?? "")
        }
        return line.padded(to: width - right.width) + right
    }

    private static func identity(_ list: ListData) -> Line {
        var line = Line(list.name, .bold)
        line.append(" r\(list.standing.revision)")
        let people = list.people.count + 1
        if list.standing.isLive { line.append(people == 1 ? " · alone" : " · \(people) people") }
        return line
    }

    /// The one word that people look for: is what I did safe?
    static func safety(_ list: ListData?, _ world: World) -> Line {
        let rejected = list.map {
            $0.rejectedCount > 0 ? Line("rejected \($0.rejectedCount) ", Style(.red, [.bold])) : Line()
        }
        return (rejected ?? Line()) + saved(list, world)
    }

    private static func saved(_ list: ListData?, _ world: World) -> Line {
        let unconfirmed = list?.standing.unconfirmed ?? 0
        if list?.refusal != nil { return Line("not on the server", Style(.red, [.bold])) }
        switch world.connection {
        case .offline:
            let queued = unconfirmed > 0 ? ", \(unconfirmed) queued" : ""
            return Line("offline" + queued, Style(.yellow, [.bold]))
        case .connecting where list?.standing.isLive != true:
            return Line("connecting" + (unconfirmed > 0 ? ", \(unconfirmed) queued" : ""), Style(.yellow))
        default:
            guard let list else { return Line("online", Style(.green)) }
            if unconfirmed > 0 { return Line("saving \(unconfirmed)", Style(.yellow)) }
            return list.standing.isLive ? Line("synced", Style(.green)) : Line("loading", Style(.yellow))
        }
    }

    private static func latency(_ world: World) -> Line {
        guard world.isOnline, let latency = world.latency else { return Line() }
        return Line(latency == 0 ? " · <1 ms" : " · \(latency) ms", .dim)
    }
}
