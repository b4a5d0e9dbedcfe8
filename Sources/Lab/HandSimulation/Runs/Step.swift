import HandCore

/// One thing that people do or that goes wrong. A step makes sense whichever earlier steps are left out: `dice` decides
/// on places only when the step happens.
package struct Step: Sendable {
    /// The pause before the step in milliseconds.
    let pause: UInt64
    let kind: FaultSchedule.Kind
    let client: Int
    let list: Int
    let dice: UInt64

    static func plan(_ schedule: FaultSchedule, count: Int) -> [Step] {
        var random = SplitMix64(seed: schedule.seed ^ 0x57E9)
        let kinds = FaultSchedule.Kind.allCases.filter { schedule.weights[$0] != nil }
        let total = kinds.reduce(0) { $0 + (schedule.weights[$1] ?? 0) }
        return (0..<count).map { _ in
            var left = random.next(below: total)
            let kind = kinds.first { kind in
                left -= schedule.weights[kind] ?? 0
                return left < 0
            }
            return Step(
                pause: UInt64(random.next(below: schedule.pause + 1)), kind: kind ?? .insert,
                client: random.next(below: schedule.clients), list: random.next(below: schedule.lists),
                dice: random.next())
        }
    }
}

extension Step: CustomStringConvertible {
    package var description: String {
        let subject: String =
            switch kind {
            case .storm, .killServer, .stopServer, .fullDisk, .failFlush, .slowDisk, .jumpClock, .stranger,
                .cutOffServer, .failOver:
                ""
            case .cut, .vanish, .stall, .killClient, .tearClient, .garble, .copyClient, .moveClient: " client \(client)"
            default: " client \(client), list \(list)"
            }
        return "after \(pause) ms: \(kind)\(subject)"
    }
}
