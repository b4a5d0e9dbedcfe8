import HandCore
import HandFormats

/// Items on their way to another list. The originals are deleted once the server has committed the copies: whatever is
/// refused, no item is lost.
package struct ItemTransfer: Equatable, Sendable {
    package internal(set) var source: String
    package internal(set) var target: String
    /// The items that leave the source; none if they are copied.
    package let originals: [ItemID]
    package let copies: [Item]
    /// The name of the items in a sentence.
    let what: String
    private(set) var phase = Phase.waiting

    /// waiting ─the target is there─▶ asked ─the copies are in it─▶ made ─the server has them─▶ (the originals go)
    ///                                  └─they are not──▶ failed
    package enum Phase: Equatable, Sendable {
        case waiting, asked, made
        case failed(String)
    }

    /// Notes whether the copies have been put into the target.
    fileprivate mutating func note(_ event: Event) {
        func isMine(_ list: String, _ delta: Delta) -> Bool {
            phase == .asked && list == target && delta.items.first?.id == copies.first?.id
        }
        switch event {
        case .done(.edit(let list, let delta)) where isMine(list, delta): phase = .made
        case .failed(.edit(let list, let delta), let reason) where isMine(list, delta): phase = .failed(reason)
        default: break
        }
    }

    /// Returns what to do next; nil to wait for the target list. `isOver` is true if that is the end.
    fileprivate mutating func next(_ app: AppState) -> (commands: [Command], isOver: Bool)? {
        let data = app.list(target)
        func refused(_ reason: String) -> (commands: [Command], isOver: Bool) {
            let stays = originals.isEmpty ? "not copied" : "still in '\(source)'"
            return (
                [.say("\(what) \(copies.count == 1 ? "is" : "are") \(stays), '\(target)' refused: \(reason)")], true
            )
        }
        if let refusal = data.refusal { return refused(refusal) }
        guard data.state.isLive else { return nil }
        switch phase {
        case .asked: return nil
        case .failed(let reason): return refused(reason)
        case .made: break
        case .waiting:
            phase = .asked
            let clipboard = AppState.Clipboard(copies.map(\.content))
            if let reason = ListScreen.refusalToPaste(clipboard, data.hand) { return refused(reason) }
            return ([.edit(list: target, .inserting(copies, at: data.hand.count, .before))], false)
        }
        guard let first = copies.first, !data.unsent.contains(first.id) else { return nil }
        if data.hand.index(of: first.id) == nil {
            if let loss = data.loss(ofNew: first.id), case .refused(let reason, _) = loss {
                // The originals are there: to get the copies back would make them twice.
                return ([.forget(list: target, loss)] + refused("\(reason)").commands, true)
            }
            return refused("what was copied was deleted there")
        }
        if originals.isEmpty { return ([.say("\(what) copied to '\(target)'")], true) }
        // What was changed since it was copied is only in the source.
        let (hand, copied) = (app.list(source).hand, zip(originals, copies))
        let contents = Dictionary(copied.map { ($0, $1.content) }) { first, _ in first }
        let present = hand.runs(of: originals)
        let runs = present.filter { hand[$0.lowerBound].content == contents[hand[$0.lowerBound].id] }
        let delete = runs.isEmpty ? [] : [Command.edit(list: source, hand.deleting(runs))]
        let stayed = present.count - runs.count
        let end =
            stayed == 0
            ? "undo in both lists takes it back"
            : "but \(Amount.count(stayed, "item")) changed meanwhile and stayed in '\(source)', too"
        return (delete + [.say("\(what) moved to '\(target)'; \(end)")], true)
    }
}

extension Hand {
    /// Where those of some items are that have not been deleted. O(n log items)
    func runs(of items: [ItemID]) -> [Range<Int>] { positions(of: items).map { $0..<$0 + 1 } }
}

extension AppState {
    /// Goes on with what is on its way to other lists.
    mutating func advanceTransfers(_ event: Event) -> [Command] {
        var commands: [Command] = []
        for index in transfers.indices { transfers[index].note(event) }
        for index in transfers.indices.reversed() {
            guard let next = transfers[index].next(self) else { continue }
            for case .forget(let list, let loss) in next.commands {
                withList(list) { $0.notices.removeAll { $0.loss == loss } }
            }
            commands += next.commands
            if next.isOver { transfers.remove(at: index) }
        }
        return commands
    }
}
