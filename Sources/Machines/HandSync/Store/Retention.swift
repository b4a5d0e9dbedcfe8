import HandCore

/// How much of each list's history is kept, and how long deleted lists are kept. A commit is forgotten if no setting
/// requires it; the list itself, and each author's last sequence, are always kept.
package struct Retention: Equatable, Sendable {
    /// How many of the newest commits are kept; nil sets no requirement.
    package var commits: Int?
    /// How old commits are kept, in milliseconds; nil sets no requirement.
    package var age: UInt64?
    /// For how many milliseconds a deleted list can be restored.
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

    /// Returns the newest revision that may be forgotten, with all revisions before it; `floor` if no revision may be.
    /// By age, at most half of the kept commits are forgotten at once: if the clock jumped, not everything is lost
    /// before somebody notices.
    ///
    /// - Parameter time: returns the time of a commit after `floor`. Called O(log n) times: times hardly ever decrease.
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

/// The result of one step of forgetting.
package struct Trimmed: Equatable, Sendable {
    /// The revision before the oldest commit that is kept.
    package let floor: Int
    package let hasMore: Bool

    package init(floor: Int, hasMore: Bool) {
        self.floor = floor
        self.hasMore = hasMore
    }
}
