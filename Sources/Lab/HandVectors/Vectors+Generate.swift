import HandCore
import HandFormats

extension Vectors {
    /// The seed of the vectors in `Tests/Data/Vectors`.
    package static let seed: UInt64 = 2026

    /// Returns the files of test vectors, one for each law, with named vectors first, then random ones. The same seed
    /// gives the same bytes on every machine.
    package static func generate(seed: UInt64) -> [(file: String, lines: [String])] {
        Law.allCases.enumerated().map { index, law in
            // Each law has its own source, so that a new vector in one file does not change the others.
            var source = VectorSource(seed: seed &+ UInt64(index))
            let vectors = named(law) + random(law, &source)
            return ("\(law.rawValue).jsonl", vectors.map { $0.line(of: law) })
        }
    }

    /// A test vector without its answer.
    struct Question {
        var name: String?
        var members: Members

        init(_ name: String?, _ members: JSONValue.Member...) {
            self.name = name
            self.members = members
        }

        /// Creates a question about two deltas on a list: concurrent for `transform`, one after the other for
        /// `compose`.
        init(_ name: String? = nil, on items: [Item], _ first: Delta, _ second: Delta) {
            self.init(
                name, .init("list", JSON.items(items)), .init("first", JSON.delta(first)),
                .init("second", JSON.delta(second)))
        }

        /// Returns the vector: the question, with the answer as `expect`.
        func line(of law: Law) -> String {
            var all: Members = [.init("law", .string(law.rawValue))]
            if let name { all.append(.init("name", .string(name))) }
            all += members
            all.append(.init("expect", Vectors.answer(JSONField(.object(all)))))
            return JSONValue.object(all).line
        }
    }

    private static func named(_ law: Law) -> [Question] {
        switch law {
        case .codec: namedCodec
        case .apply: namedApply
        case .transform: namedTransform
        case .map: namedMap
        case .compose: namedCompose
        case .invert, .diff, .digest: namedLists(law)
        }
    }

    // MARK: Random questions

    private static func random(_ law: Law, _ source: inout VectorSource) -> [Question] {
        (0..<60).flatMap { round -> [Question] in
            let items = source.items(source.next(below: 7))
            let delta = source.delta(on: items)
            let list: JSONValue.Member = .init("list", JSON.items(items))
            switch law {
            case .codec: return codecPair(round, items, delta, &source)
            case .apply, .invert: return [Question(nil, list, .init("delta", JSON.delta(delta)))]
            case .transform: return [Question(on: items, delta, source.delta(on: items))]
            case .compose: return [Question(on: items, delta, source.delta(on: after(delta, items)))]
            case .diff:
                return [Question(nil, .init("from", JSON.items(items)), .init("to", JSON.items(after(delta, items))))]
            case .digest: return [Question(nil, list)]
            case .map:
                let place = source.next(below: items.count + 3)
                let delta: JSONValue.Member = .init("delta", JSON.delta(delta))
                return [
                    Question(nil, delta, .init("index", JSONValue(place))),
                    Question(nil, delta, .init("gap", JSONValue(place)), .init("side", "after")),
                    Question(nil, delta, .init("gap", JSONValue(place)), .init("side", "before")),
                ]
            }
        }
    }

    /// Returns a value to encode, and its bytes to decode.
    private static func codecPair(
        _ round: Int, _ items: [Item], _ delta: Delta, _ source: inout VectorSource
    ) -> [Question] {
        let (type, value): (String, JSONValue) =
            switch round % 4 {
            case 0: ("item", JSON.item(source.item()))
            case 1: ("delta", JSON.delta(delta))
            case 2: ("commit", JSON.commit(source.commit(of: delta, on: Hand(items))))
            default: ("rules", JSON.rules(source.rules()))
            }
        return bothWays(nil, type, value)
    }

    static func bothWays(_ name: String?, _ type: String, _ value: JSONValue) -> [Question] {
        let encode = Question(name, .init(type, value))
        let all = JSONField(.object([.init("law", "codec")] + encode.members))
        guard let hex = answer(all)["hex"] else { preconditionFailure("\(value.line) cannot be encoded") }
        return [encode, Question(name.map { $0 + ", decoded" }, .init("type", .string(type)), .init("hex", hex))]
    }

    private static func after(_ delta: Delta, _ items: [Item]) -> [Item] {
        VectorSource.certain { Array(try Hand(items).applying(delta)) }
    }
}
