import HandCore
import HandFormats
import HandScreens
import HandSync
import HandWire

/// The terminal client in a world that the test controls: a replica for each list, and others' commits and the server's
/// answers when the test says so. No socket, no clock.
struct Stage {
    private(set) var app: App
    private(set) var replicas: [String: Replica] = [:]
    /// The commands that the client sent.
    private(set) var commands: [Command] = []
    private(set) var now: UInt64 = 1_000
    /// The folded items that the client keeps for its next run.
    private(set) var folds: [String: [ItemID]]
    /// Whether the client knows these items as soon as it follows a list.
    private let knowsFolds: Bool
    /// Why every edit fails; nil if edits are made.
    var editProblem: String?
    /// When the items came; nil if the server does not answer.
    var arrivals: [ItemID: Int]?
    /// Whether the server makes new lists.
    var createsLists = false
    /// Whether the client has time to go on with its work at once.
    var hasTime = true

    /// In place of a QR code, a square of the size that a code of this text would have, with every third module dark.
    private static let code: @Sendable (String) -> QRCode? = { text in
        let side = text.utf8.count < 30 ? 25 : 29
        return QRCode(side: side, modules: (0..<side * side).map { $0 % 3 == 0 })
    }

    static let me: AuthorID = 1
    static let bob: AuthorID = 2

    init(
        _ lists: [String: Hand] = [:], opening route: Route = .list("things"), rows: Int = 24, columns: Int = 80,
        hasColors: Bool = true, isOnline: Bool = true, cells: any ContentCells = StandardCells(),
        keys: KeyMap = .standard, server: HandAddress.Server = .tcp(host: "host", port: 7777),
        folds: [String: [ItemID]] = [:], knowsFolds: Bool = true, seen: [String: Seen]? = [:],
        epoch: UInt64 = 0, notices: Attention.Wish = .off
    ) {
        (self.folds, self.knowsFolds) = (folds, knowsFolds)
        var settings = AppState.Settings(
            server: server, person: "ada", size: Size(rows: rows, columns: columns), epoch: epoch, keys: keys,
            hasColors: hasColors, seed: 7, cells: cells)
        settings.notices = notices
        settings.code = Stage.code
        app = App(settings, opening: route)
        for (name, hand) in lists {
            var replica = Replica(confirmed: hand, revision: 5, logID: name == "others" ? 11 : 9, sequence: 0)
            replica.author = Self.me
            replicas[name] = replica
        }
        if isOnline {
            send(.connection(.online))
            send(.latency(2))
        }
        carryOut(app.start(now: now))
        if let seen { send(.seen(seen)) }
        for name in lists.keys.sorted() { load(name, isLive: isOnline) }
    }

    // MARK: Events

    mutating func send(_ event: Event) {
        carryOut(app.update(event, now: now))
        carryOut(app.followChanges())
    }

    mutating func wait(_ milliseconds: UInt64) {
        now += milliseconds
        send(.tick)
    }

    private mutating func load(_ name: String, isLive: Bool) {
        guard let replica = replicas[name] else { return }
        tell(name, replica, isLive: isLive)
    }

    /// Reports a list's current state, and how it came about.
    mutating func tell(
        _ name: String, _ replica: Replica, _ update: Replica.Update = Replica.Update(), isLive: Bool = true
    ) {
        replicas[name] = replica
        send(.list(name, .changed(ListState(replica, isLoaded: true, isLive: isLive), update)))
    }

    private mutating func carryOut(_ new: [Command]) {
        commands += new
        for command in new {
            switch command {
            case .edit where editProblem != nil, .retrieve where editProblem != nil:
                send(.failed(command, editProblem ?? ""))
            case .edit(let list, let delta), .retrieve(let list, let delta, _):
                change(list, command) { Retraction(delta: try $0.edit(delta)) }
            case .undo(let list): change(list, command) { try $0.take(.undo) }
            case .redo(let list): change(list, command) { try $0.take(.redo) }
            case .create(let list, let rules) where createsLists:
                var replica = Replica(confirmed: Hand(rules: rules), revision: 0, logID: 10, sequence: 0)
                replica.author = Self.me
                tell(list, replica)
                send(.done(command))
            case .workOn: if hasTime { send(.continueWork) }
            case .fetchArrivals(let list): if let arrivals { send(.arrivals(list: list, arrivals)) }
            case .keepFolds(let list, let items): folds[list] = items
            case .follow(let list):
                if replicas[list] == nil { send(.list(list, .changed(ListState(), Replica.Update()))) }
                if knowsFolds { send(.folds(list: list, folds[list] ?? [])) }
            default: break
            }
        }
    }

