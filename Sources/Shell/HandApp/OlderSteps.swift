import HandClient
import HandSync

/// Undoes and redoes edits from before the history of a list's replica, one after another. Reads what is needed from
/// the server.
final class OlderSteps {
    /// A step to take. `then` is called with nil when it is taken, or else with the reason why it is not.
    private typealias Wish = (step: UndoStep, list: String, then: (String?) -> Void)

    private let client: JournaledClient
    /// The oldest wish is being fulfilled.
    private var wishes: [Wish] = []
    /// Whether the oldest wish waits until the server has confirmed the edits of its list.
    private var waitsForServer = false

    init(_ client: JournaledClient) {
        self.client = client
    }

    func take(_ step: UndoStep, on list: String, then: @escaping (String?) -> Void) {
        wishes.append((step, list, then))
        if wishes.count == 1 { begin() }
    }

    /// Call this when the lists may have changed.
    func listsChanged() {
        if waitsForServer { begin() }
    }

    private func begin() {
        waitsForServer = false
        guard let wish = wishes.first else { return }
        guard let list = client.machine.subscriptions[wish.list], list.isLive else {
            return end("nothing of yours is left to \(wish.step) on this machine; older edits need the server")
        }
        if list.replica.hasPending {
            waitsForServer = true
            return
        }
        let (log, revision) = (list.replica.logID, list.replica.revision)
        // This client's journal is one of those that are read: it has to be up to date.
        client.askJournal(otherwise: UndoReconstruction.Memory()) { [memory = client.configuration.memory] _ in
            memory(log)
        } then: { [weak self] memory in
            if self?.client.isClosed != false { return }
            switch memory {
            case .success(let memory): self?.read(UndoReconstruction(memory, revision: revision), wish, at: revision)
            case .failure(let error): self?.end("\(error)")
            }
        }
    }

    private func read(_ past: UndoReconstruction, _ wish: Wish, at revision: Int) {
        client.askAll(UndoRequests(.step(wish.step), past, of: wish.list)) { [weak self] requests, failure in
            if let failure { self?.end(failure) } else { self?.make(requests.advice, wish, at: revision) }
        }
    }

    private func make(_ advice: UndoReconstruction.Advice, _ wish: Wish, at revision: Int) {
        guard case .make(var retraction, _, _, var empty) = advice else {
            return end("nothing of yours is left to \(wish.step)")
        }
        let replica = client.machine.subscriptions[wish.list]?.replica
        let isEmpty = replica?.view.isUnchanged(by: retraction.delta) == true
        if isEmpty {
            empty += 1
            retraction = Retraction(delta: .identity, keptWords: retraction.keptWords)
        }
        do {
            let isMade = try client.edit { try $0.take(wish.step, retraction, on: wish.list, at: revision) }
            // If the list has changed meanwhile, the edit must be computed again.
            if !isMade { return begin() }
        } catch {
            return end("\(error)")
        }
        guard empty > 0, let log = replica?.logID, let author = client.machine.author else { return end(nil) }
        // Without a commit, only the journal knows that a step was taken: the next one goes further back.
        client.askJournal(otherwise: ()) { [step = wish.step, empty] in
            try $0.noteEmpty(step, count: empty, in: log, at: revision, by: author)
        } then: { [weak self] result in
            if case .failure(let error) = result { self?.end("\(error)") } else { self?.end(nil) }
        }
    }

    private func end(_ problem: String?) {
        wishes.removeFirst().then(problem)
        begin()
    }
}
