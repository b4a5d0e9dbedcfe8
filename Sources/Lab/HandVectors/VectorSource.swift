import HandCore
import HandFormats

/// Random values for test vectors: small lists of every kind, and deltas of every shape on them. The seed determines
/// everything.
struct VectorSource {
    private var random: SplitMix64

    init(seed: UInt64) {
        random = SplitMix64(seed: seed)
    }

    /// Texts that other implementations may get wrong: several code points in one character, several characters that
    /// look like one, right-to-left letters, control characters, the syntax of JSON and Markdown.
    static let texts = [
        "", "a", "Milk", "two words", " spaces around ", "line one\nline two", "tab\there", "quote \" and \\ backslash",
        "é", "e\u{301}", "👩‍👩‍👧", "🇩🇪", "🂡", "שלום", "日本語", "naïve – “quoted”", "null\u{0}byte",
        "\u{7F}\u{85}", "\u{2028}",
        "- [x] not a box", "\r\n", "\u{FEFF}mark", "\u{10FFFF}",
    ]

    private static let urls = ["https://example.org/", "https://example.org/a?b=c&d=%20#e", "", "https://例え.jp/（）"]

    mutating func next(below bound: Int) -> Int {
        random.next(below: bound)
    }

    private mutating func coin() -> Bool { next(below: 2) == 0 }

    mutating func text() -> String { Self.texts[next(below: Self.texts.count)] }

    private mutating func url() -> String { Self.urls[next(below: Self.urls.count)] }

    private mutating func card() -> Card { Card(code: UInt8(next(below: 53))) ?? .faceDown }

    mutating func word() -> UInt64 { random.next() }

    private mutating func bytes() -> [UInt8] {
        (0..<next(below: 5)).map { _ in UInt8(truncatingIfNeeded: word()) }
    }

    mutating func item() -> Item {
        let content: Content =
            switch next(below: 8) {
            case 0: .card(card())
            case 1: .note(text())
            case 2: .link(text(), url: url())
            case 3: .heading(text())
            case 4: .unknown(Content.Kind(rawValue: coin() ? 6 : 900), bytes())
            default: .task(text(), done: coin())
            }
        return Item(id: .random(using: &random), content: content)
    }

    mutating func items(_ count: Int) -> [Item] {
        (0..<count).map { _ in item() }
    }

    private mutating func change(for content: Content) -> Change {
        var change = Change()
        switch content {
        case .card: change.card = card()
        case .note(let text), .heading(let text): change.text = textChange(of: text)
        case .unknown: change.bytes = bytes()
        case .task:
            let fields = 1 + next(below: 3)
            if fields & 1 != 0 { change = content.rewording(text()) }
            if fields & 2 != 0 { change.done = coin() }
        case .link:
            let fields = 1 + next(below: 3)
            if fields & 1 != 0 { change = content.rewording(text()) }
            if fields & 2 != 0 { change.url = content.rewording(url: url()).url }
        }
        return change
    }

    /// Returns a change to another text, or splices at random places, which need not be whole words.
    private mutating func textChange(of old: String) -> TextChange {
        if coin() { return TextChange(from: old, to: text()) }
        let scalars = Array(old.unicodeScalars)
        func part(_ range: Range<Int>) -> String {
            var part = String.UnicodeScalarView()
            part.append(contentsOf: scalars[range])
            return String(part)
        }
        let cuts = (0..<2 * (1 + next(below: 3))).map { _ in next(below: scalars.count + 1) }.sorted()
        let splices = stride(from: 0, to: cuts.count, by: 2).map { index in
            Splice(
                at: part(0..<cuts[index]).utf8.count, removed: part(cuts[index]..<cuts[index + 1]),
                inserted: coin() ? "" : text())
        }
        return Self.certain { try TextChange(splices) }
    }

    private mutating func side() -> Side { coin() ? .after : .before }

    // MARK: Deltas

    private enum Fate {
        case keep, edit, delete, pick
    }

    /// Returns a delta on the items. About half of them are edited, deleted or moved, often together with their
    /// neighbours. Items move in blocks or alone, and some are edited as well. There are up to three insertions.
    mutating func delta(on items: [Item]) -> Delta {
        var fates: [Fate] = []
        for _ in items {
            let repeats = !fates.isEmpty && next(below: 3) == 0
            let choices: [Fate] = [.keep, .keep, .keep, .edit, .delete, .pick, .pick]
            fates.append(repeats ? fates[fates.count - 1] : choices[next(below: choices.count)])
        }
        var gaps = [[Delta.Component]](repeating: [], count: items.count + 1)
        let origins = fates.indices.filter { fates[$0] == .pick }
        var slot = 0
        while slot < origins.count {
            let count = min(1 + next(below: 2) * next(below: 3), origins.count - slot)
            let change = count == 1 && next(below: 3) == 0 ? change(for: items[origins[slot]].content) : nil
            gaps[next(below: gaps.count)].append(.drop(slot..<slot + count, side(), change))
            slot += count
        }
        for _ in 0..<next(below: 4) {
            let new = self.items(1 + next(below: 2) * next(below: 3))
            gaps[next(below: gaps.count)].append(.insert(new, side()))
        }
        var components = gaps[0]
        for (index, fate) in fates.enumerated() {
            switch fate {
            case .keep: components.append(.keep(1))
            case .edit: components.append(.edit(change(for: items[index].content)))
            case .delete: components.append(.delete(1))
            case .pick: components.append(.pick(1))
            }
            components += gaps[index + 1]
        }
        return Self.certain { try Delta(components) }
    }

    /// Returns the result of a function that cannot fail here.
    static func certain<Value>(_ body: () throws -> Value) -> Value {
        do { return try body() } catch { preconditionFailure("\(error)") }
    }

    // MARK: Other values

    mutating func rules() -> Rules {
        let kinds = (Content.Kind.known + [Content.Kind(rawValue: 900)]).filter { _ in coin() }
        return Rules(
            maximumCount: coin() ? Rules.unlimitedCount : next(below: 1000), allowedKinds: coin() ? nil : Set(kinds),
            maximumSize: coin() ? Rules.defaultSize : next(below: 1 << 20), hasDeck: coin())
    }

    mutating func commit(of delta: Delta, on list: Hand) -> Commit {
        let revision = 1 + next(below: 1 << 40)
        return Commit(
            revision: revision, author: word() >> UInt64(next(below: 64)), sequence: word() >> UInt64(next(below: 64)),
            base: revision - min(revision, 1 + next(below: 300)), time: 1_767_225_600_000 + word() % 100_000_000_000,
            count: list.count + delta.growth, digest: word(), delta: delta)
    }
}