    private mutating func change(_ list: String, _ command: Command, _ body: (inout Replica) throws -> Retraction?) {
        guard var replica = replicas[list] else { return }
        do {
            guard let made = try body(&replica) else {
                let step = if case .undo = command { "undo" } else { "redo" }
                return send(.failed(command, "nothing of yours is left to \(step)"))
            }
            tell(list, replica, Replica.Update(made, in: replica.view))
            send(.done(command))
        } catch {
            send(.failed(command, "\(error)"))
        }
    }

    /// Makes an edit of the user.
    mutating func edit(_ delta: Delta, _ list: String = "things") { carryOut([.edit(list: list, delta)]) }

    /// Confirms everything that is pending, as the server does.
    mutating func confirm(_ list: String = "things") {
        while let submission = replicas[list]?.takeSubmission(list: 1) {
            take(submission.delta, by: Self.me, sequence: submission.sequence, list)
        }
    }

    /// Delivers somebody else's edit.
    mutating func remote(_ delta: Delta, by author: AuthorID = Stage.bob, _ list: String = "things") {
        take(delta, by: author, sequence: 1, list)
    }

    /// Delivers somebody else's edit that was made before one's own was received there: it is the later one, and wins.
    mutating func remoteBefore(_ operation: Delta, _ list: String = "things") {
        guard let replica = replicas[list] else { return }
        take(operation, by: Self.bob, sequence: 1, base: replica.revision - 1, list)
    }

    private mutating func take(
        _ delta: Delta, by author: AuthorID, sequence: SequenceNumber, base: Int? = nil, _ list: String
    ) {
        guard var replica = replicas[list], let after = try? replica.confirmed.applying(delta) else { return }
        let commit = Commit(
            revision: replica.revision + 1, author: author, sequence: sequence, base: base ?? replica.revision, time: 0,
            count: after.count, digest: after.digest, delta: delta)
        guard let update = try? replica.receive(commit) else { return }
        tell(list, replica, Replica.Update(.commit(commit), delta: update.delta, notices: update.notices))
    }

    /// Rejects the submission in flight, as the server does.
    mutating func reject(_ reason: Rejection, _ list: String = "things") {
        guard var replica = replicas[list], let submission = replica.takeSubmission(list: 1) else { return }
        let update = replica.rejected(sequence: submission.sequence, reason)
        tell(list, replica, update)
    }

    mutating func goOffline(_ reason: String = "connection refused", retryIn: UInt64? = 3_000) {
        send(.connection(.offline(reason: reason, retryIn: retryIn)))
        for (name, replica) in replicas.sorted(by: { $0.key < $1.key }) { tell(name, replica, isLive: false) }
    }

    mutating func presence(
        _ name: String, on item: ItemID?, isEditing: Bool = false, author: AuthorID = Stage.bob,
        _ list: String = "things"
    ) {
        let place = DownMessage.Presence.Place.here(person: name, item.map { Focus($0, isEditing: isEditing) })
        send(.list(list, .presence([DownMessage.Presence(author: author, place: place)])))
    }

    // MARK: Keys

    /// Presses keys, written as in the configuration file; text in quotes is typed character by character.
    mutating func press(_ keys: String) {
        var isText = false
        for part in keys.split(separator: "'", omittingEmptySubsequences: false) {
            if isText {
                for character in part { press(Key(.character(character))) }
            } else {
                for word in part.split(separator: " ") {
                    guard let key = try? Key(String(word)) else { fatalError("'\(word)' is no key") }
                    press(key)
                }
            }
            isText.toggle()
        }
    }

    mutating func press(_ key: Key) { send(.input(.key(key))) }

    mutating func mouse(_ act: Mouse.Act, row: Int, column: Int = 10) {
        send(.input(.mouse(Mouse(act, at: Point(row: row, column: column)))))
    }

    /// The user leaves the screens of this server.
    mutating func leave() -> [Command] { app.leave() }

    // MARK: The visible screen

    var lines: [String] { app.view().lines }
    func hand(_ list: String = "things") -> Hand { replicas[list]?.view ?? Hand() }
    var top: Route { app.router.top.route }
}
