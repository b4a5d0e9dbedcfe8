import HandCore
import HandFormats
import HandSync
import HandWire

/// The state that all screens share: the lists, the connection, the size of the terminal.
@dynamicMemberLookup
package struct AppState: Sendable {
    package private(set) var settings: Settings
    package internal(set) var size: Size
    /// The clusters of emoji that the terminal is known to draw as one character.
    package internal(set) var clusters: Clusters = []
    /// Milliseconds on a monotonic clock.
    package internal(set) var now: UInt64 = 0
    package internal(set) var connection = ClientMachine.Status.connecting(to: nil)
    /// Why the server refuses this client for good; nil if it does not.
    package internal(set) var refusal: ErrorCode?
    /// The user's name and roles; nil if the server has not told them.
    package internal(set) var granted: DownMessage.Granted?
    /// Since when the server owes an answer, on the clock of `now`; nil if it owes none.
    package var awaitingSince: UInt64?
    /// The server that was tried last, if the address names several servers.
    package internal(set) var place: String?
    /// When the next attempt to connect is due, on the clock of `now`.
    package internal(set) var retryAt: UInt64?
    package internal(set) var latency: UInt64?
    package internal(set) var lists: [String: ListData] = [:]
    /// The lists of the server; nil until they are known.
    package internal(set) var catalog: [DownMessage.ListEntry]?
    /// What the user has seen of the lists, by their names; nil until it is known.
    package internal(set) var seen: [String: Seen]?
    /// What others have changed since.
    var headlines: [String: Headline] = [:]
    /// The lists that this machine has copies of.
    package internal(set) var keptLists: [String] = []
    package internal(set) var clipboard = Clipboard()
    /// Texts that were being typed when a screen closed. The screens of their lists offer these texts again.
    var drafts: [KeptDraft] = []
    /// Items on their way to other lists.
    var transfers: [ItemTransfer] = []
    var random: SplitMix64

    package struct Clipboard: Sendable {
        package let contents: [Content]
        /// The levels of these items, as they were shown.
        let levels: [Int]
        /// Which of these items were folded.
        let folded: [Int]
        /// The largest content of each kind. A list that allows these contents allows all contents of the clipboard.
        let largest: [Content.Kind: Content]

        init(_ contents: [Content] = [], levels: [Int] = [], folded: [Int] = []) {
            (self.contents, self.levels, self.folded) = (contents, levels, folded)
            largest = Dictionary(contents.map { ($0.kind, $0) }) { $0.size >= $1.size ? $0 : $1 }
        }
    }

    /// What stays the same while the client runs, except for the time of day.
    package struct Settings: Sendable {
        package var server: HandAddress.Server
        /// The names of servers that are shown in place of their addresses.
        package var serverNames: [HandAddress.Server: String] = [:]
        package var person: String
        package var size: Size
        /// Seconds by which local time is ahead of UTC.
        package var utcOffset: Int
        /// The time of day at zero of the clock of `now`, in milliseconds since 1970.
        package var epoch: UInt64
        package var keys: KeyMap
        package var hasColors: Bool
        package var notices = Attention.Wish.off
        /// The seed for the ids of new items.
        package var seed: UInt64
        package var cells: any ContentCells
        /// Makes the QR code of a text; nil if the text is too long for one.
        package var code: @Sendable (String) -> QRCode? = { _ in nil }

        package init(
            server: HandAddress.Server, person: String, size: Size, utcOffset: Int = 0, epoch: UInt64 = 0,
            keys: KeyMap = .standard, hasColors: Bool = true, seed: UInt64, cells: any ContentCells = StandardCells()
        ) {
            self.server = server
            self.person = person
            self.size = size
            self.utcOffset = utcOffset
            self.epoch = epoch
            self.keys = keys
            self.hasColors = hasColors
            self.seed = seed
            self.cells = cells
        }
    }

    package init(_ settings: Settings) {
        self.settings = settings
        size = settings.size
        random = SplitMix64(seed: settings.seed)
    }

    package subscript<Value>(dynamicMember path: KeyPath<Settings, Value>) -> Value { settings[keyPath: path] }

    mutating func setTime(epoch: UInt64, utcOffset: Int) { (settings.epoch, settings.utcOffset) = (epoch, utcOffset) }

    /// Returns a time in milliseconds since 1970 as a text, without the date if the time is today.
    package func text(of time: UInt64) -> String {
        let text = localText(of: time)
        return text.hasPrefix(day()) ? String(text.dropFirst(11)) : text
    }

    private func localText(of time: UInt64) -> String { LocalTime.text(time, offset: settings.utcOffset) }

    /// The date in some days, as `2026-12-01`.
    func day(in days: UInt64 = 0) -> String {
        String(localText(of: settings.epoch &+ now &+ days * 86_400_000).prefix(10))
    }

    /// Returns how long ago a time was, in days; the time of day if it is today, and the date if it is long ago.
    func age(of time: UInt64) -> String {
        let day: UInt64 = 86_400_000
        func dayNumber(_ time: UInt64) -> UInt64 {
            UInt64(clamping: Int64(clamping: time) + Int64(settings.utcOffset) * 1_000) / day
        }
        let (then, today) = (dayNumber(time), dayNumber(settings.epoch &+ now))
        switch today > then ? today - then : 0 {
        case 0: return String(text(of: time).prefix(5))
        case 1: return "yesterday"
        case let days where days <= 30: return "\(days) days ago"
        default: return String(localText(of: time).prefix(10))
        }
    }

    /// The data of a list; empty if nothing is known.
    package func list(_ name: String) -> ListData { lists[name] ?? ListData(name) }

    package var isOnline: Bool { connection == .online }

    /// For how many seconds the server has not answered; nil if the silence is too short to mention.
    var silence: UInt64? {
        guard let awaitingSince, now >= awaitingSince + Self.longSilence else { return nil }
        return (now - awaitingSince) / 1_000
    }

    /// When the silence must be drawn anew.
    var silenceDue: UInt64? { awaitingSince.map { $0 + max(Self.longSilence, ((silence ?? 0) + 1) * 1_000) } }

    /// After how many milliseconds a person wants to know that no answer has come.
    private static let longSilence: UInt64 = 5_000

    /// The rows of the terminal between the title and the two lines at the bottom.
    package var bodyRows: Int { max(1, size.rows - ScreenFrame.rowsAround) }

    mutating func withList<Result>(_ name: String, _ body: (inout ListData) -> Result) -> Result {
        body(&lists[name, default: ListData(name)])
    }

    /// Makes new items with these contents, at these levels, or all at level 0.
    mutating func mint(_ contents: [Content], levels: [Int]? = nil) -> [Item] {
        let levels = levels ?? Array(repeating: 0, count: contents.count)
        return zip(contents, levels).map { Item(id: .random(using: &random), level: UInt8(clamping: $1), content: $0) }
    }
}
