import HandCore
import HandSync
import HandWire

/// What happens to a list that a program follows.
public enum ListEvent: Sendable {
    /// The view is now `hand`; `delta` took it there from the one before. The first that is seen of a list comes with the identity.
    case changed(Hand, Delta, by: Replica.Origin)
    /// Something that one's own edits came to.
    case notice(Replica.Notice)
    /// Who is here, as far as it changed; everybody at first.
    case presence([DownMessage.Presence])
    /// The connection.
    case status(ClientMachine.Status)
    /// So many items of so many of the list have arrived.
    case progress(items: Int, of: Int)
    /// The list has that name from now on. Events go on; to do more with it, it is opened under the new name.
    case renamed(to: String)
    /// The list cannot be followed (any longer).
    case refused(ErrorCode, String)
}

/// Where a list stands.
public struct ListState: Sendable {
    public let view: Hand
    /// The last confirmed revision.
    public let revision: Int
    public let logID: UInt64
    /// Whether anything is known of the list.
    public let isLoaded: Bool
    /// Whether the view is the server's present, but for edits on the way.
    public let isLive: Bool
    /// Edits that the server has not confirmed.
    public let pendingCount: Int
    public let canUndo: Bool
    public let canRedo: Bool
    /// This client's number on the server; nil as long as it has not been there.
    public let author: UInt64?
}

/// What became of edits.
public struct Settlement: Sendable {
    /// The revision at which the last of them was committed; nil if there were none.
    public internal(set) var revision: Int?
    public internal(set) var rejections: [Rejection] = []
    /// The newest of them: at most ``mostNotices``, as a program may never ask.
    public internal(set) var notices: [Replica.Notice] = []

    public static let mostNotices = 1_000

    mutating func note(_ notice: Replica.Notice) {
        notices.append(notice)
        // Half of them, so that each costs no more than the first.
        if notices.count > Self.mostNotices { notices.removeFirst(Self.mostNotices / 2) }
        if rejections.count > Self.mostNotices { rejections.removeFirst(Self.mostNotices / 2) }
    }
}
