import HandCore
import HandFormats
import HandSync
import HandWire

/// What the client knows of one list. All screens of the list share it.
package struct ListData: Sendable {
    package internal(set) var name: String
    private var shown = ShownList()
    /// Whether this machine's copy of the list has been looked up.
    package private(set) var isLookedUp = false
    package internal(set) var progress: Progress?
    /// Why the server refuses the list; nil if it does not.
    package internal(set) var refusal: String?
    /// When to look for the list, which was shown and which the server does not have any more; nil if it has the list.
    var seekDue: UInt64?
    /// Whether the lost edits of earlier runs are among the notices.
    private var hasKeptLosses = false
    /// The folded items; nil until it is known which ones were folded when the list was last closed.
    var folded: [ItemID]?
    /// Everybody on the list by author number, including the user.
    private var everybody: [AuthorID: Participant] = [:]
    /// The names of all known authors, including those who have left.
    var names: [AuthorID: String] = [:]
    /// The revisions whose authors' names were asked for.
    private var namesAsked: Set<Int> = []
    /// Items that others have just changed, and the time until which they are highlighted.
    var flashes: [ItemID: UInt64] = [:]
    var unsent = Unsent()
    /// The texts that often came into the list, the most frequent first; nil until somebody wants to know them.
    var earlierTexts: [String]?
    /// What others have changed, and the user has not seen.
    private(set) var news = News()
    /// The news on the screen, and since when each of them is there.
    private(set) var newsOnScreen: [ItemID: UInt64] = [:]
    /// The item that the cursor was on when the user pressed the last key.
    private var lookedAt: ItemID?
    private var hasRecalledNews = false
    private var newsBefore: (since: Int, isAsked: Bool)?
    package internal(set) var notices: [Notice] = []
    /// The number of refused edits that the user has not looked at.
    var rejectedCount: Int { notices.count { $0.isRejection && !$0.isSeen } }

    /// How long a change by somebody else is highlighted, in milliseconds.
    static let flashTime: UInt64 = 1_200
    /// If more items than this change at once, none of them is highlighted.
    private static let maxFlashes = 256
    private static let maxNotices = 100
    /// After how many milliseconds on the screen an item has been seen: when it is still there at the next key, and
    /// when it leaves the screen.
    private static let readingTime: UInt64 = 10_000
    private static let glanceTime: UInt64 = 1_000
    /// The time between two searches for a missing list, in milliseconds.
    private static let seekingInterval: UInt64 = 5_000

    package struct Progress: Equatable, Sendable {
        package var items: Int
        package var total: Int
    }

    package struct Participant: Equatable, Sendable {
        package var name: String
        package var focus: Focus?

        var isEditing: Bool { focus?.isEditing == true }
    }

    init(_ name: String) { self.name = name }

    /// The list as the screens show it.
    package var state: ListState { shown.state }
    package var hand: Hand { state.view }
    /// Whether the screens show the newest state.
    var isUpToDate: Bool { shown.isUpToDate }

    /// The others on the list, by author number.
    package var people: [AuthorID: Participant] { everybody.filter { $0.key != state.author } }

    /// Forgets the participants and the progress of loading: the server sends both again after a reconnection.
    mutating func lostConnection() { (everybody, progress) = ([:], nil) }

    /// The others who are on one of some items. The people who edit an item come first.
    func others(where isWanted: (ItemID) -> Bool) -> [(author: AuthorID, person: Participant)] {
        if everybody.isEmpty { return [] }
        return people.filter { $0.value.focus?.item.map(isWanted) == true }
            .sorted { ($0.value.isEditing ? 0 : 1, $0.key) < ($1.value.isEditing ? 0 : 1, $1.key) }
            .map { ($0.key, $0.value) }
    }

    /// The name of the author of a change; nil if it is not known.
    func name(of origin: Replica.Origin) -> String? {
        switch origin {
        case .own: "You"
        case .author(let author): names[author]
        case .unknown: nil
        }
    }

    func name(of author: AuthorID?) -> String { author.flatMap { names[$0] } ?? "somebody" }

    // MARK: Events

    /// Takes a change of the list, which `showNext` shows later.
    mutating func add(_ new: ListState, _ update: Replica.Update) {
        seekDue = nil
        shown.add(new, update)
    }

    /// Shows the next change; returns nil if all changes are shown.
    mutating func showNext(now: UInt64) -> Replica.Update? {
        let (wasLoaded, before) = (state.isLoaded, hand)
        guard let update = shown.next() else { return nil }
        isLookedUp = true
        if state.isLive { (progress, refusal) = (nil, nil) }
        mark(update, wasLoaded: wasLoaded, now: now)
        if wasLoaded {
            news.follow(
                update.delta, from: before, to: hand, revision: state.revision,
                isOwn: update.origin == .own || update.isPersons)
        }
        unsent.confirmed(allBut: state.pendingCount, kept: state.keptItems)
        for notice in update.notices { add(notice) }
        return update
    }

    /// Marks the items of a change: the user's as not saved yet, those of others for a while.
    private mutating func mark(_ update: Replica.Update, wasLoaded: Bool, now: UInt64) {
        let delta = update.delta
        if delta.isIdentity { return }
        let touched = delta.touchedItems(in: hand, atMost: Self.maxFlashes)
        if update.origin == .own {
            unsent.append(touched)
        } else if touched.count < Self.maxFlashes, wasLoaded {
            for item in touched { flashes[item] = now + Self.flashTime }
        }
    }

    // MARK: News

    /// Takes into account what the user had seen of all lists before, and thus of this one, which may have had another
    /// name. Only the first call counts.
    mutating func recallNews(_ seen: some Sequence<Seen>) {
        guard !hasRecalledNews, state.isLoaded else { return }
        hasRecalledNews = true
        let last = seen.first { $0.logID == state.logID }
        news.recall(last, in: hand)
        if let last, last.revision < state.revision { newsBefore = (last.revision, isAsked: false) }
    }

    /// Returns the revision since which the history is to be read for news; nil until the list is live, and after the
    /// first call. A command may have brought this machine's copy further than the user has looked.
    mutating func takeNewsBefore() -> Int? {
        guard state.isLive, let before = newsBefore, !before.isAsked else { return nil }
        newsBefore?.isAsked = true
        return before.since
    }

    /// Marks the news that the history had.
    mutating func add(_ found: NewsOfCommits) {
        guard let before = newsBefore, before.isAsked, before.since == found.since else { return }
        newsBefore = nil
        // At another revision, other items have these places.
        guard found.revision == state.revision, state.pendingCount == 0 else { return }
        let marks = found.places.filter { hand.indices.contains($0.key) }.map { (hand[$0.key].id, $0.value) }
        news.mark(marks, at: found.revision)
    }

    /// Notes which news are on the screen. The user has seen what was there for a while, and what the cursor has left.
    ///
    /// - Parameter isActive: whether the user has just pressed a key: what changes while nobody is there is not seen.
    mutating func look(at items: [ItemID], cursor: ItemID?, isActive: Bool, now: UInt64) {
        var left = newsOnScreen
        newsOnScreen = [:]
        for item in items where news.contains(item) { newsOnScreen[item] = left.removeValue(forKey: item) ?? now }
        news.forget(left.filter { $0.value + Self.glanceTime <= now }.keys)
        guard isActive else { return }
        if let lookedAt, lookedAt != cursor { news.forget([lookedAt]) }
        lookedAt = cursor
        news.forget(newsOnScreen.filter { $0.value + Self.readingTime <= now }.keys)
    }

    /// The user leaves the list, and has seen what is on the screen. Returns what to remember; nil if nothing is known.
    mutating func leave() -> Seen? {
        news.forget(newsOnScreen.keys)
        newsOnScreen = [:]
        return hasRecalledNews && state.logID != 0 ? news.seen(of: state.logID, at: state.revision) : nil
    }

    /// Takes any other event of the list.
    mutating func take(_ event: ListEvent, now: UInt64) {
        switch event {
        case .changed(let new, let update): add(new, update)
        case .progress(let items, let total): progress = Progress(items: items, total: total)
        case .presence(let entries): for entry in entries { note(entry) }
        case .refused(let code, let reason):
            if [.listDeleted, .noSuchList, .notAllowed].contains(code) { seek(now: now) }
            // The list is looked for again and again. The first reason stays.
            if code == .noSuchList, refusal != nil { return }
            let back = code == .listDeleted ? "; bring it back with: hand undelete \(ShellWord.quoted(name))" : ""
            refusal = Printable.clean(reason + back)
        case .editsWait(let reason):
            refusal = Printable.clean(reason)
            seek(now: now)
        case .renamed(let new): name = new
        case .status: break
        }
    }

    /// Plans to look for the list again and again, until it is followed.
    mutating func seek(now: UInt64) { if state.isLoaded { seekDue = now + Self.seekingInterval } }

    /// Removes expired highlights.
    mutating func expire(now: UInt64) {
        if !flashes.isEmpty { flashes = flashes.filter { $0.value > now } }
    }

    /// Remembers who wrote commits.
    mutating func know(_ people: [AuthorID: String]) {
        names.merge(people.mapValues { Printable.clean($0) }) { $1 }
    }

    private mutating func note(_ presence: DownMessage.Presence) {
        switch presence.place {
        case .gone: everybody[presence.author] = nil
        case .here(let name, let focus):
            let clean = Printable.clean(name)
            names[presence.author] = clean
            everybody[presence.author] = Participant(name: clean, focus: focus)
        }
    }

    /// Adds notices of the edits that earlier runs have lost, before the newer notices of this run. Only the first call
    /// counts: a list that comes back is followed again.
    mutating func add(told: [Loss], untold: [Loss]) {
        if hasKeptLosses { return }
        hasKeptLosses = true
        notices.insert(contentsOf: told.map { Notice($0, isSeen: true) } + untold.map { Notice($0) }, at: 0)
    }

    private mutating func add(_ news: Replica.Notice) {
        guard let notice = Notice(news) else { return }
        notices.append(notice)
        if notices.count > Self.maxNotices { notices.removeFirst() }
    }

    /// Returns the revisions in which people who are not known overrode the user's edits, each revision once.
    mutating func takeNameless() -> [Int] {
        notices.compactMap { notice in
            guard case .overridden(_, _, let override)? = notice.loss, override.author != 0,
                names[override.author] == nil, namesAsked.insert(override.revision).inserted
            else { return nil }
            return override.revision
        }
    }

    /// The newest notice that the user has not looked at.
    package var unseenNotice: Notice? { notices.last { !$0.isSeen } }

    /// The refused edit that inserted an item; nil if there is none.
    func loss(ofNew item: ItemID) -> Loss? {
        notices.lazy.compactMap(\.loss).last { loss in
            guard case .refused(_, let pieces) = loss else { return false }
            return pieces.contains { if case .insert(let new, _) = $0 { new.id == item } else { false } }
        }
    }

    mutating func markNoticesSeen() {
        for index in notices.indices { notices[index].isSeen = true }
    }
}

