import HandCore
import HandSync
import HandWire

/// A client that edits lists concurrently with the tested client. The owner of the guest connects the guest's machine
/// to the server.
package final class AwkwardGuest {
    package let name: String
    package var machine: ClientMachine
    private var random: SplitMix64
    private var hasStarted = false

    init(_ name: String, seed: UInt64) {
        self.name = name
        random = SplitMix64(seed: seed)
        machine = ClientMachine(
            client: .random(using: &random), person: name, program: "guest", seed: random.next())
    }

    /// Whether an edit waits for the server's answer.
    package var isBusy: Bool { machine.subscriptions.values.contains { $0.isLive && $0.replica.hasPending } }

    func enter(_ list: String) {
        machine.open(list)
        guard !hasStarted else { return }
        hasStarted = true
        machine.start()
    }

    /// Edits the list for which `isMeant` returns true, given its name and its number.
    func edit(_ isMeant: (String, ListNumber) -> Bool) {
        let meant = machine.subscriptions.first { name, subscription in
            subscription.isLive && isMeant(name, subscription.list ?? 0)
        }
        guard let name = meant?.key, let view = meant?.value.replica.view else { return }
        let item = view.isEmpty ? nil : view[random.next(below: view.count)].id
        machine.setPresence(name, item.map { Focus($0, isEditing: random.next(below: 2) == 0) })
        // Ignore edits that the list does not accept.
        try? machine.edit(name, change(of: view))
    }

    /// Returns an insertion, a move or a tick, or a rewording or deletion of a guest's item. The items of others are
    /// neither reworded nor deleted, so that none of these items is missing at the end.
    private func change(of list: Hand) -> Delta {
        // Guests leave room for others.
        let isLong = list.count >= 30
        let sort = isLong ? 1 + random.next(below: 2) : random.next(below: list.count < 4 ? 1 : 6)
        let (index, gap) = (random.next(below: max(1, list.count)), random.next(below: list.count + 1))
        let side = random.next(below: 2) == 0 ? Side.after : .before
        switch sort {
        case 1: return Delta.moving(index..<index + 1, to: gap, side)
        case 2 where list[index].content.text.hasSuffix(Self.mark): return Delta.deleting(index..<index + 1)
        case 3 where list[index].content.text.hasSuffix(Self.mark):
            return Delta.editing(at: index, list[index].content.rewording(name + Self.mark))
        case 2 where isLong: return Delta.moving(index..<index + 1, to: gap, side)
        case 3: return Delta.editing(at: index, Change(done: true))
        default:
            let text = name + Self.mark
            let unknown = Content.unknown(Awkwardness.unknownKind, Array(text.utf8))
            let isUnknown = random.next(below: 6) == 0 && list.rules.violation(of: unknown) == nil
            let content = list.rules.hasDeck ? .card(.faceDown) : isUnknown ? unknown : .note(text)
            let item = Item(id: .random(using: &random), content: content)
            return Delta.inserting([item], at: gap, side)
        }
    }

    private static let mark = " was here"
}
