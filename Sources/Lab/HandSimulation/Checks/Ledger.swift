import HandCore
import HandSync
import HandWire

/// A record of everything durable, kept apart from the system: the truth that everything else is compared with.
final class Ledger {
    /// One history of a list, commit by commit.
    struct History {
        let logID: UInt64
        var name: String
        /// All names that the list ever had.
        var names: Set<String> = []
        var commits: [Commit] = []
        /// The digest and count after each revision, by the naive reading.
        var marks: [(digest: UInt64, count: Int)]
        /// The list before the last two commits and after each of them; the newest is last.
        var lists = [NaiveList([])]
        var list: NaiveList { lists[lists.count - 1] }
        /// The last level that somebody gave to each item.
        var levels: [ItemID: UInt8] = [:]
        /// The commit that inserted each item last.
        var arrivals: [ItemID: (revision: Int, author: AuthorID)] = [:]
        /// The last sequence of each client, and the number of its edits that were committed.
        var clients: [AuthorID: (sequence: SequenceNumber, edits: Int)] = [:]
        /// The newest revision that a client has seen.
        var seen = 0
        var isDeleted = false
    }

    private unowned let system: System
    private(set) var histories: [UInt64: History] = [:]
    /// The client and person of each author, as reported to clients.
    private var owners: [AuthorID: Owner] = [:]
    private(set) var inserted = UniqueWords.Put()

    private struct Owner: Equatable {
        let client: ClientID
        let person: String
    }

    init(_ system: System) {
        self.system = system
    }

    func record(_ contents: StoreContents) {
        for list in contents.lists.values.sorted(by: { $0.stored.number < $1.stored.number }) { record(list) }
        let present = Set(contents.present.map(\.stored.logID))
        for logID in histories.keys.sorted() {
            guard let history = histories[logID], history.isDeleted != !present.contains(logID) else { continue }
            histories[logID]?.isDeleted.toggle()
            system.trace("\(history.name) is \(history.isDeleted ? "back" : "deleted")")
            if !history.isDeleted { system.promises.deleted(list: logID, committed: inserted) }
        }
    }

    private func record(_ list: StoreContents.List) {
        let logID = list.stored.logID
        let empty = History(logID: logID, name: list.stored.name, marks: [(Hand().digest, 0)])
        // The history is taken out of the dictionary while it changes, so that nothing is copied.
        var history = histories.removeValue(forKey: logID) ?? empty
        defer { histories[logID] = history }
        history.name = list.stored.name
        history.names.insert(history.name)
        if list.stored.revision < history.commits.count {
            system.report(
                .durability, "\(history.name) was at \(history.commits.count), is at \(list.stored.revision)")
        }
        for frame in list.frames(after: history.commits.count, about: .max) {
            do { try add(try frame.commit(), to: &history, rules: list.stored.rules) } catch {
                system.report(.digest, "\(history.name), revision \(frame.revision): \(error)")
            }
        }
    }

    /// Removes commits that are no longer durable.
    func wentBack(to contents: StoreContents) {
        for list in contents.lists.values {
            guard let history = histories[list.stored.logID], list.stored.revision < history.commits.count else {
                continue
            }
            var rest = History(
                logID: history.logID, name: history.name, names: history.names, marks: [history.marks[0]])
            (rest.isDeleted, rest.seen) = (history.isDeleted, list.stored.revision)
            for commit in history.commits.prefix(list.stored.revision) {
                try? add(commit, to: &rest, rules: list.stored.rules)
            }
            histories[history.logID] = rest
        }
    }

    private func add(_ commit: Commit, to history: inout History, rules: Rules) throws {
        let place = "\(history.name), revision \(commit.revision)"
        let client = self.client(of: commit.author)
        let last = history.clients[client] ?? (0, 0)
        if commit.sequence <= last.sequence {
            let text = "author \(commit.author) has \(commit.sequence) after \(last.sequence)"
            system.report(.exactlyOnce, "\(place): \(text)")
        }
        history.clients[client] = (commit.sequence, last.edits + (commit.refusal == nil ? 1 : 0))
        let problem = system.mergers.problem(with: commit, of: history.logID, history.commits, history.lists)
        if let problem { system.report(.merge, "\(place): \(problem)") }
        let limit = system.schedule.limits.submissionWork
        // The work is not checked once a delta was altered.
        let work = system.mergers.work(for: commit, of: history.logID, history.commits)
        // With several servers, one server may not know yet what the clients of another server have seen.
        if let work, work > limit, !system.hasGarbled, !system.isShared {
            system.report(.work, "\(place): \(work) work before the last step; the limit is \(limit)")
        }
        let before = history.list
        history.lists.append(try before.applying(commit.delta))
        let new = Set(commit.delta.insertedItems.map(\.id))
        // An edit of an item that others have deleted and brought back meanwhile has no effect.
        let given = system.mergers.levels(givenBy: commit, of: history.logID) {
            [arrivals = history.arrivals] item, base in
            guard !new.contains(item), let arrival = arrivals[item] else { return true }
            return arrival.revision <= base || arrival.author == commit.author
        }
        for item in new { history.arrivals[item] = (commit.revision, commit.author) }
        history.levels.merge(given ?? commit.delta.levels(on: before.items)) { $1 }
        if history.lists.count > 3 { history.lists.removeFirst() }
        let items = history.list.items
        let (digest, count) = (Hand(items).digest, items.count)
        if digest != commit.digest || count != commit.count { system.report(.digest, "\(place) has a wrong digest") }
        if Set(items.map(\.id)).count != count { system.report(.intention, "\(place): an item occurs twice") }
        if let item = items.first(where: { history.levels[$0.id] != $0.level }), !system.hasGarbled {
            let last = history.levels[item.id].map { "\($0)" } ?? "none"
            system.report(.intention, "\(place): item \(item.id) has level \(item.level), and was given \(last)")
        }
        if count > rules.maximumCount { system.report(.rules, "\(place): \(count) items") }
        inserted.formUnion(commit.delta.put)
        if let item = system.promises.refused(among: commit.delta.insertedItems, of: commit.author) {
            system.report(.exactlyOnce, "\(place): item \(item) is committed, although it was refused")
        }
        system.promises.removed(try history.lists[history.lists.count - 2].removedWords(by: commit.delta))
        for item in commit.delta.insertedItems {
            if let home = system.promises.origin(of: .item(item.id))?.list, home != history.logID {
                let other = histories[home]?.name ?? "another list"
                system.report(.intention, "\(place): item \(item.id) was made on \(other)")
            }
            if rules.violation(of: item) != nil || item.content == .card(.faceDown) && rules.hasDeck {
                system.report(.rules, "\(place): \(item.content)")
            }
        }
        system.trace("\(place) is durable: author \(commit.author), \(commit.delta.summary)")
        history.commits.append(commit)
        history.marks.append((digest, count))
        // The client does not know of the refusal yet.
        if commit.refusal != nil {
            for client in system.clients where client.machine?.author == commit.author { system.strike(client) }
        }
    }

