import HandCore
import HandFormats
import HandSync

/// The connection, and what waits for it.
struct ConnectionScreen: Screen {
    static let kind = ScreenKind.connection

    var prompt: Prompt?

    var route: Route { .connection }

    func title(_ world: World) -> Line { Line("Connection", .bold) }

    mutating func perform(_ action: Action, count: Int?, _ world: inout World) -> [Command] {
        switch action {
        case .refresh: [.reconnect]
        case .back: [.back]
        default: []
        }
    }

    func refusal(of action: Action, _ world: World) -> String? {
        action == .refresh && world.isOnline ? "the server is there" : nil
    }

    func draw(on canvas: inout Canvas, _ world: World) {
        var lines = [Line("server   \(world.server)"), Line("you      \(world.person)"), state(world)]
        if let latency = world.latency, world.isOnline {
            lines.append(Line("answers  in \(latency == 0 ? "<1" : "\(latency)") ms"))
        }
        lines.append(Line())
        for list in world.lists.values.sorted(by: { $0.name < $1.name }) {
            let waiting = list.standing.unconfirmed
            lines.append(
                Line(
                    "\(list.name): revision \(list.standing.revision), \(Words.count(waiting, "edit")) not saved"
                ))
        }
        Frame.write(lines, on: &canvas, world)
    }

    private func state(_ world: World) -> Line {
        switch world.connection {
        case .online: return Line("state    online", Style(.green))
        case .connecting: return Line("state    connecting", Style(.yellow))
        case .offline(let reason, _):
            let retry =
                world.retryAt.map { "; next try in \(($0 - min($0, world.now) + 999) / 1_000) s" } ?? "; given up"
            return Line("state    offline: \(reason)\(retry)", Style(.yellow, [.bold]))
        }
    }

    func deadline(_ world: World) -> UInt64? { world.isOnline ? nil : world.now + 1_000 }
}
