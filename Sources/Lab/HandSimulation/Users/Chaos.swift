import HandCore

/// Random deltas of every shape: blocks, edits on moves, several runs in one gap.
package struct Chaos {
    package var random: SplitMix64

    package init(seed: UInt64) {
        random = SplitMix64(seed: seed)
    }

    package mutating func item() -> Item {
        let text = String(random.next() % 1000, radix: 36)
        let content: Content =
            switch random.next(below: 6) {
            case 0: .card(Card(code: UInt8(random.next(below: 53))) ?? .faceDown)
            case 1: .note(text + "é\n")
            case 2: .link(text, url: "https://example.org/" + text)
            case 3: .heading(text + "🂡")
            case 4: .unknown(Content.Kind(rawValue: 900), Array(text.utf8))
            default: .task(text, done: random.next() & 1 == 0)
            }
        return Item(id: .random(using: &random), level: UInt8(random.next(below: 4)), content: content)
    }

    package mutating func items(_ count: Int) -> [Item] {
        (0..<count).map { _ in item() }
    }

    package mutating func change(for content: Content) -> Change {
        var change = Change()
        let text = random.next(below: 3) == 0 ? "c" + String(random.next() % 1000, radix: 36) : phrase(content.text)
        switch content {
        case .card: change.card = Card(code: UInt8(random.next(below: 53)))
        case .unknown: change.bytes = Array(text.utf8)
        case .task:
            if random.next() & 1 == 0 { change = content.rewording(text) }
            if change.isEmpty || random.next() & 1 == 0 { change.done = random.next() & 1 == 0 }
        case .link:
            if random.next() & 1 == 0 { change = content.rewording(text) }
            if change.isEmpty || random.next() & 1 == 0 { change.url = content.rewording(url: text).url }
        case .note, .heading: change = content.rewording(text)
        }
        if random.next(below: 4) == 0 {
            let level = UInt8(random.next(below: 16))
            change =
                change.isEmpty || random.next() & 1 == 0
                ? Change(level: level) : change.followed(by: Change(level: level))
        }
        return change
    }

    /// Returns the text with one or two words added, replaced or removed, at any place.
    private mutating func phrase(_ text: String) -> String {
        var words = text.split(separator: " ").map(String.init)
        for _ in 0...random.next(below: 2) {
            let place = random.next(below: words.count + 1)
            let word = ["", "é", "買", "👩‍👩‍👧-"][random.next(below: 4)] + UniqueWords.fresh(&random)
            switch random.next(below: 5) {
            case 0...1 where place < words.count: words[place] = word
            case 2 where place < words.count: words.remove(at: place)
            default: words.insert(word, at: place)
            }
        }
        return words.joined(separator: " ")
    }

    /// Returns a delta with about `size` changes of `list`.
    package mutating func delta(on list: some EditableList, size: Int) -> Delta {
        let count = list.count
        var fates: [Int: Int] = [:]
        for _ in 0..<size where count > 0 {
            let start = random.next(below: count)
            let fate = 1 + random.next(below: 3)
            let run = random.next(below: 4) == 0 ? 1 + random.next(below: 5) : 1
            for index in start..<min(count, start + run) { fates[index] = fate }
        }
        let picks = fates.filter { $0.value == 3 }.keys.sorted()
        var gaps: [Int: [Delta.Component]] = [:]
        for (slot, origin) in picks.enumerated() {
            let near = slot > 0 && random.next(below: 3) == 0
            let gap = near ? picks[slot - 1] : random.next(below: count + 1)
            let change = random.next(below: 4) == 0 ? change(for: list[origin].content) : nil
            gaps[gap, default: []].append(.drop(slot..<slot + 1, side(), change))
        }
        for _ in 0..<random.next(below: size + 1) {
            let fresh = items(1 + (random.next(below: 4) == 0 ? random.next(below: 12) : 0))
            gaps[random.next(below: count + 1), default: []].append(.insert(fresh, side()))
        }
        var components: [Delta.Component] = []
        for index in Set(fates.keys).union(gaps.keys).sorted() {
            components.append(.keep(index - components.reduce(0) { $0 + $1.oldCount }))
            components += gaps[index] ?? []
            switch fates[index] {
            case 1: components.append(.edit(change(for: list[index].content)))
            case 2: components.append(.delete(1))
            case 3: components.append(.pick(1))
            default: break
            }
        }
        do { return try Delta(components) } catch { preconditionFailure("\(components): \(error)") }
    }

    private mutating func side() -> Side { random.next() & 1 == 0 ? .after : .before }

    /// Returns one edit of a list of tasks, as a person makes it.
    package mutating func edit(on list: some EditableList) -> Delta {
        let count = list.count
        let choice = count == 0 ? 0 : random.next(below: 4)
        if choice == 0 {
            let item = Item(id: .random(using: &random), content: .task("n", done: false))
            return .inserting([item], at: random.next(below: count + 1), side())
        }
        let index = random.next(below: count)
        return switch choice {
        case 1: .deleting(index..<index + 1)
        case 2: .moving(index..<index + 1, to: random.next(below: count + 1), side())
        default: .editing(at: index, list[index].content.rewording("e\(random.next() % 100)"))
        }
    }
}
