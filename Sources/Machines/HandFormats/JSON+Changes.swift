import HandCore

// What a delta does to each item, for programs that do not want to read deltas.

extension JSON {
    /// One object for each item that the delta touches: first those that are deleted, then the others from the top of the new
    /// list down: `{"change":"moved","item":"k3f9…","from":5,"to":1,"before":{…},"after":{…}}`.
    ///
    /// `change` is `added`, `deleted`, `moved` or `edited`; what is moved and edited is `moved`, and differs before and after.
    /// `from` and `to` are numbers as lists are printed with, from 1, in the list before and after; `before` and `after` are
    /// the item's content. What was not there before has neither `from` nor `before`; what is deleted, neither `to` nor
    /// `after`.
    ///
    /// - Precondition: `delta` takes `old` to `new`.
    package static func changes(_ delta: Delta, from old: Hand, to new: Hand) -> JSONValue {
        var (before, after) = (0, 0)
        var picked: [Int] = []
        for component in delta.components {
            if case .pick(let count) = component { picked += before..<before + count }
            before += component.oldCount
        }
        var (deleted, others): ([JSONValue], [JSONValue]) = ([], [])
        before = 0
        for component in delta.components {
            switch component {
            case .keep(let count): after += count
            case .pick: break
            case .delete(let count):
                for index in before..<before + count { deleted.append(change("deleted", (index, old), nil)) }
            case .edit:
                others.append(change("edited", (before, old), (after, new)))
                after += 1
            case .insert(let items, _):
                for index in after..<after + items.count { others.append(change("added", nil, (index, new))) }
                after += items.count
            case .drop(let slots, _, _):
                for slot in slots {
                    others.append(change("moved", (picked[slot], old), (after, new)))
                    after += 1
                }
            }
            before += component.oldCount
        }
        return .array(deleted + others)
    }

    private static func change(
        _ name: String, _ before: (index: Int, list: Hand)?, _ after: (index: Int, list: Hand)?
    ) -> JSONValue {
        var members: [JSONValue.Member] = [.init("change", .string(name))]
        if let item = (after ?? before).map({ $0.list[$0.index] }) { members.append(.init("item", id(item.id))) }
        if let before { members.append(.init("from", JSONValue(before.index + 1))) }
        if let after { members.append(.init("to", JSONValue(after.index + 1))) }
        if let before { members.append(.init("before", .object(self.members(of: before.list[before.index].content)))) }
        if let after { members.append(.init("after", .object(self.members(of: after.list[after.index].content)))) }
        return .object(members)
    }
}

extension Delta.Component {
    /// How many old items it walks over.
    fileprivate var oldCount: Int {
        switch self {
        case .keep(let count), .delete(let count), .pick(let count): count
        case .edit: 1
        case .insert, .drop: 0
        }
    }
}
