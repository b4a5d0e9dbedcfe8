import HandCore
import HandSync
import HandWire

/// A client that edits a list without having a copy of it, as commands do: it subscribes without the items, asks for an
/// excerpt, makes one edit on it, and awaits the answer.
final class SimulatedCommand {
    private unowned let system: System
    private let client: SimulatedClient
    private var random: SplitMix64
    private var edit: Edit?

    private struct Edit {
        let request: RequestNumber
        let name: String
        let logID: UInt64
        let item: Item
    }

    init(_ system: System) {
        self.system = system
        client = SimulatedClient(system, number: System.maxClients)
        random = SplitMix64(seed: system.schedule.seed ^ 0x7151)
        client.onAnswer = { [unowned self] in answered($0, $1) }
    }

    func start() {
        client.start()
        wait()
    }

    private func wait() {
        system.scheduler.after(1 + UInt64(random.next(below: 4_000))) { [unowned self] in
            if system.isCalm { return leave() }
            if edit == nil { ask() }
            wait()
        }
    }

    private func ask() {
        let (name, _) = system.schedule.list(random.next(below: system.schedule.lists))
        let asked: [Excerpt.Selection] = [.positions(start: random.next(below: 5), count: 3)]
        leave()
        client.perform { machine in
            guard let subscription = machine.enter(name),
                let excerpt = machine.ask(waits: true, { .excerpt(.init(request: $0, name: name, asked)) })
            else { return }
            asking = (subscription, excerpt, name)
        }
    }

    private func leave() {
        if let asking { client.perform { $0.leave(asking.subscription) } }
        asking = nil
    }

    /// The ephemeral subscription, the excerpt request, and the name of their list.
    private var asking: (subscription: RequestNumber, excerpt: RequestNumber, name: String)?

    private func answered(_ request: RequestNumber, _ answer: ClientMachine.Answer) {
        switch answer {
        case .excerpt(let excerpt):
            guard edit == nil, let asking, asking.excerpt == request else { return }
            // Other people keep editing in the meantime.
            system.scheduler.after(UInt64(random.next(below: 200))) { [unowned self] in
                edit(asking.name, asking.subscription, excerpt)
            }
        case .committed(let revision, _, _): committed(at: revision)
        case .rejected(.duplicateItem(let id)):
            system.report(.exactlyOnce, "item \(id) of an edit on an excerpt was inserted twice")
        case .rejected, .stale, .error, .disconnected: if edit?.request == request { edit = nil }
        case .done, .lists, .deletedLists, .history, .state, .people: break
        }
    }

    private func edit(_ name: String, _ subscription: RequestNumber, _ excerpt: Excerpt) {
        guard edit == nil else { return }
        let item = Item(id: ItemID(rawValue: random.next()), content: .task("added", done: false))
        let delta = Delta.inserting([item], at: random.next(below: excerpt.count + 1), .after)
        let isExact = random.next(below: 8) == 0
        system.promises.edit(client: client.number, list: excerpt.logID, inserted: item.things, deleted: [])
        // The item is promised only once the server has confirmed it: a client that loses its connection for good never
        // learns whether the item was committed.
        system.promises.rejected(UniqueWords.Put(item))
        client.perform { machine in
            guard let request = machine.submit(delta, on: PartialList(excerpt), isExact: isExact, subscription) else {
                return
            }
            edit = Edit(request: request, name: name, logID: excerpt.logID, item: item)
        }
    }

    private func committed(at revision: Int) {
        guard let edit = edit.take() else { return }
        system.reach.note(Reach.Client.editsOnExcerpts)
        system.trace("an edit on an excerpt of \(edit.name) was committed at \(revision)")
        guard let history = system.ledger.histories[edit.logID] else {
            return system.report(.durability, "an edit on an excerpt of \(edit.name) is in no history")
        }
        guard history.commits.indices.contains(revision - 1),
            history.commits[revision - 1].delta.insertedItems.map(\.id) == [edit.item.id]
        else { return system.report(.exactlyOnce, "revision \(revision) of \(edit.name) is not the edit's") }
        system.promises.edit(client: client.number, list: edit.logID, inserted: edit.item.things, deleted: [])
    }
}
