import HandCore

/// One thing that people do or that befalls the system. Whatever steps are left out before it, it means something: places
/// are drawn from its dice when it happens.
public struct Step: Sendable {
    /// Milliseconds before it.
    let pause: UInt64
    let kind: Weather.Kind
    let client: Int
    let list: Int
    let dice: UInt64

    /// The steps of a seed.
    static func plan(_ weather: Weather, count: Int) -> [Step] {
        var random = SplitMix64(seed: weather.seed ^ 0x57E9)
        let kinds = Weather.Kind.allCases.filter { weather.weights[$0] != nil }
        let total = kinds.reduce(0) { $0 + (weather.weights[$1] ?? 0) }
        return (0..<count).map { _ in
            var left = random.next(below: total)
            let kind = kinds.first { kind in
                left -= weather.weights[kind] ?? 0
                return left < 0
            }
            return Step(
                pause: UInt64(random.next(below: weather.pause + 1)), kind: kind ?? .insert,
                client: random.next(below: weather.clients), list: random.next(below: weather.lists),
                dice: random.next())
        }
    }
}

extension Step: CustomStringConvertible {
    public var description: String {
        let subject: String =
            switch kind {
            case .storm, .killServer, .stopServer, .fullDisk, .failFlush, .slowDisk, .jumpClock, .stranger: ""
            case .cut, .vanish, .stall, .killClient, .tearClient, .garble, .copyClient: " client \(client)"
            default: " client \(client), list \(list)"
            }
        return "after \(pause) ms: \(kind)\(subject)"
    }
}
