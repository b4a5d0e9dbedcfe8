import HandCore
import HandSync

extension SimulatedClient {
    /// Checks that a client is notified when it loses words to an author who had not seen them.
    func checkNotified(_ commit: Commit, _ notices: [Replica.Notice], _ list: String) {
        let isOwn = commit.author == machine?.author
        // A copy of the client makes commits as the same author.
        let isMade = notices.contains {
            if case .acknowledged(commit.sequence, commit.revision) = $0 { isOwn } else { false }
        }
        let told = notices.reduce(into: Set<Substring>()) { told, notice in
            if case .superseded(_, .words(let loss, _), _) = notice {
                told.formUnion(UniqueWords.all(in: loss.lost))
            }
        }
        for change in commit.delta.changes {
            for word in change.removedWords {
                guard let revision = ownWords[list]?.removeValue(forKey: word) else { continue }
                // A copy of the client may have put the word there a second time.
                guard !isOwn, commit.base < revision, !told.contains(word), !isCommitted(word, in: list),
                    link?.serverEnd.hasGarbled != true
                else { continue }
                system.report(
                    .words, "client \(number) is not told that \(word) is gone from \(list) since \(commit.revision)")
            }
            for word in change.insertedWords where isMade { ownWords[list, default: [:]][word] = commit.revision }
        }
    }

    private func isCommitted(_ word: Substring, in list: String) -> Bool {
        machine?.subscriptions[list]?.replica.confirmed.contains { $0.content.text.contains(word) } == true
    }

    /// Checks that an undo removes only its author's own insertions. Words disappear with their items.
    func checkUndo(of name: String, _ before: Hand, _ after: Hand) {
        guard !isCopied else { return }
        // If a client was sent an altered delta, an item may occur twice.
        let left = Dictionary(after.map { ($0.id, $0.things) }) { $0.union($1) }
        for item in before {
            for thing in item.things.subtracting(left[item.id] ?? item.things) {
                guard let origin = system.promises.origin(of: thing), !system.promises.hasPut(thing, client: number)
                else { continue }
                let now = after.first { $0.id == item.id }.map { "'\($0.content.text)'" } ?? "nothing"
                system.report(
                    .words,
                    "an undo of client \(number) takes \(thing) of client \(origin.client) out of \(name): '\(item.content.text)' becomes \(now)"
                )
            }
        }
    }

    /// Checks the invariants that hold for every replica at every moment.
    func check() {
        // A server that alters several commits in a second is found out.
        if let violation = machine?.violation, !system.hasGarbled || violation != ClientMachine.disagreement {
            system.report(.protocol, "client \(number): \(violation)")
        }
        for (name, subscription) in (machine?.subscriptions ?? [:]).sorted(by: { $0.key < $1.key }) {
            let replica = subscription.replica
            if !replica.hasDiverged, let problem = replica.brokenInvariant() {
                system.report(.invariant, "client \(number), \(name): \(problem)")
            }
            if let view = followed[name], view != replica.view {
                system.report(.view, "client \(number): the deltas of \(name) do not lead to its view")
            }
            system.ledger.check(replica, of: name, client: number)
            if !isCopied { system.ledger.check(edits: edits[replica.logID] ?? 0, of: replica, name, client: number) }
            // Check only when all journal writes have reached the disk.
            guard machine?.keptMark == machine?.journalMark else { continue }
            // The list may also be open under a former name.
            let pending = machine?.subscriptions.values.filter { $0.replica.logID == replica.logID } ?? []
            let lost = system.promises.lost(
                client: number, list: replica.logID, pending: pending.flatMap(\.replica.pending),
                committed: system.ledger.inserted)
            guard let lost, !kept(ofClosedOnes: true).contains(lost) else { continue }
            system.report(.intention, "client \(number) has lost \(lost) of \(name)")
        }
    }
}
