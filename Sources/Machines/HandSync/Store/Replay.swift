import HandCore
import HandWire

/// A list that is rebuilt from its stored data: a snapshot, or nothing, and then commit after commit. Every digest is
/// compared, so the result is exactly what was committed, or an error.
package struct Replay: Sendable {
    /// The list's number, for errors.
    let list: ListNumber
    package private(set) var hand: Hand
    package private(set) var revision: Int
    package private(set) var deck: Deck?
    /// The revision at which the replay began.
    package let start: Int

    package init(list: ListNumber, from hand: Hand, revision: Int, deck: Deck?) {
        self.list = list
        self.hand = hand
        self.revision = revision
        self.deck = deck
        start = revision
    }

    package static let bytesAtOnce = 1 << 20

    /// Applies the commits up to `last`. Stops earlier if no more are found.
    ///
    /// - Parameters:
    ///   - frames: returns some of the commits after a revision.
    ///   - each: called with each commit that was applied.
    package mutating func run(
        through last: Int, _ frames: (Int) throws -> [StoredFrame], each: (Commit) -> Void = { _ in }
    ) throws {
        while revision < last {
            let next = try frames(revision).prefix(last - revision)
            if next.isEmpty { return }
            for frame in next {
                let commit = try frame.commit()
                try apply(commit)
                each(commit)
            }
        }
    }

    /// Applies the next commit.
    ///
    /// - Throws: `StoreError.damaged`; the list must not be used afterwards.
    /// - Complexity: the size of the delta, times log n.
    package mutating func apply(_ commit: Commit) throws(StoreError) {
        guard commit.revision == revision + 1 else {
            throw .damaged("revision \(revision + 1) of list \(list) is missing")
        }
        deck?.replay(commit.delta, on: hand)
        do { try hand.apply(commit.delta) } catch {
            throw .damaged("revision \(commit.revision) of list \(list) does not fit: \(error)")
        }
        guard hand.digest == commit.digest, hand.count == commit.count else {
            throw .damaged("revision \(commit.revision) of list \(list) has another digest")
        }
        revision = commit.revision
    }
}
