import HandCore
import HandSync
import HandWire

/// The results of edits.
public struct Settlement: Sendable {
    /// The revision of the last committed edit, or nil if there was none.
    public internal(set) var revision: Int?
    /// The newest rejections: at most ``maxNotices``.
    public internal(set) var rejections: [Rejection] = []
    /// The newest notices: at most ``maxNotices``, because a program may never take them.
    public internal(set) var notices: [Replica.Notice] = []
    /// The names of the people who overrode edits, by author number.
    public internal(set) var people: [AuthorID: String] = [:]
    /// For an edit of a part of a list: the commits since that part, with the edit's own one last; empty if some are
    /// missing.
    package internal(set) var commits: [Commit] = []

    public static let maxNotices = 1_000

    mutating func note(_ notice: Replica.Notice) {
        switch notice {
        case .acknowledged(_, let revision): self.revision = revision
        case .rejected(let reason, _, _): rejections.append(reason)
        case .superseded, .keptWords, .usedTwice, .diverged, .restored: break
        }
        notices.append(notice)
        // Removing half at a time keeps the amortized cost of a notice constant.
        if notices.count > Self.maxNotices { notices.removeFirst(Self.maxNotices / 2) }
        if rejections.count > Self.maxNotices { rejections.removeFirst(Self.maxNotices / 2) }
    }
}