/// The items that are shown as pending: the user's edits touched them, and the server has not confirmed those edits.
struct Unsent: Sendable {
    /// The number of edits from an earlier run of the program, and all items that they touched.
    private var keptCount = 0
    private var kept: Set<ItemID> = []
    /// The items of each edit of this run, oldest edit first.
    private var edits: [[ItemID]] = []
    private var marks: [ItemID: Int] = [:]
    private var isKnown = false

    mutating func append(_ items: [ItemID]) {
        edits.append(items)
        for item in items { marks[item, default: 0] += 1 }
    }

    /// Keeps the marks of the newest `count` edits. The server has confirmed the others.
    mutating func confirmed(allBut count: Int, kept items: Set<ItemID>) {
        if !isKnown {
            isKnown = true
            keptCount = max(0, count - edits.count)
            kept = items
        }
        var done = keptCount + edits.count - count
        if keptCount > 0, done > 0 {
            let fromKept = min(done, keptCount)
            keptCount -= fromKept
            done -= fromKept
            if keptCount == 0 { kept = [] }
        }
        guard done > 0 else { return }
        for item in edits.prefix(done).joined() {
            let left = marks[item, default: 1] - 1
            marks[item] = left == 0 ? nil : left
        }
        edits.removeFirst(min(done, edits.count))
    }

    func contains(_ item: ItemID) -> Bool { marks[item] != nil || kept.contains(item) }
}

extension Delta {
    /// The items that this delta inserted, edited or moved; at most `limit` of them. `new` is the list after the delta.
    func touchedItems(in new: Hand, atMost limit: Int) -> [ItemID] {
        var items: [ItemID] = []
        for step in placed where step.mark != nil && items.count < limit {
            items += new.items(in: step.new.prefix(limit - items.count)).map(\.id)
        }
        return items
    }
}
