// Concurrent changes of the same place of a text: what one person changed and another overrode.

extension TextChange {
    /// What an earlier change put at one place of a text, and a later change, made on the same text, replaces.
    public struct Loss: Hashable, Sendable {
        /// The position of `present`, in bytes of the text after both changes.
        public let at: Int
        /// The text there before both changes.
        public let original: String
        /// The text that the earlier change put there, which the later one replaces.
        public let lost: String
        /// The text there after both changes.
        public let present: String

        public init(at: Int, original: String, lost: String, present: String) {
            self.at = at
            self.original = original
            self.lost = lost
            self.present = present
        }

        /// The change that restores the lost text, made on the text after both changes.
        package var recovery: TextChange { TextChange(replacing: present, at: at, with: lost) }
    }

    /// Returns the places where the two changes overlap and have different results.
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

    /// Returns the losses if the earlier change is already applied and `later` was transformed over it: `inverse`
    /// undoes the earlier one.
    ///
    /// A pure removal leaves no words that could be lost. The removal itself counts as lost if the later change puts
    /// some of the removed words back.
    package static func losses(ofWhatTakesBack inverse: TextChange, to later: TextChange) -> [Loss] {
        var losses: [Loss] = []
        var shift = 0
        var removed: Splice?
        for meeting in meetings(inverse, later) {
            let at = meeting.range.lowerBound
            let insertion = meeting.later.first.flatMap { $0.removed.isEmpty && meeting.earlier.isEmpty ? $0 : nil }
            if let removed, removed.at == at, let insertion, Words.haveCommon(removed.inserted, insertion.inserted) {
                losses.append(Loss(at: at + shift, original: removed.inserted, lost: "", present: insertion.inserted))
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

    /// Splits this change into the part that keeps the words that `other`, made on the same text, has changed, and the
    /// rest. Applied one after the other, the two parts are this change.
    func keepingWords(of other: TextChange) -> (allowed: TextChange, left: TextChange) {
        if isIdentity || other.isIdentity { return (self, TextChange()) }
        var (allowed, left) = (TextChange(), TextChange())
        for meeting in Self.meetings(other, self) {
            for splice in meeting.later {
                let parts = splice.parts(changedBy: meeting.earlier)
                // The whole replacement is inserted with the first part that is removed.
                let first = parts.firstIndex { !$0.isChanged } ?? 0
                for (index, part) in parts.enumerated() {
                    let piece = splice.part(part.range, inserted: index == first ? splice.inserted : "")
                    if part.isChanged { left.append(piece) } else { allowed.append(piece) }
                }
            }
        }
        return (allowed, left)
    }

    /// Returns what this change removes and `other`, made on the same text, leaves in place, as a change of the text
    /// after `other`.
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

    /// Creates a change that replaces one piece of text with another.
    public init(replacing removed: String, at: Int, with inserted: String) {
        self.init()
        append(Splice(at: at, removed: removed, inserted: inserted))
    }
}

extension Splice {
    /// Returns a splice that removes only a part of what this one removes. The part is a range of bytes of the text.
    fileprivate func part(_ part: Range<Int>, inserted: String) -> Splice {
        let bytes = Array(removed.utf8)[part.lowerBound - at..<part.upperBound - at]
        return Splice(at: part.lowerBound, removed: String(decoding: bytes, as: UTF8.self), inserted: inserted)
    }

    /// Divides the text that this splice removes into the parts that `others`, the splices of another change, leave
    /// alone, and the parts that they change. The changed parts include words that the others write within, and blanks
    /// and punctuation in between.
    fileprivate func parts(changedBy others: [Splice]) -> [(range: Range<Int>, isChanged: Bool)] {
        let met = others.filter { other in
            let isWithin = at < other.at && other.at < range.upperBound
            let isAround = other.at < at && at < other.range.upperBound
            return isWithin || isAround || other.range.overlaps(range)
        }
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
        /// Adds words that no other splice writes within as unchanged.
        func addGap(_ gap: Range<Int>) {
            let text = part(gap, inserted: "").removed
            let isTorn = met.contains { $0.removed.isEmpty && gap.lowerBound < $0.at && $0.at < gap.upperBound }
            if isTorn || !Words.hasAny(text) { return add(gap, isChanged: true) }
            // If a changed word in front of the gap stays, the blanks behind it stay, too. Otherwise the word would be
            // joined to the restored text, or to the text behind the splice.
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
                // The blanks in front of a word stay with it, so that it is not joined to the word before.
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
