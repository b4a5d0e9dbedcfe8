import ArgumentParser
import HandClient
import HandCore
import HandFormats
import HandSync
import HandWire
import Synchronization

/// Options of commands that edit.
struct EditOptions: ParsableArguments {
    @OptionGroup var list: ListOptions

    @Option(
        help: .init("Edit only if the list is still at that revision; otherwise exit with 7.", valueName: "revision"))
    var ifRevision: Int?

    @Flag(help: "If the server cannot be reached, keep the edit for 'hand sync' to send.") var queue = false

    /// Does what needs the list's history. If the server cannot be reached, says that `--queue` does not help.
    func withHistory<Result>(_ body: () async throws -> Result) async throws -> Result {
        do { return try await body() } catch  where queue && Failure(error).status == .unreachable {
            throw Failure(
                .unreachable,
                "\(Failure(error).message). Nothing is kept for later: only the server has the history that this needs")
        }
    }

    /// Makes an edit of the named items. Waits for the server's answer and prints the result. Only those items are
    /// requested from the server.
    func edit(
        _ items: [ItemReference] = [], _ make: @escaping @Sendable (PartialList) throws -> Delta
    ) async throws {
        try await edit(knowing: .items(ItemReference.selections(of: items)), make)
    }

    /// Makes an edit of items, their sub-items and a place. `make` gets the items' positions.
    func editBranches(
        _ items: [ItemReference], to place: Place = .end,
        _ make: @escaping @Sendable (PartialList, [Int]) throws -> Delta
    ) async throws {
        try await Self.withBranches(of: items + place.neighbours) { part, find in
            try await edit(knowing: .items(part)) { try make($0, try Array(find($0).prefix(items.count))) }
        }
    }

    /// Runs `body` with what must be requested from the server to edit items and their sub-items: the items that have a
    /// number with some items below, and more if sub-items go on. `body` finds the items' positions with the function
    /// that it gets.
    static func withBranches<Result>(
        of items: [ItemReference],
        _ body: ([Excerpt.Selection], _ find: @escaping @Sendable (PartialList) throws -> [Int]) async throws -> Result
    ) async throws -> Result {
        let found = Mutex<[Int]>([])
        var below = 15
        // Items that are named by ids must be found first.
        var numbers = items.compactMap { if case .index(let number) = $0 { number - 1 } else { nil } }
        while true {
            let possible = numbers.filter((0..<Rules.unlimitedCount).contains)
            let part =
                ItemReference.selections(of: items) + ItemReference.context(of: possible, below: below)
            do {
                return try await body(part) { list in
                    let places = try items.map { try $0.position(in: list) }
                    found.withLock { $0 = places }
                    return places
                }
            } catch is PartialList.Unknown {
                let places = found.withLock { $0 }
                if places == numbers { below *= 8 }
                numbers = places
            }
        }
    }

    /// Makes the same change of each item that it changes.
    func edit(_ items: [ItemReference], _ change: Change) async throws {
        try await edit(items) { list in
            let changed = try items.filter { reference in
                let item = try list.item(at: reference.position(in: list))
                return (try? item.applying(change)) != item
            }
            return try References.changing(changed, in: list, change)
        }
    }

    /// Makes an edit that needs that part of the list. Edits of the list that wait on this machine are sent first. If
    /// the server cannot be reached, `--queue` keeps the edit.
    func edit(
        knowing part: EphemeralList.Part, _ make: @escaping @Sendable (PartialList) throws -> Delta
    ) async throws {
        let summary = EditSummary()
        let delta = noting(make, in: summary)
        do {
            if let outcome = try await commit(knowing: part, delta) {
                try report(outcome, summary)
            } else {
                report(revision: nil)
            }
        } catch  where queue && Failure(error).status == .unreachable {
            try await keep(summary, delta)
        }
    }

    /// Returns `make` with what an edit notes: nil if the edit changes nothing.
    func noting(
        _ make: @escaping @Sendable (PartialList) throws -> Delta, in summary: EditSummary
    ) -> @Sendable (PartialList) throws -> Delta? {
        { list in
            let delta = try make(list)
            if try delta.changesNothing(of: list) { return nil }
            try summary.note(delta, on: list)
            return delta
        }
    }

    /// Makes an edit, and waits for the server's answer. Returns nil if `make` returns nil.
    func commit(
        knowing part: EphemeralList.Part, _ make: @escaping @Sendable (PartialList) throws -> Delta?
    ) async throws -> Settlement? {
        let (name, server, expected, queue) = (try list.name(), list.server, ifRevision, queue)
        Interruption.begin()
        return try await server.withClient(list: name, telling: false) { client, _ in
            let told = try await Losses.beginTelling(of: name, client, server)
            // The next edit may have to wait: then it needs a copy of the list.
            let part = queue ? .all : part
            let isExact = expected != nil
            let outcome = try await client.edit(name, knowing: part, isExact: isExact, keepsCopy: queue) { list in
                await told.value
                try await Self.check(list, is: expected, name, client)
                return try make(list)
            }
            if outcome != nil { try await server.noteTold(of: name, client) }
            return outcome
        }
    }

    /// Throws if a list has changed since the expected revision. A refused edit has a revision, and changes nothing.
    static func check(_ list: PartialList, is expected: Int?, _ name: String, _ client: HandClient) async throws {
        guard let expected, list.revision != expected else { return }
        var last = (0...list.revision).contains(expected) ? expected : nil
        while let known = last, known < list.revision {
            let commits = try await client.history(of: name, from: known + 1, limit: 100).commits
            let isUnchanged = commits.first?.revision == known + 1 && commits.allSatisfy { $0.refusal != nil }
            last = isUnchanged ? commits.last?.revision : nil
        }
        if last == nil { throw ClientError.rejected(.revisionMoved(now: list.revision)) }
    }

