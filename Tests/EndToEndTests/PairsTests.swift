import Foundation
import HandTestSupport
import Testing

/// Two commands at once on one server, each pair of those that may get into each other's way. Whichever is first: what was
/// acknowledged is in the history, nobody may more than before, a copy is whole or not there, and each ends as `--help` says.
@Suite(.serialized, .timeLimit(.minutes(10))) struct PairsTests {
    @Test(arguments: PairDeed.allCases.filter { !$0.isKept }) func atOnce(first: PairDeed) throws {
        try play(first, PairDeed.allCases.filter { first.rawValue <= $0.rawValue && !$0.isKept })
    }

    /// Who has kept edits that wait, or follows the list, beside everybody who changes it.
    @Test(arguments: PairDeed.allCases.filter(\.isKept)) func besideWhatIsKept(first: PairDeed) throws {
        try play(first, PairDeed.allCases.filter { !$0.isKept || first.rawValue <= $0.rawValue })
    }

    private func play(_ first: PairDeed, _ others: [PairDeed]) throws {
        let world = try PairWorld()
        defer { world.server.kill() }
        var places: [PairPlace] = []
        for second in others where first.meets(second) {
            let place = try world.place("\(places.count)", [first, second])
            try world.play(place)
            places.append(place)
        }
        try world.expectAllAfterKill(places)
    }
}

/// What one of the two does.
enum PairDeed: String, CaseIterable {
    case add, tick, clear, undo, fill, save
    case make, delete, rename, undelete
    case token, grant, revoke, guests, share
    case backup, order, verify
    /// What must not be possible while the server runs.
    case recover, serve
    /// Sends what waits; follows the list; edits it on the whole screen, which is left, or killed.
    case sync, watch, open, cut

    var isKept: Bool { [.sync, .watch, .open, .cut].contains(self) }
    /// Whether it goes on until it is told to end.
    var stays: Bool { isKept && self != .sync }
    var changesNames: Bool { [.delete, .rename, .undelete].contains(self) }

    /// What somebody does with one list.
    private var isOnList: Bool {
        [.add, .tick, .clear, .undo, .fill, .save, .make, .delete, .rename, .undelete, .share].contains(self) || isKept
    }
    var isOnRights: Bool { [.token, .grant, .revoke, .guests, .share].contains(self) }
    private var isOnStore: Bool { [.backup, .order, .verify, .recover, .serve].contains(self) }

    /// Whether both have to do with the same files or lists.
    func meets(_ other: PairDeed) -> Bool {
        let writes: Set<PairDeed> = [.add, .fill, .delete, .rename, .token, .revoke, .sync]
        let changes: Set<PairDeed> = [.add, .clear, .undo, .delete, .rename, .sync, .watch, .open, .cut]
        if stays || other.stays { return changes.contains(self) && changes.contains(other) }
        return isOnList && other.isOnList || isOnRights && other.isOnRights || isOnStore && other.isOnStore
            || isOnStore && writes.contains(other) || other.isOnStore && writes.contains(self)
    }

    /// How it may end beside another.
    func statuses(beside other: PairDeed) -> Set<Int32> {
        var statuses: Set<Int32> =
            switch self {
            case .recover, .serve: [1]
            default: [0]
            }
        // The list may be gone, or not there yet, or be called otherwise; so may the token.
        let needsList = isOnList && self != .make
        if needsList, other.changesNames || changesNames && other == self { statuses.insert(3) }
        if [.grant, .revoke].contains(self), other == .revoke { statuses.insert(3) }
        // There is nothing left to take back, or the item has been.
        if [.undo, .tick].contains(self), other == .undo { statuses.insert(3) }
        // The name is taken.
        if [self, other] == [.make, .make]
            || [.make, .rename].contains(self) && [.make, .rename].contains(other)
        {
            statuses.insert(7)
        }
        return statuses
    }
}

/// What a pair works on: a list and a token of its own.
struct PairPlace {
    struct Token: Decodable {
        let id: String
        let secret: String
    }

    let number: String
    let folder: String
    /// For pairs that change one.
    let token: Token?
    let deeds: [PairDeed]

    var list: String { "list" + number }
    var renamed: String { "renamed" + number }
    /// What a deleted list is called once it is back.
    var back: String { "back" + number }

    /// What its list, and others that the pair makes, may be called.
    var names: [String] {
        [list] + (deeds.contains { [.make, .rename].contains($0) } ? [renamed] : [])
            + (deeds.contains(.delete) ? [back] : [])
    }

    func path(_ name: String, _ side: Int) -> String { "\(folder)/\(name)\(number).\(side)" }
    func text(_ side: Int) -> String { "added\(number)-\(side)" }

    /// - Parameter side: which of the two it is.
    func arguments(_ deed: PairDeed, _ side: Int) -> [String] {
        switch deed {
        case .add: ["add", "-l", list, text(side)]
        case .tick: ["done", "-l", list, "1"]
        case .clear: ["clear", "-l", list]
        case .undo: ["undo", "-l", list]
        case .fill: ["import", "-l", list, "--end", path("input", side) + ".md"]
        case .save: ["export", "-l", list, path("export", side) + ".jsonl"]
        case .make: ["create", renamed]
        case .delete: ["delete", list, "--force"]
        case .rename: ["rename", list, renamed]
        case .undelete: ["undelete", list]
        case .token: ["token", "create", "new\(number)-\(side)", "--role", "read"]
        case .grant: ["token", "grant", token?.id ?? "", "--role", "read"]
        case .revoke: ["token", "revoke", token?.id ?? ""]
        case .guests: ["token", "guests", "--remote", "none"]
        case .share: ["share", list, "--role", "read"]
        case .backup: ["backup", path("backup", side)]
        case .order: ["admin", "backup", path("order", side)]
        case .verify: ["verify"]
        case .recover: ["recover", "--replace", folder + "/saved"]
        case .serve: ["serve", "--listen", path("socket", side) + ".sock"]
        case .sync: ["sync", "-l", list]
        case .watch: ["watch", "-l", list, "--json"]
        case .open, .cut: ["open", list]
        }
    }
}
