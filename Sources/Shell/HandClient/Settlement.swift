import HandCore
import HandSync
import HandWire

/// What became of edits.
public struct Settlement: Sendable {
    /// The revision at which the last of them was committed; nil if there were none.
    public internal(set) var revision: Int?
    public internal(set) var rejections: [Rejection] = []
    /// The newest of them: at most ``mostNotices``, as a program may never ask.
    public internal(set) var notices: [Replica.Notice] = []

    public static let mostNotices = 1_000

    mutating func note(_ notice: Replica.Notice) {
        switch notice {
        case .acknowledged(_, let revision): self.revision = revision
        case .rejected(let reason, _): rejections.append(reason)
        case .superseded, .spared, .usedTwice, .diverged: break
        }
        notices.append(notice)
        // Half of them, so that each costs no more than the first.
        if notices.count > Self.mostNotices { notices.removeFirst(Self.mostNotices / 2) }
        if rejections.count > Self.mostNotices { rejections.removeFirst(Self.mostNotices / 2) }
    }
}
