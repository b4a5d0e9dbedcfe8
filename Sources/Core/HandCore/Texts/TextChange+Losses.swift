// What somebody put into a text, or took out of it, and somebody else changed at the same time.

extension TextChange {
    /// What an earlier change made of a place, and a later one, made on the same text, replaces.
    public struct Loss: Hashable, Sendable {
        /// Where `present` stands, in bytes of the text after both changes.
        public let at: Int
        /// What stood there before both.
        public let original: String
        /// What the earlier change made of it, and nobody reads any more.
        public let lost: String
        /// What stands there now.
        public let present: String

        public init(at: Int, original: String, lost: String, present: String) {
            self.at = at
            self.original = original
            self.lost = lost
            self.present = present
        }

        /// The change that puts back what was lost, made on the text after both.
        package var recovery: TextChange { TextChange(replacing: present, at: at, with: lost) }
    }

    /// Where the two changes overlap and do not make the same of it.
    public static func losses(earlier: TextChange, later: TextChange) -> [Loss] {
        var losses: [Loss] = []
        var shift = 0
        for meeting in meetings(earlier, later) {
            let (lost, present) = (meeting.earlierText, meeting.laterText)
            if meeting.isOverlap, !lost.hasSameBytes(as: present) {
                let at = meeting.range.lowerBound + shift
                losses.append(Loss(at: at, original: meeting.originalText, lost: lost, present: present))
            }
            shift += (meeting.later.isEmpty ? meeting.earlier : meeting.later).reduce(0) { $0 + $1.growth }
        }
        return losses
    }

    /// The same where the earlier change has been made and `later` was carried over it: `inverse` takes the earlier one back.
    ///
    /// What was only removed has left no words behind. It counts as lost if the later change puts some of them back.
    package static func losses(ofWhatTakesBack inverse: TextChange, to later: TextChange) -> [Loss] {
        var losses: [Loss] = []
        var shift = 0
        var removed: Splice?
        for meeting in meetings(inverse, later) {
            let at = meeting.range.lowerBound
            let insertion = meeting.later.first.flatMap { $0.removed.isEmpty && meeting.earlier.isEmpty ? $0 : nil }
            if let removed, removed.at == at, let insertion, Words.haveCommon(removed.inserted, insertion.inserted) {
                losses.append(
                    Loss(at: at + shift, original: removed.inserted, lost: "", present: insertion.inserted))
            } else if meeting.isOverlap, !meeting.originalText.hasSameBytes(as: meeting.laterText) {
                losses.append(
                    Loss(
                        at: at + shift, original: meeting.earlierText, lost: meeting.originalText,
                        present: meeting.laterText))
            }
            removed = meeting.earlier.first.flatMap { $0.removed.isEmpty && meeting.later.isEmpty ? $0 : nil }
            shift += meeting.later.reduce(0) { $0 + $1.growth }
        }
        return losses
    }

    /// This change without the words that another one, made on the same text, has changed; and what that leaves of it. Made
    /// one after the other, the two are this change.
    func sparing(_ other: TextChange) -> (allowed: TextChange, left: TextChange) {
        if isIdentity || other.isIdentity { return (self, TextChange()) }
        var (allowed, left) = (TextChange(), TextChange())
        for meeting in Self.meetings(other, self) {
            for splice in meeting.later {
                let parts = splice.parts(changedBy: meeting.earlier)
                // What comes in the place of all of them comes with the first that goes.
                let first = parts.firstIndex { !$0.isChanged } ?? 0
                for (index, part) in parts.enumerated() {
                    let piece = splice.part(part.range, inserted: index == first ? splice.inserted : "")
                    if part.isChanged { left.append(piece) } else { allowed.append(piece) }
                }
            }
        }
        return (allowed, left)
    }

