import HandCore

/// How much of each list's history is kept. A commit is forgotten when nothing here asks for it; the list itself, and each
/// author's last sequence, are kept whatever happens to the history. And for how long deleted lists are kept.
package struct Retention: Equatable, Sendable {
    /// How many of the newest commits; nil asks for none in particular.
    package var commits: Int?
    /// Commits of the last so many milliseconds; nil asks for none in particular.
    package var age: UInt64?
    /// For how many milliseconds a list that was deleted can be brought back.
    package var deleted: UInt64

    package static let everything = Retention()
    package static let week: UInt64 = 7 * 86_400_000

    package init(commits: Int? = nil, age: UInt64? = nil, deleted: UInt64 = Self.week) {
        self.commits = commits
        self.age = age
        self.deleted = deleted
    }

    /// Whether no commit is ever forgotten.
    package var keepsEverything: Bool { commits == nil && age == nil }

    /// The newest revision that may be forgotten, with all before it; `floor` if none may. By age no more than half of what is
    /// kept is forgotten at once: if it was the clock that jumped, not all is lost before somebody sees it.
    ///
    /// - Parameter time: of a commit after `floor`. Asked O(log n) times: times hardly ever go back.
    package func cut(floor: Int, revision: Int, now: UInt64, time: (Int) throws -> UInt64) rethrows -> Int {
        guard !keepsEverything else { return floor }
        var cut = revision
        if let commits { cut = min(cut, revision - commits) }
        if let age {
            let oldest = now > age ? now - age : 0
            let kept = try (floor + 1..<max(floor, cut) + 1).partitioningIndex { try time($0) >= oldest }
            cut = min(kept - 1, floor + (revision - floor + 1) / 2)
        }
        return max(floor, cut)
    }
}

/// What one step of forgetting came to.
package struct Trimmed: Equatable, Sendable {
    /// The revision before the oldest commit that is kept.
    package let floor: Int
    /// Whether there is more to do.
    package let hasMore: Bool

    package init(floor: Int, hasMore: Bool) {
        self.floor = floor
        self.hasMore = hasMore
    }
}
