extension TextChange {
    /// Creates the change from `old` to `new` by whole words. For example, the change from 12 to 13 replaces the whole
    /// 12, so that it conflicts with somebody else's change from 12 to 22. As few words as possible are changed, unless
    /// the texts have very little in common.
    ///
    /// Law: `TextChange(from: old, to: new).applied(to: old) == new`.
    ///
    /// - Complexity: linear in the texts, and in the words of the part that differs times the number of differences.
    public init(from old: String, to new: String) {
        self.init()
        let (old, new) = (Array(old.utf8), Array(new.utf8))
        let (start, end) = Self.inCommon(old, new)
        var known: [ArraySlice<UInt8>: Int] = [:]
        let before = NumberedWords(old, start..<old.count - end, &known)
        let after = NumberedWords(new, start..<new.count - end, &known)
        var (oldWord, newWord, kept) = (0, 0, 0)
        // The ends count as a match, too.
        for match in WordMatches(before.numbers, after.numbers).pairs + [(before.count, after.count)] {
            var (gone, come) = (oldWord..<match.old, newWord..<match.new)
            (oldWord, newWord) = (match.old + 1, match.new + 1)
            if gone.isEmpty || come.isEmpty {
                let way = gone.isEmpty ? after.slide(come, limit: kept) : before.slide(gone, limit: kept)
                (gone, come) = (gone.moved(by: -way), come.moved(by: -way))
            }
            if gone.isEmpty && come.isEmpty {
                kept += 1
                continue
            }
            append(Splice(at: before.ends[gone.lowerBound], removed: before.text(gone), inserted: after.text(come)))
            // At least one word must stay before the next splice.
            kept = 0
        }
    }

    /// Returns how many bytes are the same at the start and at the end, up to a place that is certainly a word
    /// boundary: before a space.
    private static func inCommon(_ old: [UInt8], _ new: [UInt8]) -> (start: Int, end: Int) {
        func isEnd(_ bytes: [UInt8], _ index: Int) -> Bool {
            switch bytes[index] {
            case 0x20, 0x09: true
            case 0x0A: index == 0 || bytes[index - 1] != 0x0D
            default: false
            }
        }
        var start = zip(old, new).prefix { $0 == $1 }.count
        if start == old.count, start == new.count { return (start, 0) }
        while start > 0, start == min(old.count, new.count) || old[start] != new[start] || !isEnd(old, start) {
            start -= 1
        }
        let limit = min(old.count, new.count) - start
        var end = zip(old.reversed(), new.reversed()).prefix(limit).prefix { $0 == $1 }.count
        while end > 0, !isEnd(old, old.count - end) || !isEnd(new, new.count - end) { end -= 1 }
        return (start, end)
    }
}

/// The words of a part of a text, as numbers; equal words have equal numbers.
private struct NumberedWords {
    private let bytes: [UInt8]
    /// The start of the first word, and the end of each word.
    let ends: [Int]
    let numbers: [Int]

    init(_ bytes: [UInt8], _ range: Range<Int>, _ known: inout [ArraySlice<UInt8>: Int]) {
        self.bytes = bytes
        ends = [range.lowerBound] + Words.ends(of: bytes[range])
        numbers = zip(ends, ends.dropFirst()).map { start, end in
            let word = bytes[start..<end]
            if let number = known[word] { return number }
            known[word] = known.count
            return known.count - 1
        }
    }

    var count: Int { numbers.count }

    func text(_ words: Range<Int>) -> String {
        String(decoding: bytes[ends[words.lowerBound]..<ends[words.upperBound]], as: UTF8.self)
    }

    /// Returns by how many words an insertion or a deletion can move to the left, with the same result, so that it
    /// begins with a space: `{+ [two]+} [one]` instead of `[{+two] [+}one]`.
    func slide(_ words: Range<Int>, limit: Int) -> Int {
        var way = 0
        while !words.isEmpty, bytes[ends[words.lowerBound - way]] != 0x20 {
            guard way < limit, numbers[words.lowerBound - 1 - way] == numbers[words.upperBound - 1 - way] else {
                return 0
            }
            way += 1
        }
        return way
    }
}

extension Range<Int> {
    fileprivate func moved(by distance: Int) -> Range<Int> { lowerBound + distance..<upperBound + distance }
}

/// The words that two texts have in common: a longest common subsequence.
///
/// The greedy algorithm of E. W. Myers, "An O(ND) Difference Algorithm and Its Variations" (1986), with a limit: texts
/// with more than `maxDifferences` are treated as equal only at their start and end.
private struct WordMatches {
    /// The maximum number of differences that the search allows; each costs up to one step for every word.
    private static let maxDifferences = 400

    private(set) var pairs: [(old: Int, new: Int)] = []
    private let old: [Int]
    private let new: [Int]

    init(_ old: [Int], _ new: [Int]) {
        (self.old, self.new) = (old, new)
        if let rounds = search() { traceBack(rounds) } else { matchEnds() }
    }

    /// Returns how far each diagonal (`old - new`) can be followed with 0, 1, 2 … differences, or nil if the end is not
    /// reached.
    private func search() -> [[Int]]? {
        var rounds: [[Int]] = []
        for differences in 0...min(old.count + new.count, Self.maxDifferences) {
            var reached = [Int](repeating: 0, count: 2 * differences + 1)
            for diagonal in stride(from: -differences, through: differences, by: 2) {
                var place = rounds.last.map { Self.start(diagonal, differences, $0).old } ?? 0
                while place < old.count, place - diagonal < new.count, place - diagonal >= 0,
                    old[place] == new[place - diagonal]
                {
                    place += 1
                }
                reached[diagonal + differences] = place
                if place >= old.count, place - diagonal >= new.count { return rounds + [reached] }
            }
            rounds.append(reached)
        }
        return nil
    }

    /// Returns where a round begins on a diagonal, and the diagonal on which the round before it ended.
    private static func start(_ diagonal: Int, _ differences: Int, _ before: [Int]) -> (old: Int, from: Int) {
        let last = differences - 1
        func reached(_ diagonal: Int) -> Int { abs(diagonal) <= last ? before[diagonal + last] : -1 }
        // One more word is removed from the old text, or added from the new one, whichever gets further.
        return reached(diagonal - 1) >= reached(diagonal + 1)
            ? (reached(diagonal - 1) + 1, diagonal - 1) : (reached(diagonal + 1), diagonal + 1)
    }

    private mutating func traceBack(_ rounds: [[Int]]) {
        var (place, diagonal) = (old.count, old.count - new.count)
        for differences in (0..<rounds.count).reversed() {
            let start =
                differences == 0 ? (old: 0, from: 0) : Self.start(diagonal, differences, rounds[differences - 1])
            while place > start.old {
                place -= 1
                pairs.append((place, place - diagonal))
            }
            if differences > 0 { place = start.from < diagonal ? start.old - 1 : start.old }
            diagonal = start.from
        }
        pairs.reverse()
    }

    private mutating func matchEnds() {
        let first = zip(old, new).prefix { $0 == $1 }.count
        let last = zip(old.reversed(), new.reversed()).prefix(min(old.count, new.count) - first).prefix { $0 == $1 }
            .count
        pairs = (0..<first).map { ($0, $0) } + (0..<last).reversed().map { (old.count - 1 - $0, new.count - 1 - $0) }
    }
}
