import Foundation
import HandClient
import HandCore
import HandFormats
import HandSimulation
import HandSync
import HandWire

/// A client that does a little of everything, on lists that others edit too and on one that only it edits.
///
/// Undo reaches 1,000 edits back, and keeps others' edits in the meantime with each of them. To distinguish that from
/// growth in a run of minutes, every client is replaced by a new one long before it has made so many edits.
///
/// Every second worker keeps a journal, with which its next client continues where the last one was interrupted. The
/// others start with nothing each time, once everything is acknowledged.
struct Worker {
    static let sharedLists = ["one", "two", "three", "four"]
    /// About the maximum number of items in a list.
    private static let maxItems = 300

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

    /// Works until the run is over. Afterwards, all its edits are acknowledged.
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

    /// Records what the worker does next. If that never ends, the ledger can report the state of its lists.
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

    /// Makes some edits of every shape, each on the result of the one before.
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
        // With a journal, the view is right at once. Otherwise it must arrive first.
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
        guard view.count > maxItems else { return chaos.delta(on: view, size: 3) }
        let first = chaos.random.next(below: maxItems / 2)
        return Delta.deleting(first..<first + maxItems / 2)
    }

    /// Makes an edit that the server accepts only if nothing has happened in the meantime.
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
                ledger.report("worker \(number) does not recognize its own commit \(revision) of '\(list.name)'")
            case .rejected, .superseded, .keptWords, .restored: break
            }
        }
        var rejected = 0
        for reason in outcome.rejections {
            rejected += 1
            switch reason {
            // `revisionMoved` is the purpose of an exact edit. `duplicateItem` happens when two workers delete the same
            // item and both undo that: then the item is restored only once.
            case .revisionMoved, .duplicateItem: continue
            default: ledger.report("worker \(number), '\(list.name)': \(reason)")
            }
        }
        ledger.acknowledge(max(0, edits - rejected), commits: commits)
    }

    // MARK: Other things

    /// Reads the history. Reading may fail at any time while the network is bad, but whatever arrives must be right.
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
                throw Broken("'\(name)' at revision \(last.revision) differs from what its commit says")
            }
        } catch ClientError.unreachable {
        } catch ClientError.refused(.noSuchRevision, _) {
            // The revision was forgotten in the meantime.
        }
    }

    /// Closes a list and opens it again. With a journal, which keeps them, the list has unacknowledged edits.
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

    /// Replaces the client by a new one once everything is acknowledged.
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

    /// Returns the list once it has reached that revision.
    func view(of name: String, at revision: Int) async throws -> Hand {
        let list = try await client.open(name)
        for await _ in list.events {
            let state = try await list.state()
            if state.revision >= revision, state.isLive, state.pendingCount == 0 { return state.view }
        }
        throw Broken("'\(name)' can no longer be followed")
    }

    /// Returns the number of submissions that occur twice in the recent history.
    func doubledCommits(of name: String, upTo revision: Int) async throws -> Int {
        let commits = try await client.history(of: name, from: max(1, revision - 900)).commits
        return commits.count - Set(commits.map { "\($0.author) \($0.sequence)" }).count
    }

    func close() async { await client.close() }
}