    /// What this change removes and another one, made on the same text, leaves there: on the text after the other.
    package func remainder(after other: TextChange) -> TextChange {
        var result = TextChange()
        var shift = 0
        for meeting in Self.meetings(self, other) {
            var (cuts, passed, start) = (meeting.later[...], shift, 0)
            for splice in meeting.earlier {
                var inserted = splice.inserted
                start = max(start, splice.at)
                func keep(until end: Int) {
                    guard end > start || meeting.later.isEmpty else { return }
                    let part = splice.part(start..<max(start, end), inserted: inserted)
                    result.append(Splice(at: start + passed, removed: part.removed, inserted: inserted))
                    inserted = ""
                }
                while let cut = cuts.first, cut.at < splice.range.upperBound {
                    keep(until: cut.at)
                    start = max(start, cut.range.upperBound)
                    passed += cut.growth
                    cuts.removeFirst()
                }
                keep(until: splice.range.upperBound)
            }
            shift += meeting.later.reduce(0) { $0 + $1.growth }
        }
        result.settle()
        return result
    }

    /// Words of the text that are replaced by others.
    public init(replacing removed: String, at: Int, with inserted: String) {
        self.init()
        append(Splice(at: at, removed: removed, inserted: inserted))
    }
}

extension Splice {
    /// A part of what it removes, by bytes of the text.
    fileprivate func part(_ part: Range<Int>, inserted: String) -> Splice {
        let bytes = Array(removed.utf8)[part.lowerBound - at..<part.upperBound - at]
        return Splice(at: part.lowerBound, removed: String(decoding: bytes, as: UTF8.self), inserted: inserted)
    }

    /// What it removes, divided into what some splices of another change leave alone, and the rest: with what they replace goes
    /// what they write within, and blanks and marks between.
    fileprivate func parts(changedBy others: [Splice]) -> [(range: Range<Int>, isChanged: Bool)] {
        let met = others.filter { range.contains($0.at) && $0.at > at || $0.range.overlaps(range) }
        if met.isEmpty || range.isEmpty { return [(range, !met.isEmpty)] }
        var parts: [(range: Range<Int>, isChanged: Bool)] = []
        func add(_ range: Range<Int>, isChanged: Bool) {
            if range.isEmpty { return }
            if let last = parts.last, last.isChanged == isChanged {
                parts[parts.count - 1].range = last.range.lowerBound..<range.upperBound
            } else {
                parts.append((range, isChanged))
            }
        }
        /// Words that nobody has written within.
        func addGap(_ gap: Range<Int>) {
            let text = part(gap, inserted: "").removed
            let isTorn = met.contains { $0.removed.isEmpty && gap.lowerBound < $0.at && $0.at < gap.upperBound }
            if isTorn || !Words.hasAny(text) { return add(gap, isChanged: true) }
            // If a changed word in front of the gap stays, the blanks behind it stay, too. Otherwise the word would be glued
            // to what comes back, or to what follows the splice.
            let isAtEnd = gap.upperBound == range.upperBound && !Words.hasAny(text.suffix(1))
            let touches = parts.last?.isChanged == true && (isAtEnd || parts.count == 1 && !inserted.isEmpty)
            let start = gap.lowerBound + (touches ? Words.marks(before: text) : 0)
            add(gap.lowerBound..<start, isChanged: true)
            add(start..<gap.upperBound, isChanged: false)
        }
        var end = at
        for other in met where !other.removed.isEmpty {
            let changed = other.range.clamped(to: range)
            if changed.lowerBound > end {
                // The blanks in front of a word stay with it, so that it is not glued to the one before.
                let gap = part(end..<changed.lowerBound, inserted: "").removed
                let start =
                    changed.lowerBound - gap.reversed().prefix(while: \.isWhitespace).reduce(0) { $0 + $1.utf8.count }
                addGap(end..<start)
                add(start..<changed.lowerBound, isChanged: true)
            }
            add(changed, isChanged: true)
            end = max(end, changed.upperBound)
        }
        addGap(end..<range.upperBound)
        return parts
    }
}
