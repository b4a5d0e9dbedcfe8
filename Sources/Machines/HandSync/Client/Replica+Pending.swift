import HandCore
import HandWire

// Edits that the server has not confirmed.

extension Replica {
    public struct InFlight: Equatable, Sendable {
        public internal(set) var sequence: SequenceNumber
        var carried: CarriedDelta
        /// The only revision on which the submission may be committed; nil for any revision.
        public let exactBase: Int?
        /// The number of user edits joined in the submission.
        public let count: Int
        /// Whether the submission is an undo or a redo.
        package let step: UndoStep?
        /// The revision that the author had seen when making the first of the edits. The submission may have been
        /// transformed over newer revisions.
        public internal(set) var seen: Int
        /// Whether the submission has been transformed over the difference to a snapshot since it was sent. If the
        /// original still arrives, the server may transform the original differently.
        public internal(set) var hasPassedSnapshot = false

        init(_ portion: Portion, sequence: SequenceNumber) {
            (self.sequence, carried) = (sequence, portion.carried)
            (exactBase, step, count, seen) = (portion.exactBase, portion.step, portion.count, portion.seen)
        }

        /// The edit, made on `confirmed`.
        public var delta: Delta { carried.delta }

        /// Whether the submission is contained in a snapshot that includes this client's sequences up to
        /// `lastSequence`. O(n).
        func isContained(in snapshot: Hand, lastSequence: SequenceNumber) -> Bool {
            guard sequence < lastSequence else { return sequence == lastSequence }
            // A later submission was sent before the outcome of this one was known. The items that this one inserts
            // show whether it is contained.
            let inserted = Set(delta.items.map(\.id))
            return snapshot.contains { inserted.contains($0.id) }
        }
    }

    /// Edits that are submitted together. They are in a `Composer` while the user's edits are added, and a
    /// `CarriedDelta` while others' commits pass, so that neither operation pays for a conversion each time.
    package struct Portion: Equatable, Sendable {
        /// One of the user's edits, and the delta that leads back to the list before it.
        package struct Edit: Equatable, Sendable {
            let delta: Delta
            let inverse: Delta
            /// The approximate number of bytes on the wire.
            let size: Int
        }

        /// The edits that a commit has passed.
        private(set) var joined: CarriedDelta
        /// The edits that no commit has passed, from the oldest on.
        private(set) var recent: [Edit] = []
        /// All edits, if any is recent.
        private var composer: Composer?
        let exactBase: Int?
        /// Whether the portion is an undo or a redo. A step is submitted alone, so that its commit is known as a step.
        let step: UndoStep?
        /// The total size of the portion's edits before they were joined. The size determines where the next portion
        /// starts.
        private(set) var size: Int
        /// The number of user edits in the portion.
        private(set) var count: Int
        /// The revision that the author had seen when making the first of the edits.
        var seen: Int

        init(_ delta: Delta, exactBase: Int? = nil, step: UndoStep? = nil, size: Int, count: Int, seen: Int) {
            joined = CarriedDelta(delta)
            (self.exactBase, self.step) = (exactBase, step)
            (self.size, self.count) = (size, count)
            self.seen = seen
        }

        var delta: Delta { composer?.delta ?? joined.delta }

        package static func == (left: Self, right: Self) -> Bool {
            left.delta == right.delta && left.recent == right.recent
                && (left.exactBase, left.step) == (right.exactBase, right.step)
                && (left.size, left.count, left.seen) == (right.size, right.count, right.seen)
        }

        func hasRoom(for size: Int) -> Bool {
            exactBase == nil && step == nil && self.size + size <= Replica.portionBytes
        }

        mutating func append(_ edit: Edit) {
            var composer = composer ?? Composer(joined.delta)
            self.composer = nil
            composer.append(edit.delta)
            self.composer = composer
            recent.append(edit)
            size += edit.size
            count += 1
        }

        /// Drops the newest edit if `inverse` reverses it exactly. Otherwise returns false. O(size of the portion)
        mutating func dropLast(reversedBy inverse: Delta) -> Bool {
            guard let last = recent.last, last.inverse == inverse else { return false }
            recent.removeLast()
            size -= last.size
            count -= 1
            composer = nil
            if recent.isEmpty { return true }
            var left = Composer(joined.delta)
            for edit in recent { left.append(edit.delta) }
            composer = left
            return true
        }

        /// The edits, in the form that commits pass.
        var carried: CarriedDelta {
            get { composer.map { CarriedDelta($0.delta) } ?? joined }
            _modify {
                if let composer { joined = CarriedDelta(composer.delta) }
                composer = nil
                recent = []
                yield &joined
            }
        }
    }
}