    /// The client number of the author, or 0 if no commit of its client is durable. A client has one author for each of
    /// its names.
    private func client(of author: AuthorID) -> AuthorID {
        let contents = system.disk.durable
        return contents.person(author)?.client ?? owners[author].flatMap { contents.number(of: $0.client) } ?? 0
    }

    // MARK: Comparing

    func check(author: AuthorID, isOf client: ClientID, named person: String) {
        let owner = Owner(client: client, person: person)
        if let other = owners.updateValue(owner, forKey: author), other != owner {
            system.report(.exactlyOnce, "\(person) and \(other.person) are both called author \(author)")
        }
    }

    func check(_ commit: Commit, of name: String, client: Int) {
        let known = histories.values.filter { $0.names.contains(name) && $0.commits.count >= commit.revision }
        if known.isEmpty {
            system.report(.durability, "client \(client) saw \(name) at \(commit.revision), which is not durable")
        } else if !known.contains(where: { $0.commits[commit.revision - 1] == commit }) {
            system.report(.order, "client \(client) received a different commit \(commit.revision) of \(name)")
        }
        for history in known { histories[history.logID]?.seen = max(history.seen, commit.revision) }
    }

    /// Checks a submission that was acknowledged to a client as durable.
    func check(
        acknowledged sequence: SequenceNumber, through revision: Int, of name: String, author: AuthorID, client: Int
    ) {
        let isThere = histories.values.contains { history in
            history.names.contains(name)
                && history.commits.prefix(revision).contains {
                    $0.sequence == sequence && $0.refusal == nil
                        && self.client(of: $0.author) == self.client(of: author)
                }
        }
        if !isThere {
            system.report(.durability, "client \(client): \(name) lacks the acknowledged submission \(sequence)")
        }
    }

    /// Checks that no edit is in two commits: each commit holds at least one edit of its author.
    func check(edits: Int, of replica: Replica, _ name: String, client: Int) {
        guard let author = replica.author,
            let commits = histories[replica.logID]?.clients[self.client(of: author)]?.edits
        else { return }
        // An altered commit counts as another program's, so the client makes the edit again.
        if commits > edits, !system.hasGarbled {
            system.report(
                .exactlyOnce, "client \(client) has made \(edits) edits of \(name), and \(commits) are committed")
        }
    }

    /// Checks what a replica considers confirmed.
    func check(_ replica: Replica, of name: String, client: Int) {
        guard replica.logID != 0, !replica.hasDiverged else { return }
        guard let history = histories[replica.logID], replica.revision < history.marks.count else {
            return system.report(.durability, "client \(client) has \(name) at \(replica.revision), not durable")
        }
        let mark = history.marks[replica.revision]
        if replica.confirmed.digest != mark.digest || replica.confirmed.count != mark.count {
            system.report(.digest, "client \(client) has something else at revision \(replica.revision) of \(name)")
        }
    }
}

extension NaiveList {
    fileprivate func removedWords(by delta: Delta) throws -> Set<Thing> {
        let after = Dictionary(try applying(delta).items.map { ($0.id, $0.things) }) { $0.union($1) }
        return items.reduce(into: []) { $0.formUnion($1.things.subtracting(after[$1.id] ?? $1.things)) }
    }
}

extension Delta {
    /// What the delta does, for a trace.
    var summary: String {
        components.map { component in
            switch component {
            case .keep(let count): "keep \(count)"
            case .edit: "edit"
            case .delete(let count): "delete \(count)"
            case .pick(let count): "pick \(count)"
            case .insert(let items, let side):
                "insert \(items.map { "\($0.id)".prefix(4) }.joined(separator: " ")) \(side)"
            case .drop(let slots, let side, _): "drop \(slots.count) \(side)"
            }
        }.joined(separator: ", ")
    }
}
