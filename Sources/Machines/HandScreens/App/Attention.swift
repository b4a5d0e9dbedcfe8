import HandCore
import HandFormats
import HandSync

/// Whether the user looks at the screen, and what a user who does not is told.
package struct Attention: Sendable {
    /// What a user wants to be told.
    package enum Wish: String, CaseIterable, Sendable {
        case off
        /// Changes of items that name the user as @name, and of what the user had edited.
        case mine
        case all
    }

    private let wish: Wish
    /// Whether the terminal has the focus; nil if the terminal does not say.
    private var isFocused: Bool?
    /// When the user did something last.
    private var lastAct: UInt64 = 0
    /// When the user was told of something last; nil if the user has done something since.
    private var lastNotice: UInt64?
    /// What is to be told of a list as soon as it is known who did it.
    private var nameless: (list: String, origin: Replica.Origin, text: String)?

    /// After how many milliseconds without a key nobody is there, if the terminal does not report its focus.
    private static let absenceTime: UInt64 = 60_000
    /// The shortest time between two notices, in milliseconds.
    private static let interval: UInt64 = 30_000

    init(_ wish: Wish) { self.wish = wish }

    mutating func focus(_ isHere: Bool) {
        isFocused = isHere
        if isHere { lastNotice = nil }
    }

    mutating func act(now: UInt64) { (lastAct, lastNotice) = (now, nil) }

    private func isAway(now: UInt64) -> Bool { isFocused.map { !$0 } ?? (now >= lastAct + Self.absenceTime) }

    /// Returns what to tell the user of a change, which led to the present list.
    mutating func follow(_ update: Replica.Update, of list: ListData, me: String, now: UInt64) -> [Command] {
        guard wish != .off, update.origin != .own, !update.isPersons, isAway(now: now),
            lastNotice.map({ now >= $0 + Self.interval }) ?? true
        else { return [] }
        let touched = update.delta.placed.filter { $0.mark == .inserted || $0.mark == .edited }.map(\.new)
        let first = touched.lazy.joined().first {
            wish == .all || TaskWords.names(me, in: list.hand[$0].content.text)
        }
        let loss = update.notices.lazy.compactMap { Notice($0) }.first { $0.loss != nil }
        guard first != nil || loss != nil || wish == .all && !update.delta.isIdentity else { return [] }
        lastNotice = now
        if let loss { return [.notify("\(list.name): \(loss.text(in: list))")] }
        let text = first.map { Printable.line(of: list.hand[$0].content) } ?? "changes"
        nameless = (list.name, update.origin, text)
        if list.name(of: update.origin) != nil { return tell(list) }
        // Whoever makes one edit by a command is never seen on the list.
        return [.fetchHistory(list: list.name, from: list.state.revision, limit: 1)]
    }

    /// Tells what has waited for a name, once the server has answered.
    mutating func hear(_ event: Event, _ find: (String) -> ListData) -> [Command] {
        switch event {
        case .history(let list, _, _) where list == nameless?.list: tell(find(list))
        case .failed(.fetchHistory(let list, _, _), _) where list == nameless?.list: tell(find(list))
        default: []
        }
    }

    private mutating func tell(_ list: ListData) -> [Command] {
        guard let (_, origin, text) = nameless.take() else { return [] }
        return [.notify("\(list.name): \(list.name(of: origin) ?? "somebody"): \(text)")]
    }
}
