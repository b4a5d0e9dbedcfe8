import Foundation
import HandTestSupport
import Testing

/// Two commands at once on one server: every pair that may conflict. Whichever is first: acknowledged edits are in the
/// history, nobody has more rights than before, a copy is complete or absent, and each command ends as `--help` says.
@Suite(.serialized, .timeLimit(.minutes(10))) struct PairsTests {
    @Test(arguments: PairAction.allCases.filter { !$0.isKept })
    func twoCommandsAtOnceLoseNothing(first: PairAction) throws {
        try play(first, PairAction.allCases.filter { first.rawValue <= $0.rawValue && !$0.isKept })
    }

    /// A client with pending edits, or a follower of the list, alongside every command that changes it.
    @Test(arguments: PairAction.allCases.filter(\.isKept)) func alongsideKeptLists(first: PairAction) throws {
        try play(first, PairAction.allCases.filter { !$0.isKept || first.rawValue <= $0.rawValue })
    }

    private func play(_ first: PairAction, _ others: [PairAction]) throws {
        let world = try PairWorld()
        defer { world.server.kill() }
        var played: [(PairPlace, String)] = []
        for second in others where first.meets(second) && isChosen() {
            let place = try world.place("\(played.count)", [first, second])
            played.append((place, try world.play(place)))
        }
        try world.expectAllAfterKill(played)
    }
}

/// The action of one of the two.
enum PairAction: String, CaseIterable {
    case add, tick, clear, undo, fill, save
    case make, delete, rename, undelete
    case token, grant, revoke, guests, share
    case backup, order, verify
    /// Must not be possible while the server runs.
    case recover, serve
    /// Sends pending edits; follows the list; edits it on the full screen, which is left, or killed.
    case sync, watch, open, cut

    var isKept: Bool { [.sync, .watch, .open, .cut].contains(self) }
    /// Whether it runs until it is told to end.
    var stays: Bool { isKept && self != .sync }
    var changesNames: Bool { [.delete, .rename, .undelete].contains(self) }

    /// Whether it acts on one list.
    private var isOnList: Bool {
        [.add, .tick, .clear, .undo, .fill, .save, .make, .delete, .rename, .undelete, .share].contains(self) || isKept
    }
    var isOnRights: Bool { [.token, .grant, .revoke, .guests, .share].contains(self) }
    private var isOnStore: Bool { [.backup, .order, .verify, .recover, .serve].contains(self) }

    /// Whether both act on the same files or lists.
    func meets(_ other: PairAction) -> Bool {
        let writes: Set<PairAction> = [.add, .fill, .delete, .rename, .token, .revoke, .sync]
        let changes: Set<PairAction> = [.add, .clear, .undo, .delete, .rename, .sync, .watch, .open, .cut]
        if stays || other.stays { return changes.contains(self) && changes.contains(other) }
        return isOnList && other.isOnList || isOnRights && other.isOnRights || isOnStore && other.isOnStore
            || isOnStore && writes.contains(other) || other.isOnStore && writes.contains(self)
    }

    /// Returns the exit codes that it may have alongside another.
    func statuses(beside other: PairAction) -> Set<Int32> {
        var statuses: Set<Int32> =
            switch self {
            case .recover, .serve: [1]
            default: [0]
            }
        // The list may be deleted, or not exist yet, or have another name; the token may be gone, too.
        let needsList = isOnList && self != .make
        if needsList, other.changesNames || changesNames && other == self { statuses.insert(3) }
        if [.grant, .revoke].contains(self), other == .revoke { statuses.insert(3) }
        // The other one has the edits, and has not sent them yet.
        if self == .sync, other.stays { statuses.insert(1) }
        // There is nothing left to undo, or the item is gone.
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

/// What a pair works on: its own list and token.
struct PairPlace {
    struct Token: Decodable {
        let id: String
        let secret: String
    }

    let number: String
    let folder: String
    /// For pairs that change a token.
    let token: Token?
    let actions: [PairAction]

    var list: String { "list" + number }
    var renamed: String { "renamed" + number }
    /// The name of a deleted list after it is restored.
    var back: String { "back" + number }

    /// The possible names of its list, and of others that the pair creates.
    var names: [String] {
        [list] + (actions.contains { [.make, .rename].contains($0) } ? [renamed] : [])
            + (actions.contains(.delete) ? [back] : [])
    }

    func path(_ name: String, _ side: Int) -> String { "\(folder)/\(name)\(number).\(side)" }
    func text(_ side: Int) -> String { "added\(number)-\(side)" }

    /// - Parameter side: the side of the pair, 0 or 1.
    func arguments(_ action: PairAction, _ side: Int) -> [String] {
        switch action {
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
