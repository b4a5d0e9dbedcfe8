import HandCore
import HandFormats
import HandSimulation
import HandWire

enum DeltaTarget {
    /// The maximum length of lists that are made.
    private static let longest = 2_000

    /// Reads two deltas, one after the other; the last byte chooses the list.
    static func run(_ bytes: [UInt8]) throws {
        guard let seed = bytes.last else { return }
        let pair = try withUnsafe(Array(bytes.dropLast()))
        guard let first = pair.first else { return }
        for delta in pair {
            try canonical(delta)
            _ = delta.isIdentity
        }
        let second = pair.count > 1 ? pair[1] : first
        // Deltas that fit no list are transformed too: a server may receive them.
        _ = second.transformed(over: first, as: .later)
        guard max(first.reach, second.reach) <= longest else { return }
        try laws(first, second, on: list(seed: UInt64(seed), first, second))
    }

    private static func withUnsafe(_ bytes: [UInt8]) throws -> [Delta] {
        bytes.withUnsafeBytes { all in
            var reader = WireReader(all)
            var found: [Delta] = []
            while found.count < 2, let delta = try? reader.delta() { found.append(delta) }
            return found
        }
    }

    /// Checks that a delta has one form: in bytes, in JSON, and as components.
    private static func canonical(_ delta: Delta) throws {
        try check(try Delta(delta.components) == delta, "a delta was not in normal form: \(delta.components)")
        var writer = WireWriter()
        writer.delta(delta)
        let again = try writer.bytes.withUnsafeBytes { all in
            var reader = WireReader(all)
            return try reader.delta()
        }
        try check(again == delta, "a delta does not read back from its bytes: \(delta.components)")
        try check(try JSON.delta(from: JSONField(JSON.delta(delta))) == delta, "a delta does not read back from JSON")
    }

    /// Returns a list whose items have the fields that the deltas change, as far as that can be derived.
    private static func list(seed: UInt64, _ first: Delta, _ second: Delta) -> Hand {
        var chaos = Chaos(seed: seed)
        var items = chaos.items(max(first.reach, second.reach) + Int(seed % 3))
        if seed % 4 != 0 {
            for index in items.indices { items[index].content = .link("text \(index)", url: "url") }
        }
        if seed % 4 == 1 {
            for index in items.indices { items[index].content = .task("text \(index)", done: false) }
        }
        for (index, change) in edits(first) {
            if !change.text.isIdentity, let text = original(of: change.text), let url = original(of: change.url) {
                items[index].content = seed % 4 == 1 ? .task(text, done: false) : .link(text, url: url)
            }
        }
        return Hand(items)
    }

    /// Returns the changes of a delta to items that stay in place.
    private static func edits(_ delta: Delta) -> [(index: Int, change: Change)] {
        delta.placed.compactMap { step in
            if case .edit(let change) = step.component { (step.old.lowerBound, change) } else { nil }
        }
    }

    /// Returns a text that contains what the splices remove, where they remove it, or nil if it would be very long.
    private static func original(of change: TextChange) -> String? {
        var text = ""
        for splice in change.splices {
            guard splice.at < 1 << 16 else { return nil }
            text += String(repeating: " ", count: splice.at - text.utf8.count) + splice.removed
        }
        return text + " end"
    }

    private static func laws(_ first: Delta, _ second: Delta, on list: Hand) throws {
        guard let afterFirst = try? list.applying(first) else { return }
        try check(afterFirst.brokenInvariant() == nil, "the tree is broken: \(afterFirst.brokenInvariant() ?? "")")
        let plain = try NaiveList(Array(list)).applying(first).items
        try check(Array(afterFirst) == plain, "a delta does something else than its components say")
        let inverse = first.inverted(on: list)
        try check(try afterFirst.applying(inverse) == list, "the inverse does not lead back: \(first.components)")
        _ = DeltaText.lines(first, from: list, to: afterFirst)
        try canonical(inverse)
        if let both = try? afterFirst.applying(second) {
            try check(
                try list.applying(first.composed(with: second)) == both, "composing is not doing one after the other")
        }
        guard let afterSecond = try? list.applying(second) else { return }
        let left = second.transformed(over: first, as: .later)
        let right = first.transformed(over: second, as: .earlier)
        try canonical(left)
        try canonical(right)
        try check(
            try afterFirst.applying(left) == afterSecond.applying(right),
            "TP1: \(first.components) and \(second.components)")
        _ = Delta.superseded(earlier: first, later: second)
        if let a = SingleEdit(second), let b = SingleEdit(first) {
            let (rest, passed) = [SingleEdit.PositionShift(b)].withUnsafeBufferPointer { a.transformed(over: $0[...]) }
            let quick = rest.map { second.placed(at: $0) } ?? .identity
            try check(
                passed == 0 || quick == left,
                "a single edit is transformed differently: \(second.components) over \(first.components)")
        }
    }
}
