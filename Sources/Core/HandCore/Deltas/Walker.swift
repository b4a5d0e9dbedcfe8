/// Walks the components of a delta along the old list, one part of a component at a time. The end is an infinite
/// `keep`.
struct Walker {
    private let steps: ContiguousArray<Delta.Step>
    private var index = 0
    /// The number of items of the current step that have been passed.
    private var passed = 0

    init(_ delta: Delta) { steps = delta.steps }

    /// Whether only the implied `keep` is left.
    @inline(__always) var isAtEnd: Bool { index == steps.count }

    /// What happens to the next old items. Valid only after the content of the gap has been consumed.
    @inline(__always) var kind: Delta.Step.Kind { isAtEnd ? .keep : steps[index].kind }
    @inline(__always) var change: Int { isAtEnd ? -1 : steps[index].change }

    /// The number of old items to which `kind` applies.
    @inline(__always) var remaining: Int { isAtEnd ? Int.max : steps[index].count - passed }

    /// Consumes and returns the next content of this gap (on that side), if there is any.
    @inline(__always)
    mutating func content(_ side: Side? = nil) -> Delta.Step? {
        guard passed == 0, !isAtEnd else { return nil }
        let step = steps[index]
        guard step.isContent, side == nil || step.side == side else { return nil }
        index += 1
        return step
    }

    /// Returns the next `count` old items, which start at position `old`, as a run.
    @inline(__always)
    func run(at old: Int, _ count: Int) -> Footprint.Run {
        if isAtEnd { return Footprint.Run(kind: .keep, old: old, count: count, slot: 0, change: -1) }
        let step = steps[index]
        return Footprint.Run(kind: step.kind, old: old, count: count, slot: step.start + passed, change: step.change)
    }

    /// Passes `count ≤ remaining` old items.
    @inline(__always)
    mutating func advance(_ count: Int) {
        guard !isAtEnd else { return }
        passed += count
        if passed == steps[index].count {
            passed = 0
            index += 1
        }
    }
}
