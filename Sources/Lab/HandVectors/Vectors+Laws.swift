import HandCore
import HandFormats

// The answers to questions about lists and deltas, with values in JSON.

extension Vectors {
    typealias Members = [JSONValue.Member]

    static func apply(_ question: JSONField) throws(FormatError) -> Members {
        let after = try list(question["list"]).after(question["delta"]).list
        return [.init("result", JSON.items(after)), .init("digest", .string(Hex.text(after.digest)))]
    }

    static func transform(_ question: JSONField) throws(FormatError) -> Members {
        let list = try list(question["list"])
        let (first, afterFirst) = try list.after(question["first"])
        let (second, afterSecond) = try list.after(question["second"])
        let firstLeft = first.transformed(over: second, as: .earlier)
        let secondLeft = second.transformed(over: first, as: .later)
        return [
            .init("first", JSON.delta(firstLeft)), .init("second", JSON.delta(secondLeft)),
            .init("afterFirst", JSON.items(try afterFirst.after(secondLeft, "second"))),
            .init("afterSecond", JSON.items(try afterSecond.after(firstLeft, "first"))),
            .init("superseded", .array(Delta.superseded(earlier: first, later: second).map { loss($0, on: list) })),
        ]
    }

    private static func loss(_ superseded: Superseded, on list: Hand) -> JSONValue {
        .object(
            [.init("item", JSON.id(list[superseded.index].id))] + JSON.members(of: superseded.loss)
                + [.init("loser", superseded.loser == .earlier ? "first" : "second")])
    }

    static func compose(_ question: JSONField) throws(FormatError) -> Members {
        let list = try list(question["list"])
        let (first, middle) = try list.after(question["first"])
        let (second, _) = try middle.after(question["second"])
        let both = first.composed(with: second)
        return [.init("delta", JSON.delta(both)), .init("result", JSON.items(try list.after(both, "delta")))]
    }

    static func invert(_ question: JSONField) throws(FormatError) -> Members {
        let list = try list(question["list"])
        let (delta, after) = try list.after(question["delta"])
        let inverse = delta.inverted(on: list)
        return [
            .init("inverse", JSON.delta(inverse)), .init("result", JSON.items(try after.after(inverse, "inverse"))),
        ]
    }

    static func diff(_ question: JSONField) throws(FormatError) -> Members {
        let (old, new) = (try list(question["from"]), try list(question["to"]))
        return [.init("delta", JSON.delta(Delta(from: old, to: new)))]
    }

    static func digest(_ question: JSONField) throws(FormatError) -> Members {
        let list = try list(question["list"])
        return [
            .init("digest", .string(Hex.text(list.digest))),
            .init("hashes", .array(list.map { .string(Hex.text($0.hash)) })),
        ]
    }

    static func map(_ question: JSONField) throws(FormatError) -> Members {
        let delta = try JSON.delta(from: question["delta"])
        if question["gap"].isPresent {
            let gap = delta.map(gap: try question["gap"].count(), try JSON.side(from: question["side"]))
            return [.init("gap", JSONValue(gap))]
        }
        let index = delta.map(index: try question["index"].count())
        return [.init("index", index.map { JSONValue($0) } ?? .null)]
    }

    /// Reads the items of a question. As in every list, no id may occur twice.
    private static func list(_ field: JSONField) throws(FormatError) -> Hand {
        var items: [Item] = []
        var known: Set<ItemID> = []
        for place in try field.elements("an array of items") {
            let item = try JSON.item(from: place)
            guard known.insert(item.id).inserted else { throw place["id"].mismatch("an id that no item before has") }
            items.append(item)
        }
        return Hand(items)
    }
}

extension Hand {
    fileprivate func after(_ field: JSONField) throws(FormatError) -> (delta: Delta, list: Hand) {
        let delta = try JSON.delta(from: field)
        return (delta, try after(delta, field.path))
    }

    /// - Throws: `FormatError` at `place` if the delta does not fit.
    fileprivate func after(_ delta: Delta, _ place: String) throws(FormatError) -> Hand {
        do {
            return try applying(delta)
        } catch {
            let found =
                switch error {
                case .tooFewItems(let reach, _): "one that reaches to item \(reach)"
                case .change(.fieldsDoNotExist(let fields, let kind), let index):
                    "one that changes \(fields.names.joined(separator: ", ")) of the \(kind.name) at \(index)"
                case .change(.text(let error), let index): "at \(index): \(error)"
                }
            throw FormatError(place: place, expected: "a delta that fits a list of \(count)", found: found)
        }
    }
}
