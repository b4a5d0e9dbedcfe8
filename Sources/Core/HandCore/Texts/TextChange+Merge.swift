/// Merging two changes of one text: defined once, by `meetings`; `transformed` and `followed` derive from it.
///
/// Two splices *overlap* if their ranges share a byte, or if one is an insertion strictly inside the other's range.
/// Splices connected by overlaps are resolved together: the later change determines the union of their ranges. All
/// other splices are applied. An insertion at the start of a replaced range goes left of it. Of two insertions at the
/// same place, the earlier one goes left.
extension TextChange {
    /// A place of the text that splices of one change, or of both, affect.
    struct Meeting {
        fileprivate(set) var range: Range<Int>
        fileprivate(set) var earlier: [Splice]
        fileprivate(set) var later: [Splice]

        var isOverlap: Bool { !earlier.isEmpty && !later.isEmpty }

        /// The bytes here before both changes; each is removed by some splice.
        private var original: [UInt8] {
            var bytes = [UInt8](repeating: 0, count: range.count)
            for splice in earlier + later {
                let start = splice.at - range.lowerBound
                bytes.replaceSubrange(start..<start + splice.removed.utf8.count, with: splice.removed.utf8)
            }
            return bytes
        }

        /// Returns the text here after some of the splices.
        private func text(after splices: [Splice]) -> String {
            let original = original
            var result: [UInt8] = []
            var end = 0
            for splice in splices {
                result += original[end..<splice.at - range.lowerBound]
                result += splice.inserted.utf8
                end = splice.range.upperBound - range.lowerBound
            }
            result += original[end...]
            // Only changes of different texts can split a character. The result keeps the length, and fits no text.
            return String(validating: result, as: UTF8.self) ?? String(repeating: "\0", count: result.count)
        }

        var originalText: String { text(after: []) }
        var earlierText: String { text(after: earlier) }
        var laterText: String { text(after: later) }
    }

    /// Returns the places that two changes affect, from left to right.
    static func meetings(_ earlier: TextChange, _ later: TextChange) -> [Meeting] {
        var meetings: [Meeting] = []
        var (mine, theirs) = (earlier.splices[...], later.splices[...])
        while let isEarlier = isFirst(mine.first, theirs.first) {
            let splice = isEarlier ? mine.removeFirst() : theirs.removeFirst()
            if let last = meetings.last, splice.at < last.range.upperBound {
                let end = max(last.range.upperBound, splice.range.upperBound)
                meetings[meetings.count - 1].range = last.range.lowerBound..<end
            } else {
                meetings.append(Meeting(range: splice.range, earlier: [], later: []))
            }
            if isEarlier {
                meetings[meetings.count - 1].earlier.append(splice)
            } else {
                meetings[meetings.count - 1].later.append(splice)
            }
        }
        return meetings
    }

    /// Whether the earlier change's next splice comes first, or nil if none is left. At the same place, insertions come
    /// before replacements, and the earlier splice before the later.
    private static func isFirst(_ earlier: Splice?, _ later: Splice?) -> Bool? {
        guard let earlier else { return later == nil ? nil : false }
        guard let later, later.at <= earlier.at else { return true }
        return later.at == earlier.at && (earlier.removed.isEmpty || !later.removed.isEmpty)
    }

    /// Returns what remains of this change after `other`, made on the same text.
    ///
    /// Law (TP1): for all changes `a` and `b` of a text, `a` followed by `b.transformed(over: a, as: .later)` gives
    /// the same text as `b` followed by `a.transformed(over: b, as: .earlier)`.
    public func transformed(over other: TextChange, as order: Order) -> TextChange {
        var result = TextChange()
        var shift = 0
        let meetings = order == .later ? Self.meetings(other, self) : Self.meetings(self, other)
        for meeting in meetings {
            let (mine, theirs) = order == .later ? (meeting.later, meeting.earlier) : (meeting.earlier, meeting.later)
            if theirs.isEmpty {
                for splice in mine {
                    result.append(Splice(at: splice.at + shift, removed: splice.removed, inserted: splice.inserted))
                }
            } else if !mine.isEmpty, order == .later {
                let splice = Splice(
                    at: meeting.range.lowerBound + shift, removed: meeting.earlierText, inserted: meeting.laterText)
                result.append(splice)
            }
            shift += theirs.reduce(0) { $0 + $1.growth }
        }
        result.settle()
        return result
    }

    /// Returns this change followed by `next`, as one change.
    ///
    /// Law: `a.followed(by: b).applied(to: text) == b.applied(to: a.applied(to: text))`.
    public func followed(by next: TextChange) -> TextChange {
        var result = TextChange()
        var shift = 0
        // `inverted`, which undoes this change, and `next` are both changes of the text after this change.
        for meeting in Self.meetings(inverted, next) {
            let splice = Splice(
                at: meeting.range.lowerBound + shift, removed: meeting.earlierText, inserted: meeting.laterText)
            result.append(splice)
            shift += meeting.earlier.reduce(0) { $0 + $1.growth }
        }
        result.settle()
        return result
    }
}
