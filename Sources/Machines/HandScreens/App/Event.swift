import HandCore
import HandSync
import HandWire

/// Everything that can happen to the model.
package enum Event: Sendable {
    case input(Input)
    /// The model's deadline has come.
    case tick
    /// The time of day at zero of the clock of `now`, in milliseconds since 1970, and the seconds by which local time
    /// is ahead of UTC.
    case time(epoch: UInt64, utcOffset: Int)
    /// There is time to continue unfinished work.
    case continueWork
    /// The code says why the server refuses this client for good.
    case connection(ClientMachine.Status, refused: ErrorCode? = nil)
    /// The user's name and roles, as far as the server has told them.
    case granted(DownMessage.Granted?)
    /// Since when the server owes an answer; nil if it owes none.
    case awaiting(since: UInt64?)
    /// The server's response time in milliseconds.
    case latency(UInt64)
    /// A message of the server that answers no request.
    case warning(String)
    case list(String, ListEvent)
    /// The lost edits of a list that were kept from earlier runs: the edits that the user was told of, and the other
    /// edits.
    case losses(list: String, told: [Loss], untold: [Loss])
    /// The items of a list that were folded when it was last closed; none if that is not known.
    case folds(list: String, [ItemID])
    case lists([DownMessage.ListEntry])
    /// What the user had seen of the lists when this program started, by their names.
    case seen([String: Seen])
    /// What others have changed in a list since a revision.
    case news(list: String, since: Int, NewsOfCommits)
    /// The lists that this machine has copies of.
    case kept([String])
    case history(list: String, [Commit], people: [AuthorID: String])
    /// What happened to an item, as far as it has been read.
    case itemHistory(list: String, ItemID, ItemHistory)
    case state(list: String, revision: Int, Hand)
    /// The revisions at which the items of a list came; 0 for those that are older than the history.
    case arrivals(list: String, [ItemID: Int])
    /// The texts that were being typed when earlier screens of this server were closed.
    case drafts([KeptDraft])
    /// The texts that often came into a list, the most frequent first.
    case earlierTexts(list: String, [String])
    /// The text as the user's own editor saved it.
    case editedOutside(String)
    case failed(Command, String)
    case done(Command)
}

extension Event {
    var isFromPerson: Bool { if case .input(let input) = self { input.isFromPerson } else { false } }
}