    /// Makes an edit on this machine's newest copy of the list, and keeps it there.
    private func keep(
        _ summary: EditSummary, _ make: @escaping @Sendable (PartialList) throws -> Delta?
    ) async throws {
        let (name, server, expected, isExact) = (try list.name(), list.server, ifRevision, ifRevision != nil)
        let address = try server.address(name)
        let doubt = try Self.doubt(of: name, at: address)
        let client = try Identity.client(at: address, person: try server.user.name(), keepsLists: true)
        struct NothingToDo: Error {}
        do {
            let copies = try Identity.kept(name, at: address)
            // Another command may have a newer copy.
            if let seen = copies.first { try await client.adopt(seen, of: name) }
            try await client.open(name).edit(isExact: isExact) { state in
                if isExact, copies.contains(where: \.hasPending) {
                    let command = Suggestion.command("sync")
                    throw Failure(
                        .conflict,
                        "edits of yours wait to be sent first, and make another revision: without --if-revision, the edit "
                            + "waits behind them. '\(command)' sends them")
                }
                do {
                    // What the person sees: without a copy, nothing is known of the list.
                    let shown = state.isLoaded ? Identity.shown(copies) : Hand()
                    let list = PartialList(shown, logID: state.logID, revision: state.revision)
                    if let expected, expected != state.revision {
                        throw ClientError.rejected(.revisionMoved(now: state.revision))
                    }
                    guard let delta = try make(list) else { throw NothingToDo() }
                    return try delta.moved(from: shown, to: state.view)
                } catch {
                    if state.isLoaded { throw error }
                    throw Failure(
                        .unreachable,
                        "no server answers, and this machine has no copy of '\(name)': without a copy, items can only be added "
                            + "at the end or the top. '\(Suggestion.command("ls"))' keeps a copy")
                }
            }
        } catch {
            await client.close()
            if error is NothingToDo { return report(revision: nil) }
            throw error
        }
        await client.close()
        let words: Printable =
            "\(address.server) cannot be reached: the edit is kept, '\(Suggestion.command("sync"))' sends it\(doubt)"
        if server.json {
            Output.note(done: words)
            Output.json(JSONValue(fields: ["revision": JSONValue.null, "waits": true, "changes": summary.json]))
        } else {
            summary.tell(server)
        }
        server.say(words)
    }

    /// What to say of a list that this machine knows nothing of: its name may be misspelt.
    private static func doubt(of name: String, at address: HandAddress) throws -> String {
        if try Identity.kept(name, at: address).contains(where: { $0.logID != 0 }) { return "" }
        let guess = Spelling.question(name, among: try Identity.keptLists(at: address).filter { $0 != name })
        return ". This machine has no copy of '\(name)': if there is no such list, the edit waits until there is one."
            + guess
    }

    /// Prints the outcome of an edit.
    ///
    /// - Parameter more: additional JSON members.
    func report(_ outcome: Settlement, _ summary: EditSummary, _ more: [JSONValue.Member] = []) throws {
        list.server.tell(outcome)
        summary.follow(outcome.commits)
        if let rejection = outcome.rejections.first { throw ClientError.rejected(rejection) }
        report(revision: outcome.revision, summary, more + Losses.members(of: outcome))
    }

    func report(revision: Int?, _ summary: EditSummary = EditSummary(), _ more: [JSONValue.Member] = []) {
        if !list.server.json { summary.tell(list.server) }
        list.server.tell(
            .object(
                [.init("revision", JSONValue(orNull: revision))] + more + [.init("changes", summary.json)]),
            revision.map { "revision \($0)" } ?? "nothing to do")
    }
}

extension Delta {
    /// The same edit of another state of a list.
    ///
    /// - Throws: `Failure` if an item that the edit changes is not there.
    fileprivate func moved(from list: Hand, to other: Hand) throws -> Delta {
        if list.digest == other.digest { return self }
        let touched = deletedItems(on: list).map(\.id) + intentions(on: list).map(\.item.id)
        guard touched.allSatisfy({ other.index(of: $0) != nil }) else {
            throw Failure(
                .conflict,
                "an item waits to be sent with the edits of another command: '\(Suggestion.command("sync"))' sends them, and "
                    + "then it can be edited")
        }
        return transformed(over: Delta(from: list, to: other), as: .later)
    }

    /// Whether the list stays the same, for example after ticking a ticked task. O(size of the delta · log n).
    func changesNothing(of list: PartialList) throws -> Bool {
        let list = try list.hand(for: self)
        return (try? list.applying(self).digest) == list.digest
    }
}

/// Messages about what happened to the user's edits, except for losses.
enum Notices {
    static func text(_ notice: Replica.Notice) -> String? {
        switch notice {
        case .acknowledged, .superseded, .rejected: return nil
        case .keptWords(let item, .words(let loss, _)): return Printable.stays(loss, in: item.content)
        case .keptWords: return nil
        case .usedTwice(let revision):
            return "another program used this one's client id for revision \(revision), perhaps from a copy of "
                + "\(Settings.stateFolder)/clients; your edit was sent again, under a new id"
        case .diverged(let revision):
            return "this list differed from the server's at revision \(revision); it was loaded again"
        case .restored(let gone): return Printable.restored(gone: gone)
        }
    }
}
