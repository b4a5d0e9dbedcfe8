extension Delta.Step {
    /// The number of old items that the step passes.
    @inline(__always) var oldCount: Int { isContent ? 0 : count }
    /// The number of items that the step leaves at its place in the new list.
    @inline(__always) var newCount: Int { kind == .delete || kind == .pick ? 0 : count }
}

extension Delta {
    /// A step, and where it begins in either list.
    struct Span {
        let step: Step
        let old: Int
        let new: Int

        /// The old items that the step passes.
        var oldItems: Range<Int> { old..<old + step.oldCount }
        /// The items that the step leaves at its place in the new list.
        var newItems: Range<Int> { new..<new + step.newCount }
    }

    /// The steps with their places, from left to right.
    struct Spans: Sequence, IteratorProtocol {
        private let steps: ContiguousArray<Step>
        private var index = 0
        private var (old, new) = (0, 0)

        init(_ steps: ContiguousArray<Step>) { self.steps = steps }

        mutating func next() -> Span? {
            guard index < steps.count else { return nil }
            let span = Span(step: steps[index], old: old, new: new)
            index += 1
            old += span.step.oldCount
            new += span.step.newCount
            return span
        }

        /// The implied `keep` behind the last step. Valid only after `next()` has returned nil.
        var end: Span { Span(step: Step(kind: .keep, count: .max - Swift.max(old, new)), old: old, new: new) }
    }

    var spans: Spans { Spans(steps) }

    /// Returns the first span for which `holds` returns true, perhaps the implied `keep` at the end.
    func firstSpan(where holds: (Span) -> Bool) -> Span? {
        var spans = spans
        while let span = spans.next() { if holds(span) { return span } }
        return holds(spans.end) ? spans.end : nil
    }
}
