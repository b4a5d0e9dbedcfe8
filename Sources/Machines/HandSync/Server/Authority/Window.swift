import HandCore
import HandWire

/// The latest commits of one list, each encoded once as the frame that every client gets, in contiguous segments.
///
/// A reader's cursor is only a revision, so a slow reader costs no memory. Next to each frame, a commit that is a
/// single edit is stored as a few numbers, over which submissions are transformed.
struct Window {
    private struct Entry {
        let segment: Segment
        let range: Range<Int>
        /// Where the delta starts within the segment. The delta ends with the frame; it is empty if the commit is a
        /// refusal.
        let delta: Int
        /// The number of items of the list after the commit.
        let count: Int
    }

    /// The revision before the first commit here. A submission on this revision, and a reader at it, can still be
    /// served.
    private(set) var floor: Int
    /// The number of items in the list at the floor.
    private var floorCount: Int
    private var entries: [Entry] = []
    /// What each entry does to positions, stored separately because a submission is transformed over all entries since
    /// its base.
    private var shifts: [SingleEdit.PositionShift] = []
    /// The revisions of the commits that are not single edits, in order.
    private var others: [Int] = []
    /// The number of entries at the front that are no longer valid; these are cut off when they are half of all
    /// entries.
    private var dropped = 0
    /// Whether the next commit gets a segment of its own.
    private var isSealed = false
    private(set) var byteCount = 0
    let limit: Int

    init(floor: Int, count: Int, limit: Int) {
        self.floor = floor
        floorCount = count
        self.limit = limit
    }

    /// Revision of the last commit here.
    var head: Int { floor + entries.count - dropped }

    private func index(of revision: Int) -> Int { dropped + revision - floor - 1 }

    mutating func append(_ commit: Commit, list: ListNumber) {
        precondition(commit.revision == head + 1, "commits are numbered without gaps")
        // Most frames are small, and are put together on the stack.
        withUnsafeTemporaryAllocation(byteCount: 512, alignment: 8) { memory in
            var frame = WireWriter(in: memory)
            let deltaSize = DownMessage.write(commit, in: list, to: &frame)
            frame.withFrame { append($0, of: commit, deltaSize: deltaSize) }
        }
    }

    private mutating func append(_ frame: UnsafeRawBufferPointer, of commit: Commit, deltaSize: Int) {
        let size = frame.count
        let segment: Segment
        // A sealed segment may be changing on another thread, so it is not asked for its room.
        if !isSealed, let last = entries.last?.segment, last.hasRoom(for: size) {
            segment = last
        } else {
            // A window has several segments, so that most of it stays when the oldest one is dropped.
            segment = Segment(capacity: max(min(Segment.standardCapacity, limit / 4), size))
        }
        isSealed = false
        let start = segment.count
        segment.append(frame)
        entries.append(
            Entry(segment: segment, range: start..<start + size, delta: start + size - deltaSize, count: commit.count))
        let edit = commit.refusal == nil ? commit.delta.single ?? SingleEdit(commit.delta) : .nothing
        shifts.append(SingleEdit.PositionShift(edit ?? .nothing))
        if edit == nil { others.append(commit.revision) }
        byteCount += size
    }

    /// Lets a copy of this window be read while the next commits are appended to this window: the two share no memory
    /// that changes.
    mutating func seal() { isSealed = true }

    /// Drops whole segments from the front while the window is over its limit, but no commit after `revision`.
    mutating func trim(through revision: Int) {
        while byteCount > limit, let first = entries[dropped...].first {
            var end = dropped
            while end < entries.count, entries[end].segment === first.segment { end += 1 }
            guard end < entries.count, floor + end - dropped <= revision else { break }
            for index in dropped..<end { byteCount -= entries[index].range.count }
            floor += end - dropped
            floorCount = entries[end - 1].count
            dropped = end
        }
        if dropped > entries.count / 2 {
            entries.removeFirst(dropped)
            shifts.removeFirst(dropped)
            others.removeFirst(others.prefix { $0 <= floor }.count)
            dropped = 0
        }
    }

