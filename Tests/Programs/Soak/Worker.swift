import Foundation
import HandClient
import HandCore
import HandFormats
import HandSimulation
import HandSync
import HandWire

/// Somebody who does a little of everything, on lists that others edit too and on one that is theirs alone.
///
/// Undo reaches 1,000 edits back, and what others do meanwhile is kept with each of them. So that a run of minutes can tell
/// growth from that, every client is replaced by one that knows nothing long before it is that far.
///
/// Every second one keeps a journal, with which the next client goes on where the last one was cut off; the others begin
/// with nothing each time, when everything is acknowledged.
struct Worker {
    static let sharedLists = ["one", "two", "three", "four"]
    /// Lists are held below about so many items.
    private static let mostItems = 300

    let number: Int
    let port: UInt16
    let folder: String
    let ledger: SoakLedger
    private var client: HandClient
    private var random: SplitMix64

    var ownList: String { "alone-\(number)" }
    private var hasJournal: Bool { number % 2 == 0 }
    private var allLists: [String] { Self.sharedLists + [ownList] }

    init(_ number: Int, port: UInt16, folder: String, ledger: SoakLedger, seed: UInt64) throws {
        self.number = number
        self.port = port
        self.folder = folder
        self.ledger = ledger
        random = SplitMix64(seed: seed &+ UInt64(number))
        client = try Self.client(number, port, folder, seed: random.next())
    }

    private static func client(_ number: Int, _ port: UInt16, _ folder: String, seed: UInt64) throws -> HandClient {
        try HandClient(
            ClientConfiguration(
                server: .tcp(host: "127.0.0.1", port: port), person: "worker \(number)", program: "soak", seed: seed,
                journalPath: number % 2 == 0 ? "\(folder)/worker-\(number).sqlite" : nil))
    }

    /// Works until it is over; then everything that it did is acknowledged.
    mutating func work() async throws {
        note("begins")
        for list in allLists { _ = try await client.open(list).live() }
        while !ledger.isOver {
            if ledger.takeReplacement(number) { try await replaceClient() }
            try await step()
            try await Task.sleep(for: .milliseconds(random.next(below: 15)))
        }
        for list in allLists { try await settle(try await client.open(list), edits: 0) }
        ledger.isDoing(number, nil)
    }

    /// Should what follows never end, the ledger can tell how the lists stand.
    private func note(_ what: String) {
        let (client, lists) = (client, allLists)
        ledger.isDoing(number) {
            var text = what
            for name in lists {
                guard let state = try? await client.open(name).state() else { continue }
                text +=
                    "; \(name) r\(state.revision) \(state.isLive ? "live" : "not live"), \(state.pendingCount) pending"
            }
            return text
        }
    }

    private mutating func step() async throws {
        let shared = Self.sharedLists[random.next(below: Self.sharedLists.count)]
        switch random.next(below: 20) {
        case 0: try await undo(shared)
        case 1: try await readHistory(of: shared)
        case 2: try await reopen(shared)
        case 3: try await showPresence(in: shared)
        case 4: try await editExactly(shared)
        case 9 where random.next(below: 4) == 0: try await beginAnew()
        case 5...8: try await editAlone()
        default:
            let edits = try await edit(shared)
            try await settle(try await client.open(shared), edits: edits)
        }
    }

    // MARK: Edits

    /// Some edits of every shape, one upon the other.
    private mutating func edit(_ name: String) async throws -> Int {
        let list = try await client.open(name)
        let edits = 1 + random.next(below: 6)
        for _ in 0..<edits {
            let seed = random.next()
            let ledger = ledger
            try await list.edit { state in
                let delta = Self.delta(on: state.view, seed: seed)
                try ledger.note(delta, on: state.view, of: name)
                return delta
            }
        }
        return edits
    }

    private mutating func editAlone() async throws {
        let name = ownList
        let list = try await client.open(name)
        // With a journal the view is right at once; else it has to come first.
        if !hasJournal { _ = try await list.live() }
        let edits = 1 + random.next(below: 6)
        for _ in 0..<edits {
            let seed = random.next()
            let ledger = ledger
            try await list.edit { state in
                try ledger.follow(state.view, of: name) { Self.delta(on: $0, seed: seed) }
            }
        }
        try await settle(list, edits: edits)
    }

    private static func delta(on view: Hand, seed: UInt64) -> Delta {
        var chaos = Chaos(seed: seed)
        guard view.count > mostItems else { return chaos.delta(on: view, size: 3) }
        let first = chaos.random.next(below: mostItems / 2)
        return Delta.deleting(first..<first + mostItems / 2)
    }

    /// An edit that the server takes only if nothing has happened meanwhile.
    private mutating func editExactly(_ name: String) async throws {
        let list = try await client.open(name)
        let pick = random.next()
        try await list.edit(isExact: true) { state in
            guard !state.view.isEmpty else { return .identity }
            let index = Int(pick % UInt64(state.view.count))
            var chaos = Chaos(seed: pick)
            return Delta.editing(at: index, chaos.change(for: state.view[index].content))
        }
        try await settle(list, edits: 1)
    }