    /// Forgets the commits after `revision`, which nobody has seen.
    mutating func truncate(to revision: Int) {
        while head > revision, let last = entries.popLast() {
            shifts.removeLast()
            if others.last ?? 0 > head { others.removeLast() }
            last.segment.truncate(to: last.range.lowerBound)
            byteCount -= last.range.count
        }
    }

    // MARK: Reading

    /// Items of the list at a revision, `floor ≤ revision ≤ head`.
    func count(at revision: Int) -> Int {
        revision == floor ? floorCount : entries[index(of: revision)].count
    }

    /// Transforms an edit over the commits from `revision` on, as long as they are single edits that do not change the
    /// same text.
    ///
    /// - Returns: what is left of the edit, or nil if nothing is, and the first revision that it was not transformed
    ///   over.
    /// - Complexity: about two nanoseconds for each commit.
    func transformed(_ edit: SingleEdit, from revision: Int) -> (edit: SingleEdit?, next: Int) {
        let end = others.last ?? 0 < revision ? head + 1 : others[others.partitioningIndex { $0 >= revision }]
        let range = index(of: revision)..<index(of: end)
        let (rest, passed) = shifts.withUnsafeBufferPointer { edit.transformed(over: $0[range]) }
        return (rest, revision + passed)
    }

    func isRefusal(at revision: Int) -> Bool {
        let entry = entries[index(of: revision)]
        return entry.delta == entry.range.upperBound
    }

    func frame(at revision: Int) -> FrameRun {
        let entry = entries[index(of: revision)]
        return FrameRun(segment: entry.segment, range: entry.range)
    }

    func commit(at revision: Int) -> Commit {
        do { return try StoredFrame(revision: revision, bytes: [UInt8](frame(at: revision).bytes)).commit() } catch {
            preconditionFailure("a frame of our own does not read back: \(error)")
        }
    }

    /// The delta of a commit, decoded from its frame.
    func delta(at revision: Int) -> Delta {
        if isRefusal(at: revision) { return .identity }
        let entry = entries[index(of: revision)]
        var reader = WireReader(entry.segment.bytes(in: entry.delta..<entry.range.upperBound))
        do { return try reader.delta() } catch {
            preconditionFailure("a frame of our own does not read back: \(error)")
        }
    }

    /// The frames after `cursor` up to `end`; nil if there are none, if they are not contiguous in memory, or if they
    /// take more than `bytes`.
    func run(after cursor: Int, through end: Int, atMost bytes: Int) -> FrameRun? {
        guard cursor < end else { return nil }
        let (first, last) = (index(of: cursor + 1), index(of: end))
        let segment = entries[first].segment
        guard entries[last].segment === segment else { return nil }
        let range = entries[first].range.lowerBound..<entries[last].range.upperBound
        return range.count > bytes ? nil : FrameRun(segment: segment, range: range)
    }

    /// The frames after `cursor` up to `end`, as few runs of memory, about `bytes` at most (one frame at least); and
    /// the revision that they lead to.
    ///
    /// - Precondition: `floor ≤ cursor ≤ end ≤ head`.
    func frames(after cursor: Int, through end: Int, about bytes: Int) -> (runs: [FrameRun], revision: Int) {
        guard cursor < end else { return ([], cursor) }
        var runs: [FrameRun] = []
        var next = index(of: cursor + 1)
        let stop = index(of: end)
        var total = 0
        while next <= stop, total < bytes {
            let segment = entries[next].segment
            let start = entries[next].range.lowerBound
            var last = lastIndex(of: segment, from: next, to: stop)
            if entries[last].range.upperBound - start > bytes - total {
                last = entries[next...last].partitioningIndex { $0.range.upperBound - start >= bytes - total }
            }
            runs.append(FrameRun(segment: segment, range: start..<entries[last].range.upperBound))
            total += entries[last].range.upperBound - start
            next = last + 1
        }
        return (runs, floor + next - dropped)
    }

    /// The last entry up to `stop` that stands in `segment`. O(log n).
    private func lastIndex(of segment: Segment, from first: Int, to stop: Int) -> Int {
        if entries[stop].segment === segment { return stop }
        return entries[first...stop].partitioningIndex { $0.segment !== segment } - 1
    }
}