    private mutating func undo(_ name: String) async throws {
        let list = try await client.open(name)
        let before = Set(try await list.state().view.map(\.id))
        var steps = 0
        for _ in 0...random.next(below: 3) where try await list.undo() { steps += 1 }
        if random.next() & 1 == 0, try await list.redo() { steps += 1 }
        ledger.forget(before.subtracting(try await list.state().view.map(\.id)), of: name)
        try await settle(list, edits: steps)
    }

    private func settle(_ list: FollowedList, edits: Int) async throws {
        note("settles \(list.name)")
        let outcome = try await list.settled()
        var commits = 0
        for notice in outcome.notices {
            switch notice {
            case .acknowledged: commits += 1
            case .diverged(let revision):
                ledger.report("worker \(number) had another '\(list.name)' than the server at revision \(revision)")
            case .usedTwice(let revision):
                ledger.report("worker \(number) does not know its own commit \(revision) of '\(list.name)'")
            case .rejected, .superseded, .spared: break
            }
        }
        var rejected = 0
        for reason in outcome.rejections {
            rejected += 1
            switch reason {
            // The first is what is asked of an exact edit. The second comes of two who deleted one item and both took that
            // back: it is there again once.
            case .revisionMoved, .duplicateItem: continue
            default: ledger.report("worker \(number), '\(list.name)': \(reason)")
            }
        }
        ledger.acknowledge(max(0, edits - rejected), commits: commits)
    }

    // MARK: Other things

    /// Reading may fail at any time while the network does; what comes must be right.
    private mutating func readHistory(of name: String) async throws {
        note("reads the history of \(name)")
        let revision = try await client.open(name).state().revision
        let first = max(1, revision - random.next(below: 1_000))
        do {
            let commits = try await client.history(of: name, from: first, limit: 200).commits
            guard commits.map(\.revision) == Array(first..<first + commits.count) else {
                throw Broken("history of '\(name)' from \(first) has gaps")
            }
            guard let last = commits.last else { return }
            let state = try await client.state(of: name, at: last.revision)
            guard state.hand.digest == last.digest, state.revision == last.revision else {
                throw Broken("'\(name)' at revision \(last.revision) is not what its commit says")
            }
        } catch ClientError.unreachable {
        } catch ClientError.refused(.noSuchRevision, _) {
            // Forgotten meanwhile.
        }
    }

    /// Closes a list, with edits that are not acknowledged if they are kept, and opens it again.
    private mutating func reopen(_ name: String) async throws {
        let edits = hasJournal ? try await edit(name) : 0
        try await client.open(name).close()
        try await settle(try await client.open(name), edits: edits)
    }

    private mutating func showPresence(in name: String) async throws {
        let list = try await client.open(name)
        let view = try await list.state().view
        let isEditing = random.next() & 1 == 0
        let item = view.isEmpty || random.next() & 1 == 0 ? nil : view[random.next(below: view.count)].id
        list.setPresence(item.map { Focus($0, isEditing: isEditing) })
    }

    private mutating func replaceClient() async throws {
        note("is replaced")
        var edits = 0
        let name = Self.sharedLists[random.next(below: Self.sharedLists.count)]
        if hasJournal { edits = try await edit(name) }
        await client.close()
        client = try Self.client(number, port, folder, seed: random.next())
        for list in allLists { _ = try await client.open(list) }
        try await settle(try await client.open(name), edits: edits)
    }

    /// Somebody else takes over, when everything is acknowledged.
    private mutating func beginAnew() async throws {
        for list in allLists { try await settle(try await client.open(list), edits: 0) }
        note("begins anew")
        await client.close()
        for ending in ["", "-wal", "-shm", ".lock"] {
            try? FileManager.default.removeItem(atPath: "\(folder)/worker-\(number).sqlite\(ending)")
        }
        client = try Self.client(number, port, folder, seed: random.next())
        for list in allLists { _ = try await client.open(list).live() }
    }

    // MARK: The end

    func revision(of name: String) async throws -> Int { try await client.open(name).state().revision }

    /// The list once it has come to that revision.
    func view(of name: String, at revision: Int) async throws -> Hand {
        let list = try await client.open(name)
        for await _ in list.events {
            let state = try await list.state()
            if state.revision >= revision, state.isLive, state.pendingCount == 0 { return state.view }
        }
        throw Broken("'\(name)' cannot be followed any more")
    }

    /// Submissions that are in the newest history twice.
    func doubledCommits(of name: String, upTo revision: Int) async throws -> Int {
        let commits = try await client.history(of: name, from: max(1, revision - 900)).commits
        return commits.count - Set(commits.map { "\($0.author) \($0.sequence)" }).count
    }

    func close() async { await client.close() }
}
